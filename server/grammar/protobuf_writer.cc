// The protobuf writer. Back to front: when the length of a message is due, its content is already
// there, so there is no size pass and no tree of objects in between.
#include <cstring>
#include <type_traits>

#include "grammar/locations.h"
#include "grammar/short_string.h"
#include "grammar/tree_writer.h"
#include "grammar/walk_guard.h"

// Last: its macros would break other headers.
#include "grammar/node_visitor.h"

namespace pgparsed::grammar {
namespace {

using nodes::kFields;
using nodes::kMessages;

enum WireType : uint32_t { kVarint = 0, kFixed64 = 1, kLengthDelimited = 2 };

// A field number and a type take at most 2 bytes, a number at most 10.
constexpr size_t kScalarRoom = 16;

constexpr uint32_t TagOf(uint32_t number, WireType type) { return number << 3 | type; }

class ProtobufWriter {
 public:
  ProtobufWriter(const text::PositionIndex& positions, std::span<char> region)
      : locations_(positions), bottom_(region.data()), top_(region.data() + region.size()) {}

  Result<WrittenTree> Write(const ::List* statements) {
    constexpr uint32_t kVersion = TagOf(1, kVarint);
    constexpr uint32_t kStatement = TagOf(2, kLengthDelimited);
    char* p = top_;
    for (int i = list_length(statements); i-- > 0;) {
      const uint64_t end = Position(p);
      const auto* statement = static_cast<const ::Node*>(list_nth(statements, i));
      p = IsA(statement, RawStmt) ? WriteMessage(*reinterpret_cast<const ::RawStmt*>(statement), p)
                                  : p;
      p = PutLength<kStatement>(Room(p, kScalarRoom), end);
    }
    p = PutNumber<kVersion>(Room(p, kScalarRoom), PG_VERSION_NUM);
    if (auto error = guard_.error()) return *std::move(error);
    return WrittenTree{Position(p)};
  }

 private:
  // The fields of one message: `p` lives in a register between the calls.
  struct Fields {
    ProtobufWriter& writer;
    char* p;

    template <size_t id, typename T>
    [[gnu::always_inline]] void Number(T value) {
      if (value == 0) return;
      p = writer.Room(p, kScalarRoom);
      if constexpr (std::is_same_v<T, double>) {
        p -= sizeof(value);
        std::memcpy(p, &value, sizeof(value));
        p = PutTag<TagOf(kFields[id].number, kFixed64)>(p);
      } else {
        // Negative numbers are sign-extended, as protobuf has it for int32 too.
        const auto wide = static_cast<uint64_t>(static_cast<int64_t>(value));
        p = PutNumber<TagOf(kFields[id].number, kVarint)>(p, wide);
      }
    }

    template <size_t id>
    [[gnu::always_inline]] void Location(int value) {
      Number<id>(writer.locations_.At(value));
    }

    template <size_t id>
    [[gnu::always_inline]] void Length(int value, int location) {
      Number<id>(writer.locations_.Length(value, location));
    }

    template <size_t id>
    [[gnu::always_inline]] void Bool(bool value) {
      if (value) Number<id>(1);
    }

    template <size_t id, typename T>
    [[gnu::always_inline]] void Enum(T value) {
      const EnumValue* found = nodes::EnumTable<id>::Find(static_cast<int32_t>(value));
      Number<id>(found != nullptr ? found->number : -1);
    }

    template <size_t id>
    [[gnu::always_inline]] void Text(const char* value) {
      if (value == nullptr || *value == '\0') return;
      PutBytes<id>(value, LengthOf(value));
    }

    template <size_t id>
    [[gnu::always_inline]] void Text(char value) {
      if (value != 0) PutBytes<id>(&value, 1);
    }

    template <size_t id>
    [[gnu::always_inline]] void Node(const void* node) {
      if (node != nullptr) PutNode<id>(static_cast<const ::Node*>(node));
    }

    template <size_t id>
    void List(const ::List* list) {
      for (int i = list_length(list); i-- > 0;) {
        PutNode<id>(static_cast<const ::Node*>(list->elements[i].ptr_value));
      }
    }

    template <size_t id, typename T>
    void Message(const T& value) {
      const uint64_t end = writer.Position(p);
      p = writer.Room(writer.WriteMessage(value, p), kScalarRoom);
      p = writer.PutLength<TagOf(kFields[id].number, kLengthDelimited)>(p, end);
    }

    template <size_t id, typename T>
    void Message(T* value) {
      if (value != nullptr) Message<id>(*value);
    }

    template <size_t id>
    void IntegerSet(const Bitmapset* set) {
      if (set == nullptr) return;
      // proto3 packs numbers: one length for all of them.
      const uint64_t end = writer.Position(p);
      for (int word = set->nwords; word-- > 0;) {
        for (int bit = BITS_PER_BITMAPWORD; bit-- > 0;) {
          if (!(set->words[word] >> bit & 1)) continue;
          p = PutVarint(
              writer.Room(p, kScalarRoom),
              static_cast<uint64_t>(word) * BITS_PER_BITMAPWORD + static_cast<uint64_t>(bit));
        }
      }
      if (writer.Position(p) == end) return;
      p = writer.PutLength<TagOf(kFields[id].number, kLengthDelimited)>(writer.Room(p, kScalarRoom),
                                                                        end);
    }

