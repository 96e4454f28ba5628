// A grammar's protobuf schema and the names in it. The data is made at build time from the
// grammar's pg_query.proto (generator/) and lies in read-only memory.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace pgparsed::grammar {

// Numbers of one kind with their names, ascending by number.
struct NameTable {
  std::span<const uint32_t> numbers;
  // The names in the same order, each ended by a NUL byte.
  std::string_view names;
  // Where each name begins in `names`, and one entry more: the end.
  std::span<const uint32_t> offsets;

  // The name of a number; empty if there is none.
  std::string_view Find(uint32_t number) const;
};

struct Schema {
  NameTable tokens;         // the values of enum pg_query.Token
  NameTable nodes;          // the field numbers of message pg_query.Node; names as JSON spells them
  NameTable keyword_kinds;  // the values of enum pg_query.KeywordKind
  std::string_view proto_text;      // pg_query.proto
  std::string_view descriptor_set;  // a serialized google.protobuf.FileDescriptorSet
};

const Schema& GrammarSchema();

}  // namespace pgparsed::grammar
