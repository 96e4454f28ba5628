// The reader of protobuf trees.
#include <cstring>

#include "grammar/tree_builder.h"
#include "grammar/tree_fault.h"
#include "grammar/tree_reader.h"

// Last: its macros would break other headers.
#include "grammar/guarded.h"
#include "grammar/node_visitor.h"
#include "grammar/tree_rules.h"

namespace pgparsed::grammar {
namespace {

enum WireType : uint32_t { kVarint = 0, kFixed64 = 1, kLengthDelimited = 2 };

constexpr uint32_t kVersionField = 1;
constexpr uint32_t kStatementsField = 2;
constexpr uint32_t kItemsField = 1;

// The bytes of one message that are still to be read.
struct Bytes {
  const char* p = nullptr;
  const char* end = nullptr;

  bool empty() const { return p == end; }
};

class ProtobufReader {
 public:
  explicit ProtobufReader(TreeFault& fault) : builder_(fault) {}

  // The version of another grammar, if the tree has it; else 0.
  uint64_t other_version() const { return other_version_; }

  bool Read(Bytes bytes, ::List** statements) {
    while (!bytes.empty()) {
      uint32_t number = 0, type = 0;
      if (!ReadTag(bytes, number, type)) return false;
      if (number == kVersionField && type == kVarint) {
        uint64_t version = 0;
        if (!ReadVarint(bytes, version)) return false;
        if (IsOtherGrammar(version)) {
          other_version_ = version;
          return builder_.Fail("another grammar");
        }
      } else if (number == kStatementsField && type == kLengthDelimited) {
        Bytes statement;
        const auto& row = nodes::kMessages[nodes::kMessageOf<::RawStmt>];
        char* base = builder_.New(row);
        if (!ReadBytes(bytes, statement) || !ReadMessage(row, statement, base)) {
          builder_.fault().path.AddIndex(list_length(*statements));
          builder_.fault().path.AddName("stmts");
          return false;
        }
        *statements = lappend(*statements, base);
      } else {
        return builder_.Fail("these bytes are no serialized pg_query.ParseResult");
      }
    }
    return true;
  }

 private:
  bool ReadMessage(const MessageRow& row, Bytes bytes, char* base) {
    if (!builder_.CheckDepth()) return false;
    const FieldRow* const fields = nodes::kFields + row.first_field;
    uint64_t seen = 0, empty = 0;
    while (!bytes.empty()) {
      uint32_t number = 0, type = 0;
      if (!ReadTag(bytes, number, type)) return false;
      const size_t at = FindField(row, number);
      if (at == row.field_count) {
        return builder_.Fail("the message has a field that is not in its schema");
      }
      const FieldRow& field = fields[at];
      const uint64_t bit = uint64_t{1} << at;
      const bool twice = (seen & bit) != 0 && field.shape != Shape::kList;
      seen |= bit;
      if (twice ? !builder_.Fail("the field is there twice")
                : !ReadField(field, type, bytes, base)) {
        builder_.fault().path.AddName(field.name());
        return false;
      }
      // An empty string says the same as none.
      if (field.type == CType::kString && **reinterpret_cast<char**>(base + field.offset) == '\0') {
        empty |= bit;
      }
    }
    return builder_.Complete(row, seen & ~empty, base);
  }

  // Index into the message's fields; their count if there is none of that number.
  static size_t FindField(const MessageRow& row, uint32_t number) {
    const FieldRow* const fields = nodes::kFields + row.first_field;
    // Fields are numbered from 1, with few gaps.
    const size_t guess = size_t{number} - 1;
    if (guess < row.field_count && fields[guess].number == number) [[likely]]
      return guess;
    size_t at = 0;
    while (at < row.field_count && fields[at].number != number) ++at;
    return at;
  }

  bool ReadField(const FieldRow& field, uint32_t type, Bytes& bytes, char* base) {
    if (field.shape == Shape::kScalar) return ReadScalar(field, type, bytes, base);
    if (field.shape == Shape::kIntegerSet) return builder_.FailOnSet();
    if (type != kLengthDelimited) return WrongType();
    Bytes content;
    if (!ReadBytes(bytes, content)) return false;
    switch (field.shape) {
      case Shape::kNode: {
        if (content.empty()) return builder_.Fail("the node is empty");
        void* node = nullptr;
        return ReadNode(content, &node) && builder_.SetNode(field, base, node);
      }
      case Shape::kList:
        return ReadElement(&field, content, reinterpret_cast<::List**>(base + field.offset));
      case Shape::kMessage: {
        char* message = builder_.Open(field, base);
        return message != nullptr &&
               ReadMessage(nodes::kMessages[field.reference], content, message);
      }
      default:
        return false;
    }
  }

