// The columnar writer: one walk gathers rows, then they go out column by column.
// docs/columnar-tree.md has the layout.
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "grammar/locations.h"
#include "grammar/row_blocks.h"
#include "grammar/short_string.h"
#include "grammar/sink_window.h"
#include "grammar/tree_writer.h"
#include "grammar/walk_guard.h"

// Last: its macros would break other headers.
#include "grammar/node_visitor.h"

namespace pgparsed::grammar {
namespace {

using nodes::kEnums;
using nodes::kFields;
using nodes::kMessages;

constexpr uint32_t kLayoutVersion = 1;
constexpr uint32_t kNoParent = 0xFFFFFFFF;
constexpr uint16_t kNoField = 0xFFFF;
constexpr int32_t kNoLocation = -1;
// A name of a field as an element of field_names.
constexpr size_t kNameRoom = 128;
static_assert(std::all_of(std::begin(kFields), std::end(kFields),
                          [](const FieldRow& field) { return field.key.size() < kNameRoom; }));

// Kinds that are no messages with a struct: their indices follow those of kMessages.
constexpr size_t kListKind = std::size(kMessages);
constexpr size_t kNullKind = kListKind + 1;
constexpr size_t kKinds = kNullKind + 1;

enum AttributeType : uint8_t {
  kInt = 1,
  kUint = 2,
  kBool = 3,
  kString = 4,
  kEnum = 5,
  kDouble = 6
};

enum FieldShape : uint8_t {
  kScalarField = 1,
  kNodeField,
  kListField,
  kMessageField,
  kSetField = 6
};

struct NodeRow {
  uint32_t parent;
  uint32_t subtree;
  int32_t location;
  uint16_t kind;
  uint16_t parent_field;
};

struct AttributeRow {
  uint64_t value;
  uint32_t node;
  uint16_t field;
  uint8_t type;
};

constexpr FieldShape ShapeOf(const FieldRow& field) {
  switch (field.shape) {
    case Shape::kScalar:
      return kScalarField;
    case Shape::kNode:
      return kNodeField;
    case Shape::kList:
      return kListField;
    case Shape::kMessage:
      return kMessageField;
    case Shape::kIntegerSet:
      return kSetField;
  }
  return kScalarField;
}

// Where each enum's values begin among all values of all enums; the last is their number.
constexpr auto kEnumBegin = [] {
  std::array<uint16_t, std::size(kEnums) + 1> begin{};
  for (size_t i = 0; i < std::size(kEnums); ++i) {
    begin[i + 1] = static_cast<uint16_t>(begin[i] + kEnums[i].values.size());
  }
  return begin;
}();

// The names of a tree's kinds and fields, numbered in the order of their appearance.
class KindTable {
 public:
  // Index of a kind in the tree, and of its first field.
  struct Entry {
    uint16_t kind;
    uint16_t first_field;
  };

  // `kind` is an index into kMessages, kListKind or kNullKind.
  Entry Get(size_t kind) {
    const Entry entry = entries_[kind];
    return entry.kind != 0 ? Entry{static_cast<uint16_t>(entry.kind - 1), entry.first_field}
                           : Add(kind);
  }

  std::span<const uint16_t> kinds() const { return {kinds_.data(), size_}; }
  static std::string_view NameOf(size_t kind) {
    if (kind == kListKind) return "List";
    return kind == kNullKind ? std::string_view() : kMessages[kind].name;
  }
  static std::span<const FieldRow> FieldRowsOf(size_t kind) {
    if (kind == kListKind) return {&kListItems, 1};
    return kind == kNullKind ? std::span<const FieldRow>() : FieldsOf(kMessages[kind]);
  }

 private:
  static constexpr FieldRow kListItems = {.key = "\"items\":", .shape = Shape::kList};

  [[gnu::noinline]] Entry Add(size_t kind) {
    const Entry added{size_, next_field_};
    entries_[kind] = {static_cast<uint16_t>(added.kind + 1), added.first_field};
    next_field_ = static_cast<uint16_t>(next_field_ + FieldRowsOf(kind).size());
    kinds_[size_++] = static_cast<uint16_t>(kind);
    return added;
  }

  std::array<Entry, kKinds> entries_{};  // kind is the index and one more; 0: not seen yet
  std::array<uint16_t, kKinds> kinds_;
  uint16_t size_ = 0;
  uint16_t next_field_ = 0;
};

class ColumnarWriter {
 public:
  explicit ColumnarWriter(const text::PositionIndex& positions) : locations_(positions) {}

  void Gather(const ::List* statements) {
    const int count = list_length(statements);
    for (int i = 0; i < count; ++i) {
      const auto* statement = static_cast<const ::Node*>(list_nth(statements, i));
      if (!IsA(statement, RawStmt)) continue;
      AddStruct(*reinterpret_cast<const ::RawStmt*>(statement), kNoParent, kNoField);
    }
  }

