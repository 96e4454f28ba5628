// The grammar's nodes as data: every message of pg_query.proto that stands for a C struct, its
// fields in the order of the proto, and where they lie in the struct. Made at build time
// (generator/), read by what has to work on any node: readers, comparison, summaries.
//
// What is called often (the writers) uses the generated visitors of nodes.h instead.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace pgparsed::grammar {

// What a field is in the proto.
enum class Shape : uint8_t {
  kScalar,      // number, bool, string or enum: see CType
  kNode,        // pg_query.Node: any node
  kList,        // repeated pg_query.Node
  kMessage,     // a message of one kind
  kIntegerSet,  // repeated uint64: a Bitmapset
};

// What a field is in the C struct.
enum class CType : uint8_t {
  kBool,
  kChar,  // a string of one character in the proto; 0: none
  kInt16,
  kUint16,
  kInt32,
  kUint32,
  kInt64,
  kUint64,
  kDouble,
  kString,   // char*
  kEnum,     // 4 bytes: EnumRow says which values
  kPointer,  // to a node, a List or a Bitmapset
  kStruct,   // a node that lies in the struct itself
};

// What an integer means.
enum class Meaning : uint8_t {
  kPlain,
  kLocation,  // a byte offset in the query text, or -1
  kLength,    // bytes from the field before it, a kLocation; 0: to the end of the text
};

struct EnumValue {
  int32_t c_value;
  int32_t number;  // in the proto
  std::string_view name;
};

struct EnumRow {
  std::string_view name;
  std::span<const EnumValue> values;
};

struct FieldRow {
  std::string_view key;  // the name as JSON has it in an object: "name":
  uint16_t number;       // in the proto
  Shape shape;
  CType type;
  Meaning meaning;
  bool in_union;       // of A_Const: lies in the union whose node tag says which member counts
  uint16_t reference;  // kMessage: index of the message; kEnum: index of the enum
  uint16_t offset;     // in the struct, in bytes

  constexpr std::string_view name() const { return key.substr(1, key.size() - 3); }
};

struct MessageRow {
  std::string_view name;  // the node tag, for example SelectStmt
  int32_t tag;            // PostgreSQL's NodeTag; 0: a struct that is no node
  uint16_t node_number;   // of the alternative of pg_query.Node; 0: none
  uint16_t first_field;   // index into the fields
  uint16_t field_count;
  uint16_t bytes;  // of the struct
};

// All messages, in the order of the proto.
std::span<const MessageRow> Messages();
// All fields; those of a message stand together.
std::span<const FieldRow> Fields();
std::span<const FieldRow> FieldsOf(const MessageRow& message);
const EnumRow& EnumOf(const FieldRow& field);

// nullptr if there is none. T_List and its like have no row: their elements are all they have.
const MessageRow* FindMessageByTag(int32_t tag);
const MessageRow* FindMessageByName(std::string_view name);
const MessageRow* FindMessageByNodeNumber(uint32_t number);

}  // namespace pgparsed::grammar