   private:
    template <size_t id>
    [[gnu::always_inline]] void PutNode(const ::Node* node) {
      const uint64_t end = writer.Position(p);
      if (node != nullptr) p = writer.WriteNode(node, p);
      p = writer.PutLength<TagOf(kFields[id].number, kLengthDelimited)>(writer.Room(p, kScalarRoom),
                                                                        end);
    }

    template <size_t id>
    [[gnu::always_inline]] void PutBytes(const char* data, size_t size) {
      p = writer.PutBytes(p, data, size);
      p = PutTag<TagOf(kFields[id].number, kLengthDelimited)>(PutVarint(p, size));
    }
  };

  // The alternative of pg_query.Node that a struct is.
  struct Alternative {
    ProtobufWriter& writer;
    char* p;

    template <typename T>
    char* operator()(const T& node) {
      constexpr uint32_t kTag =
          TagOf(kMessages[nodes::kMessageOf<T>].node_number, kLengthDelimited);
      const uint64_t end = writer.Position(p);
      p = writer.Room(writer.WriteMessage(node, p), kScalarRoom);
      return writer.PutLength<kTag>(p, end);
    }

    char* Other(const ::Node* node) {
      if (nodeTag(node) != T_List) {
        writer.guard_.Unknown(nodeTag(node));
        return p;
      }
      return writer.WriteList(reinterpret_cast<const ::List*>(node), p);
    }
  };

  template <typename T>
  char* WriteMessage(const T& node, char* p) {
    Fields fields{*this, p};
    nodes::VisitBackward(fields, node);
    return fields.p;
  }

  char* WriteNode(const ::Node* node, char* p) {
    if (guard_.TooDeep()) return p;
    return nodes::Dispatch(node, Alternative{*this, p});
  }

  // A list that stands where a node is asked for: pg_query.List.
  char* WriteList(const ::List* list, char* p) {
    constexpr uint32_t kItems = TagOf(1, kLengthDelimited);
    constexpr uint32_t kList = TagOf(nodes::kListNodeNumber, kLengthDelimited);
    const uint64_t list_end = Position(p);
    for (int i = list_length(list); i-- > 0;) {
      const uint64_t end = Position(p);
      const auto* node = static_cast<const ::Node*>(list->elements[i].ptr_value);
      if (node != nullptr) p = WriteNode(node, p);
      p = PutLength<kItems>(Room(p, kScalarRoom), end);
    }
    return PutLength<kList>(Room(p, kScalarRoom), list_end);
  }

  // Bytes written behind `p`.
  uint64_t Position(const char* p) const { return spilled_ + static_cast<uint64_t>(top_ - p); }

  // `p`, with room for `bytes` before it. Without room the walk goes on only to count.
  char* Room(char* p, size_t bytes) {
    return static_cast<size_t>(p - bottom_) >= bytes ? p : Spill(p);
  }

  [[gnu::noinline, gnu::cold]] char* Spill(const char* p) {
    spilled_ = Position(p);
    return top_;
  }

  [[gnu::always_inline]] char* PutBytes(char* p, const char* data, size_t size) {
    p = Room(p, size + kScalarRoom);
    if (static_cast<size_t>(p - bottom_) < size + kScalarRoom) {
      spilled_ += size;
      return p;
    }
    p -= size;
    CopyShort(p, data, size);
    return p;
  }

  [[gnu::always_inline]] static char* PutVarint(char* p, uint64_t value) {
    if (value < 0x80) [[likely]] {
      *--p = static_cast<char>(value);
      return p;
    }
    if (value < 0x4000) [[likely]] {
      p -= 2;
      p[0] = static_cast<char>(value | 0x80);
      p[1] = static_cast<char>(value >> 7);
      return p;
    }
    return PutLongVarint(p, value);
  }

  [[gnu::noinline]] static char* PutLongVarint(char* p, uint64_t value) {
    const int bits = 64 - __builtin_clzll(value);
    p -= (bits + 6) / 7;
    char* to = p;
    for (; value >= 0x80; value >>= 7) *to++ = static_cast<char>(value | 0x80);
    *to = static_cast<char>(value);
    return p;
  }

  template <uint32_t tag>
  [[gnu::always_inline]] static char* PutTag(char* p) {
    static_assert(tag < 1u << 14);
    if constexpr (tag < 0x80) {
      *--p = static_cast<char>(tag);
    } else {
      p -= 2;
      p[0] = static_cast<char>((tag & 0x7F) | 0x80);
      p[1] = static_cast<char>(tag >> 7);
    }
    return p;
  }

  template <uint32_t tag>
  [[gnu::always_inline]] static char* PutNumber(char* p, uint64_t value) {
    return PutTag<tag>(PutVarint(p, value));
  }

  // The length of what was written since Position was `end`, and its tag.
  template <uint32_t tag>
  [[gnu::always_inline]] char* PutLength(char* p, uint64_t end) const {
    return PutNumber<tag>(p, Position(p) - end);
  }

  const Locations locations_;
  char* const bottom_;
  char* const top_;
  uint64_t spilled_ = 0;
  WalkGuard guard_;
};

}  // namespace

Result<WrittenTree> WriteProtobuf(const void* statements, const text::PositionIndex& positions,
                                  std::span<char> region) {
  if (region.size() < 2 * kScalarRoom) {
    return MakeGrammarError(Reason::kResultTooLarge, "there is no room for a tree");
  }
  return ProtobufWriter(positions, region).Write(static_cast<const ::List*>(statements));
}

}  // namespace pgparsed::grammar