  std::optional<GrammarError> error() const { return guard_.error(); }

  // Writes the message; the rows are gone afterwards.
  uint64_t WriteTo(ByteSink& sink) {
    SinkWindow window(sink);
    char* p = window.Begin();
    p = PutNumber(window, p, 1, kLayoutVersion);
    p = PutNumber(window, p, 2, nodes_.size());
    p = PutColumn(window, p, 3, nodes_, &NodeRow::kind);
    p = PutColumn(window, p, 4, nodes_, &NodeRow::parent);
    p = PutColumn(window, p, 5, nodes_, &NodeRow::parent_field);
    p = PutColumn(window, p, 6, nodes_, &NodeRow::subtree);
    p = PutColumn(window, p, 7, nodes_, &NodeRow::location);
    nodes_.Clear();
    p = PutNumber(window, p, 8, attributes_.size());
    p = PutColumn(window, p, 9, attributes_, &AttributeRow::node);
    p = PutColumn(window, p, 10, attributes_, &AttributeRow::field);
    p = PutColumn(window, p, 11, attributes_, &AttributeRow::type);
    p = PutColumn(window, p, 12, attributes_, &AttributeRow::value);
    attributes_.Clear();
    p = PutNumber(window, p, 13, strings_.size());
    p = PutStrings(window, p);
    p = PutNames(window, p);
    p = PutNumber(window, p, 20, PG_VERSION_NUM);
    window.End(p);
    return window.total();
  }

 private:
  // Attributes of a node stand together, before its children's: each struct is visited twice.
  struct Scalars {
    ColumnarWriter& writer;
    uint32_t node;
    uint16_t first_field;
    int32_t location = kNoLocation;

    template <size_t id, typename T>
    [[gnu::always_inline]] void Number(T value) {
      if (value == 0) return;
      uint64_t bits = 0;
      if constexpr (std::is_same_v<T, double>) {
        std::memcpy(&bits, &value, sizeof(bits));
        Add<id>(kDouble, bits);
      } else {
        bits = static_cast<uint64_t>(static_cast<int64_t>(value));
        Add<id>(std::is_signed_v<T> ? kInt : kUint, bits);
      }
    }

    template <size_t id>
    [[gnu::always_inline]] void Location(int value) {
      constexpr bool kOwnColumn = kFields[id].name() == "location";
      const int translated = writer.locations_.At(value);
      if constexpr (kOwnColumn || kFields[id].name() == "stmt_location") location = translated;
      // In the column -1 stands for no location at all: the attribute tells the two apart.
      if (!kOwnColumn || value == kNoLocation) Number<id>(translated);
    }

    template <size_t id>
    [[gnu::always_inline]] void Length(int value, int at) {
      Number<id>(writer.locations_.Length(value, at));
    }

    template <size_t id>
    [[gnu::always_inline]] void Bool(bool value) {
      if (value) Add<id>(kBool, 1);
    }

    template <size_t id, typename T>
    [[gnu::always_inline]] void Enum(T value) {
      const EnumValue* found = nodes::EnumTable<id>::Find(static_cast<int32_t>(value));
      if (found == nullptr) return;
      const EnumRow& row = kEnums[kFields[id].reference];
      const size_t index =
          kEnumBegin[kFields[id].reference] + static_cast<size_t>(found - row.values.data());
      Add<id>(kEnum, writer.EnumName(index, found->name));
    }

    template <size_t id>
    [[gnu::always_inline]] void Text(const char* value) {
      if (value != nullptr) Add<id>(kString, writer.AddString({value, LengthOf(value)}));
    }

    template <size_t id>
    [[gnu::always_inline]] void Text(char value) {
      if (value != 0) Add<id>(kString, writer.AddString({&value, 1}));
    }

    template <size_t id>
    [[gnu::always_inline]] void IntegerSet(const Bitmapset* set) {
      for (int member = -1; (member = bms_next_member(set, member)) >= 0;) {
        Add<id>(kUint, static_cast<uint64_t>(member));
      }
    }

    template <size_t id>
    [[gnu::always_inline]] void Node(const void*) {}
    template <size_t id>
    [[gnu::always_inline]] void List(const ::List*) {}
    template <size_t id, typename T>
    [[gnu::always_inline]] void Message(const T&) {}

   private:
    template <size_t id>
    [[gnu::always_inline]] void Add(AttributeType type, uint64_t value) {
      writer.attributes_.Add({.value = value,
                              .node = node,
                              .field = static_cast<uint16_t>(first_field + Ordinal(id)),
                              .type = type});
    }
  };

