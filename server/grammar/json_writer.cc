// The JSON writer: the text that libpg_query prints, without its StringInfo, printf and names that
// are looked up again for each node.
#include <charconv>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "grammar/locations.h"
#include "grammar/short_string.h"
#include "grammar/sink_window.h"
#include "grammar/tree_writer.h"
#include "grammar/walk_guard.h"

// Last: its macros would break other headers.
#include "grammar/node_visitor.h"

namespace pgparsed::grammar {
namespace {

using nodes::kFields;
using nodes::kMessages;

// A key, a number or a short name, and what stands around it. kLeastWindow is more.
constexpr size_t kScalarRoom = 192;

// What a byte becomes in a string: itself (0), \u00XX ('u'), or a backslash and this.
constexpr auto kEscapes = [] {
  std::array<char, 256> escapes{};
  for (size_t i = 1; i < 0x20; ++i) escapes[i] = 'u';
  escapes['\b'] = 'b';
  escapes['\f'] = 'f';
  escapes['\n'] = 'n';
  escapes['\r'] = 'r';
  escapes['\t'] = 't';
  escapes['"'] = '"';
  escapes['\\'] = '\\';
  // Not necessary, but libpg_query does so.
  escapes['<'] = 'u';
  escapes['>'] = 'u';
  return escapes;
}();

// libpg_query prints empty strings up to 17, and from 18 on those of constants only.
template <size_t id>
constexpr bool kPrintsEmpty =
    PGPARSED_GRAMMAR < 18 ||
    kFields[id].name() == "sval" || kFields[id].name() == "fval" || kFields[id].name() == "bsval";

class JsonWriter {
 public:
  JsonWriter(const text::PositionIndex& positions, ByteSink& sink)
      : locations_(positions), window_(sink) {}

  Result<WrittenTree> Write(const ::List* statements) {
    char* p = window_.Begin();
    p = Put(p, "{\"version\":");
    p = PutInteger(p, PG_VERSION_NUM);
    p = Put(p, ",\"stmts\":[");
    const int count = list_length(statements);
    for (int i = 0; i < count; ++i) {
      const auto* statement = static_cast<const ::Node*>(list_nth(statements, i));
      p = window_.Room(p, kScalarRoom);
      if (i > 0) *p++ = ',';
      *p++ = '{';
      if (IsA(statement, RawStmt)) {
        p = WriteMessage(*reinterpret_cast<const ::RawStmt*>(statement), p);
      }
      p = Close(p);
    }
    p = Put(window_.Room(p, kScalarRoom), "]}");
    window_.End(p);
    if (auto error = guard_.error()) return *std::move(error);
    return WrittenTree{window_.total()};
  }

 private:
  // The fields of one message: `p` lives in a register between the calls. Each field ends in a
  // comma, which Close() takes back from the last.
  struct Fields {
    JsonWriter& writer;
    char* p;

    template <size_t id, typename T>
    [[gnu::always_inline]] void Number(T value) {
      if (value == 0) return;
      Key<id>();
      if constexpr (std::is_same_v<T, double>) {
        p += std::snprintf(p, kScalarRoom / 2, "%f", value);
      } else {
        p = PutInteger(p, value);
      }
      *p++ = ',';
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
      if (!value) return;
      Key<id>();
      p = Put(p, "true,");
    }

    template <size_t id, typename T>
    [[gnu::always_inline]] void Enum(T value) {
      const EnumValue* found = nodes::EnumTable<id>::Find(static_cast<int32_t>(value));
      Key<id>();
      *p++ = '"';
      const std::string_view name = found != nullptr ? found->name : "(null)";
      std::memcpy(p, name.data(), name.size());
      p = Put(p + name.size(), "\",");
    }

    template <size_t id>
    [[gnu::always_inline]] void Text(const char* value) {
      if (value == nullptr || (!kPrintsEmpty<id> && *value == '\0')) return;
      Key<id>();
      p = writer.PutString(p, value);
      *p++ = ',';
    }

    template <size_t id>
    [[gnu::always_inline]] void Text(char value) {
      if (value == 0) return;
      Key<id>();
      const char text[16] = {value};  // as much as PutString may look at
      p = writer.PutString(p, text);
      *p++ = ',';
    }

    template <size_t id>
    [[gnu::always_inline]] void Node(const void* node) {
      if (node == nullptr) return;
      Key<id>();
      p = writer.WriteNode(static_cast<const ::Node*>(node), p);
      *p++ = ',';
    }

    template <size_t id>
    void List(const ::List* list) {
      if (list == nullptr) return;
      Key<id>();
      p = writer.WriteElements(list, p);
      *p++ = ',';
    }

    template <size_t id, typename T>
    void Message(const T& value) {
      Key<id>();
      *p++ = '{';
      p = writer.Close(writer.WriteMessage(value, p));
      *p++ = ',';
    }

    template <size_t id, typename T>
    void Message(T* value) {
      if (value != nullptr) Message<id>(*value);
    }

    template <size_t id>
    void IntegerSet(const Bitmapset* set) {
      if (set == nullptr) return;
      Key<id>();
      *p++ = '[';
      for (int word = 0; word < set->nwords; ++word) {
        for (int bit = 0; bit < BITS_PER_BITMAPWORD; ++bit) {
          if (!(set->words[word] >> bit & 1)) continue;
          p = PutInteger(writer.window_.Room(p, kScalarRoom), word * BITS_PER_BITMAPWORD + bit);
          *p++ = ',';
        }
      }
      if (p[-1] == ',') --p;
      p = Put(p, "],");
    }