  bool ReadScalar(const FieldRow& field, uint32_t type, Bytes& bytes, char* base) {
    if (field.type == CType::kString || field.type == CType::kChar) {
      Bytes text;
      if (type != kLengthDelimited) return WrongType();
      return ReadBytes(bytes, text) &&
             builder_.SetText(field, base, {text.p, static_cast<size_t>(text.end - text.p)});
    }
    if (field.type == CType::kDouble) {
      double value = 0;
      if (type != kFixed64) return WrongType();
      if (bytes.end - bytes.p < static_cast<ptrdiff_t>(sizeof(value))) return Truncated();
      std::memcpy(&value, bytes.p, sizeof(value));
      bytes.p += sizeof(value);
      return builder_.SetDouble(field, base, value);
    }
    uint64_t value = 0;
    if (type != kVarint) return WrongType();
    if (!ReadVarint(bytes, value)) return false;
    if (field.type == CType::kEnum) {
      return builder_.SetEnumNumber(field, base, static_cast<int64_t>(value));
    }
    if (field.type == CType::kUint64) return builder_.SetUnsigned(field, base, value);
    return builder_.SetInteger(field, base, static_cast<int64_t>(value));
  }

  // An element of a list, that of a field or (null) one that stands for a node. An empty node is a
  // null element.
  bool ReadElement(const FieldRow* field, Bytes bytes, ::List** list) {
    void* element = nullptr;
    const bool read = bytes.empty() || ReadNode(bytes, &element);
    if (!read || (field != nullptr && !builder_.CheckElement(*field, element))) {
      builder_.fault().path.AddIndex(list_length(*list));
      return false;
    }
    *list = lappend(*list, element);
    return true;
  }

  // One pg_query.Node: exactly one alternative.
  bool ReadNode(Bytes bytes, void** node) {
    uint32_t number = 0, type = 0;
    Bytes content;
    if (!ReadTag(bytes, number, type)) return false;
    if (type != kLengthDelimited) return WrongType();
    if (!ReadBytes(bytes, content)) return false;
    if (!bytes.empty()) return builder_.Fail("the node is of two kinds");
    if (number == nodes::kListNodeNumber) return ReadListNode(content, node);
    const MessageRow* row = FindMessageByNodeNumber(number);
    if (row == nullptr) return builder_.Fail("there is no kind of node with this number");
    char* base = builder_.New(*row);
    *node = base;
    if (ReadMessage(*row, content, base)) return true;
    builder_.fault().path.AddName(row->name);
    return false;
  }

  bool ReadListNode(Bytes bytes, void** node) {
    if (!builder_.CheckDepth()) return false;
    ::List* list = nullptr;
    while (!bytes.empty()) {
      uint32_t number = 0, type = 0;
      Bytes element;
      if (!ReadTag(bytes, number, type)) return false;
      if (number != kItemsField || type != kLengthDelimited) return WrongType();
      if (!ReadBytes(bytes, element) || !ReadElement(nullptr, element, &list)) {
        builder_.fault().path.AddName("items");
        builder_.fault().path.AddName("List");
        return false;
      }
    }
    *node = list;
    return true;
  }

  bool WrongType() { return builder_.Fail("the field is of another type"); }
  bool Truncated() { return builder_.Fail("the bytes end in the middle, or are no protobuf"); }

  bool ReadTag(Bytes& bytes, uint32_t& number, uint32_t& type) {
    uint64_t tag = 0;
    if (!ReadVarint(bytes, tag)) return false;
    number = static_cast<uint32_t>(tag >> 3);
    type = static_cast<uint32_t>(tag & 7);
    return tag >> 3 <= 0x1FFFFFFF || Truncated();
  }

  [[gnu::always_inline]] bool ReadVarint(Bytes& bytes, uint64_t& value) {
    if (bytes.p < bytes.end && static_cast<signed char>(*bytes.p) >= 0) [[likely]] {
      value = static_cast<unsigned char>(*bytes.p++);
      return true;
    }
    return ReadLongVarint(bytes, value);
  }

  bool ReadLongVarint(Bytes& bytes, uint64_t& value) {
    value = 0;
    for (uint32_t shift = 0; shift < 64 && bytes.p < bytes.end; shift += 7) {
      const auto byte = static_cast<unsigned char>(*bytes.p++);
      value |= static_cast<uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return true;
    }
    return Truncated();
  }

  bool ReadBytes(Bytes& bytes, Bytes& content) {
    uint64_t size = 0;
    if (!ReadVarint(bytes, size)) return false;
    if (size > static_cast<uint64_t>(bytes.end - bytes.p)) return Truncated();
    content = {bytes.p, bytes.p + size};
    bytes.p += size;
    return true;
  }

  TreeBuilder builder_;
  uint64_t other_version_ = 0;
};

}  // namespace

Result<void*> ReadProtobufTree(LibraryScope& scope, std::string_view tree) {
  TreeFault fault;
  ProtobufReader reader(fault);
  ::List* statements = nullptr;
  auto error = RunGuarded(scope.memory_context(), Reason::kInvalidTree, [&] {
    reader.Read({tree.data(), tree.data() + tree.size()}, &statements);
  });
  if (error) return *std::move(error);
  if (reader.other_version() != 0) return OtherGrammar(reader.other_version());
  if (fault.failed) return FaultError(fault);
  return static_cast<void*>(statements);
}

}  // namespace pgparsed::grammar