  struct Children {
    ColumnarWriter& writer;
    uint32_t node;
    uint16_t first_field;

    template <size_t id>
    [[gnu::always_inline]] void Node(const void* child) {
      if (child != nullptr) writer.AddNode(static_cast<const ::Node*>(child), node, Field<id>());
    }

    template <size_t id>
    [[gnu::always_inline]] void List(const ::List* list) {
      if (list != nullptr) writer.AddElements(list, node, Field<id>());
    }

    template <size_t id, typename T>
    [[gnu::always_inline]] void Message(const T& value) {
      writer.AddStruct(value, node, Field<id>());
    }

    template <size_t id, typename T>
    [[gnu::always_inline]] void Message(T* value) {
      if (value != nullptr) writer.AddStruct(*value, node, Field<id>());
    }

    template <size_t id, typename T>
    [[gnu::always_inline]] void Number(T) {}
    template <size_t id>
    [[gnu::always_inline]] void Location(int) {}
    template <size_t id>
    [[gnu::always_inline]] void Length(int, int) {}
    template <size_t id>
    [[gnu::always_inline]] void Bool(bool) {}
    template <size_t id, typename T>
    [[gnu::always_inline]] void Enum(T) {}
    template <size_t id, typename T>
    [[gnu::always_inline]] void Text(T) {}
    template <size_t id>
    [[gnu::always_inline]] void IntegerSet(const Bitmapset*) {}

   private:
    template <size_t id>
    uint16_t Field() const {
      return static_cast<uint16_t>(first_field + Ordinal(id));
    }
  };

  struct Add {
    ColumnarWriter& writer;
    uint32_t parent;
    uint16_t parent_field;

    template <typename T>
    void operator()(const T& node) {
      writer.AddStruct(node, parent, parent_field);
    }

    void Other(const ::Node* node) {
      if (nodeTag(node) != T_List) return writer.guard_.Unknown(nodeTag(node));
      const auto entry = writer.kinds_.Get(kListKind);
      const uint32_t index = static_cast<uint32_t>(writer.nodes_.size());
      NodeRow& row = writer.nodes_.Add({parent, 1, kNoLocation, entry.kind, parent_field});
      writer.AddElements(reinterpret_cast<const ::List*>(node), index, entry.first_field);
      row.subtree = static_cast<uint32_t>(writer.nodes_.size()) - index;
    }
  };

  // The place of a field within its message. A constant, wherever it is asked for.
  static consteval uint16_t Ordinal(size_t id) {
    for (const MessageRow& message : kMessages) {
      if (id >= message.first_field && id < message.first_field + size_t{message.field_count}) {
        return static_cast<uint16_t>(id - message.first_field);
      }
    }
    return kNoField;
  }

  template <typename T>
  void AddStruct(const T& node, uint32_t parent, uint16_t parent_field) {
    const auto entry = kinds_.Get(nodes::kMessageOf<T>);
    const auto index = static_cast<uint32_t>(nodes_.size());
    NodeRow& row = nodes_.Add({parent, 1, kNoLocation, entry.kind, parent_field});
    Scalars scalars{*this, index, entry.first_field};
    nodes::VisitForward(scalars, node);
    row.location = scalars.location;
    Children children{*this, index, entry.first_field};
    nodes::VisitForward(children, node);
    row.subtree = static_cast<uint32_t>(nodes_.size()) - index;
  }

  void AddNode(const ::Node* node, uint32_t parent, uint16_t parent_field) {
    if (guard_.TooDeep()) return;
    nodes::Dispatch(node, Add{*this, parent, parent_field});
  }

  void AddElements(const ::List* list, uint32_t parent, uint16_t field) {
    const int count = list_length(list);
    for (int i = 0; i < count; ++i) {
      const auto* element = static_cast<const ::Node*>(list->elements[i].ptr_value);
      if (element != nullptr) {
        AddNode(element, parent, field);
      } else {
        nodes_.Add({parent, 1, kNoLocation, kinds_.Get(kNullKind).kind, field});
      }
    }
  }

  [[gnu::always_inline]] uint32_t AddString(std::string_view text) {
    strings_.Add(text);
    return static_cast<uint32_t>(strings_.size() - 1);
  }

  // The string of an enum value, the same for all nodes.
  uint32_t EnumName(size_t index, std::string_view name) {
    uint32_t& string = enum_strings_[index];
    if (string == 0) string = AddString(name) + 1;
    return string - 1;
  }

  // ---- the message ----

  static char* PutVarint(char* p, uint64_t value) {
    for (; value >= 0x80; value >>= 7) *p++ = static_cast<char>(value | 0x80);
    *p++ = static_cast<char>(value);
    return p;
  }