   private:
    template <size_t id>
    [[gnu::always_inline]] void Key() {
      constexpr std::string_view kKey = kFields[id].key;
      static_assert(kKey.size() < kScalarRoom / 2);
      p = writer.window_.Room(p, kScalarRoom);
      std::memcpy(p, kKey.data(), kKey.size());
      p += kKey.size();
    }
  };

  // A node with its tag around it.
  struct Tagged {
    JsonWriter& writer;
    char* p;

    template <typename T>
    char* operator()(const T& node) {
      constexpr size_t kSize = kMessages[nodes::kMessageOf<T>].name.size();
      p = writer.window_.Room(p, kScalarRoom);
      p = Put(p, "{\"");
      std::memcpy(p, kMessages[nodes::kMessageOf<T>].name.data(), kSize);
      p = Put(p + kSize, "\":{");
      p = writer.Close(writer.WriteMessage(node, p));
      *p++ = '}';
      return p;
    }

    // A Boolean that stands alone has its value printed even if it is false; in an A_Const not.
    char* operator()(const ::Boolean& node) {
      p = writer.window_.Room(p, kScalarRoom);
      return node.boolval ? Put(p, "{\"Boolean\":{\"boolval\":true}}")
                          : Put(p, "{\"Boolean\":{\"boolval\":false}}");
    }

    char* Other(const ::Node* node) {
      if (nodeTag(node) != T_List) {
        writer.guard_.Unknown(nodeTag(node));
        return p;
      }
      p = Put(writer.window_.Room(p, kScalarRoom), "{\"List\":{\"items\":");
      p = writer.WriteElements(reinterpret_cast<const ::List*>(node), p);
      return Put(p, "}}");
    }
  };

  template <typename T>
  char* WriteMessage(const T& node, char* p) {
    Fields fields{*this, p};
    nodes::VisitForward(fields, node);
    return fields.p;
  }

#if PGPARSED_GRAMMAR == 15
  // libpg_query 15 leaves out negative values: a fault that JSON of this grammar shares.
  char* WriteMessage(const ::Integer& node, char* p) {
    Fields fields{*this, p};
    if (node.ival > 0) nodes::VisitForward(fields, node);
    return fields.p;
  }
#endif

  char* WriteNode(const ::Node* node, char* p) {
    if (guard_.TooDeep()) return window_.Room(p, kScalarRoom);
    return nodes::Dispatch(node, Tagged{*this, p});
  }

  // A list's elements in brackets.
  char* WriteElements(const ::List* list, char* p) {
    *p++ = '[';
    const int count = list_length(list);
    for (int i = 0; i < count; ++i) {
      if (i > 0) *p++ = ',';
      const auto* node = static_cast<const ::Node*>(list->elements[i].ptr_value);
      p = node != nullptr ? WriteNode(node, p) : Put(window_.Room(p, kScalarRoom), "{}");
    }
    *p++ = ']';
    return p;
  }

  // The closing brace of an object in place of its last comma. Leaves room for a few bytes, as
  // everything does that ends a value.
  [[gnu::always_inline]] char* Close(char* p) {
    p = window_.Room(p, kScalarRoom);
    if (p[-1] == ',') --p;
    *p++ = '}';
    return p;
  }

  template <size_t size>
  static char* Put(char* p, const char (&text)[size]) {
    std::memcpy(p, text, size - 1);
    return p + size - 1;
  }

  template <typename T>
  static char* PutInteger(char* p, T value) {
    return std::to_chars(p, p + 24, value).ptr;
  }

  // There is room for a short string.
  [[gnu::always_inline]] char* PutString(char* p, const char* text) {
    *p++ = '"';
    if (const int length = CopyPlain(p, text); length >= 0) [[likely]] {
      p += length;
      *p++ = '"';
      return p;
    }
    return PutLongString(p, text);
  }

  [[gnu::noinline]] char* PutLongString(char* p, const char* text) {
    size_t size = std::strlen(text);
    // In parts, so that any string goes through any window.
    constexpr size_t kPart = 512;
    static_assert(kPart * 6 + kScalarRoom < ByteSink::kLeastWindow);
    do {
      const size_t part = size < kPart ? size : kPart;
      p = PutEscaped(window_.Room(p, part * 6 + kScalarRoom), text, part);
      text += part;
      size -= part;
    } while (size > 0);
    *p++ = '"';
    return p;
  }

  static char* PutEscaped(char* p, const char* text, size_t size) {
    for (const char* end = text + size; text != end; ++text) {
      const auto byte = static_cast<unsigned char>(*text);
      const char escape = kEscapes[byte];
      if (escape == 0) [[likely]] {
        *p++ = *text;
      } else if (escape == 'u') {
        constexpr char kDigits[] = "0123456789abcdef";
        p = Put(p, "\\u00");
        *p++ = kDigits[byte >> 4];
        *p++ = kDigits[byte & 15];
      } else {
        *p++ = '\\';
        *p++ = escape;
      }
    }
    return p;
  }

  const Locations locations_;
  SinkWindow window_;
  WalkGuard guard_;
};

}  // namespace

Result<WrittenTree> WriteJson(const void* statements, const text::PositionIndex& positions,
                              ByteSink& sink) {
  return JsonWriter(positions, sink).Write(static_cast<const ::List*>(statements));
}

}  // namespace pgparsed::grammar