  static char* PutTag(SinkWindow& window, char* p, uint32_t field, uint32_t wire_type) {
    return PutVarint(window.Room(p, 32), field << 3 | wire_type);
  }

  static char* PutNumber(SinkWindow& window, char* p, uint32_t field, uint64_t value) {
    return value != 0 ? PutVarint(PutTag(window, p, field, 0), value) : p;
  }

  static char* PutBytesHeader(SinkWindow& window, char* p, uint32_t field, uint64_t size) {
    return PutVarint(PutTag(window, p, field, 2), size);
  }

  static char* PutBytes(SinkWindow& window, char* p, uint32_t field, std::string_view bytes) {
    return window.Put(PutBytesHeader(window, p, field, bytes.size()), bytes);
  }

  template <typename Row, typename Value>
  static char* PutColumn(SinkWindow& window, char* p, uint32_t field, const RowBlocks<Row>& rows,
                         Value Row::*member) {
    if (rows.size() == 0) return p;
    p = PutBytesHeader(window, p, field, rows.size() * sizeof(Value));
    rows.ForEachBlock([&](std::span<const Row> block) {
      while (!block.empty()) {
        // As many as a window of any size takes.
        const auto part = block.first(std::min<size_t>(block.size(), 256));
        p = window.Room(p, part.size() * sizeof(Value));
        for (size_t i = 0; i < part.size(); ++i) {
          const Value value = part[i].*member;
          std::memcpy(p + i * sizeof(Value), &value, sizeof(value));
        }
        p += part.size() * sizeof(Value);
        block = block.subspan(part.size());
      }
    });
    return p;
  }

  char* PutStrings(SinkWindow& window, char* p) {
    if (strings_.size() == 0) return p;
    p = PutBytesHeader(window, p, 14, (strings_.size() + 1) * sizeof(uint32_t));
    const uint32_t begin = 0;
    p = window.Put(p, {reinterpret_cast<const char*>(&begin), sizeof(begin)});
    strings_.ends().ForEachBlock([&](std::span<const uint32_t> ends) {
      p = window.Put(p, {reinterpret_cast<const char*>(ends.data()), ends.size_bytes()});
    });
    if (strings_.bytes() == 0) return p;
    p = PutBytesHeader(window, p, 15, strings_.bytes());
    strings_.ForEachBlock([&](std::string_view block) { p = window.Put(p, block); });
    return p;
  }

  char* PutNames(SinkWindow& window, char* p) const {
    const std::span<const uint16_t> kinds = kinds_.kinds();
    std::array<uint16_t, kKinds + 1> first_fields;
    std::array<char, std::size(kFields) + 1> shapes;  // List has a field that is in no table
    size_t fields = 0;
    for (const size_t kind : kinds) p = PutBytes(window, p, 16, KindTable::NameOf(kind));
    for (size_t i = 0; i < kinds.size(); ++i) {
      first_fields[i] = static_cast<uint16_t>(fields);
      for (const FieldRow& field : KindTable::FieldRowsOf(kinds[i])) {
        p = PutName(window.Room(p, kNameRoom), field.name());
        shapes[fields++] = static_cast<char>(ShapeOf(field));
      }
    }
    first_fields[kinds.size()] = static_cast<uint16_t>(fields);
    p = PutBytes(window, p, 18,
                 {reinterpret_cast<const char*>(first_fields.data()),
                  (kinds.size() + 1) * sizeof(uint16_t)});
    return fields > 0 ? PutBytes(window, p, 19, {shapes.data(), fields}) : p;
  }

  // An element of field_names. There are some hundred in any tree.
  static char* PutName(char* p, std::string_view name) {
    constexpr uint32_t kTag = 17u << 3 | 2;
    p[0] = static_cast<char>((kTag & 0x7F) | 0x80);
    p[1] = static_cast<char>(kTag >> 7);
    p[2] = static_cast<char>(name.size());
    CopyShort(p + 3, name.data(), name.size());
    return p + 3 + name.size();
  }

  const Locations locations_;
  WalkGuard guard_;
  KindTable kinds_;
  RowBlocks<NodeRow> nodes_;
  RowBlocks<AttributeRow> attributes_;
  StringBlocks strings_;
  std::array<uint32_t, kEnumBegin.back()> enum_strings_{};  // index and one more; 0: not yet there
};

}  // namespace

Result<WrittenTree> WriteColumnar(const void* statements, const text::PositionIndex& positions,
                                  ByteSink& sink) {
  ColumnarWriter writer(positions);
  writer.Gather(static_cast<const ::List*>(statements));
  if (auto error = writer.error()) return *std::move(error);
  return WrittenTree{writer.WriteTo(sink)};
}

}  // namespace pgparsed::grammar
