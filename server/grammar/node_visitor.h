// Visitors over a grammar's C structs, made from its pg_query.proto (generator/). For sources of
// this folder; include it last, as library.h.
//
// VisitForward(visitor, node) and VisitBackward(visitor, node) call one method for each field of a
// struct, in the order of the proto or against it, with kFields[id] describing the field:
//
//   Number<id>(value)      integers and doubles
//   Location<id>(value)    a byte offset in the query, or -1
//   Length<id>(value, location)
//   Bool<id>(value)
//   Enum<id>(value)        the C value: EnumTable<id>::Find gives the proto's
//   Text<id>(value)        const char* (may be null) or char
//   Node<id>(pointer)      any node; may be null
//   List<id>(pointer)      a List of nodes; may be null
//   Message<id>(value)     a struct of one kind: by reference, or by a pointer that may be null
//   IntegerSet<id>(pointer)
//
// Dispatch(node, visitor) calls visitor(struct) with the struct that the node's tag says, and
// visitor.Other(node) for tags without a message: lists, and what the raw parser never makes.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "grammar/node_tables.h"

// Last: its macros would break other headers.
#include "grammar/library.h"

extern "C" {
#include "nodes/bitmapset.h"
#include "nodes/nodes.h"
#include "nodes/primnodes.h"
#include "nodes/value.h"
}

namespace pgparsed::grammar::nodes {

// The CType of a struct's member.
template <typename Member>
constexpr CType TypeOf() {
  if constexpr (std::is_same_v<Member, bool>) return CType::kBool;
  if constexpr (std::is_same_v<Member, char>) return CType::kChar;
  if constexpr (std::is_same_v<Member, double>) return CType::kDouble;
  if constexpr (std::is_same_v<Member, char*> || std::is_same_v<Member, const char*>) {
    return CType::kString;
  }
  if constexpr (std::is_pointer_v<Member>) return CType::kPointer;
  if constexpr (std::is_class_v<Member>) return CType::kStruct;
  if constexpr (std::is_integral_v<Member>) {
    constexpr bool kSigned = std::is_signed_v<Member>;
    if constexpr (sizeof(Member) == 2) return kSigned ? CType::kInt16 : CType::kUint16;
    if constexpr (sizeof(Member) == 4) return kSigned ? CType::kInt32 : CType::kUint32;
    if constexpr (sizeof(Member) == 8) return kSigned ? CType::kInt64 : CType::kUint64;
  }
}

// Index into kMessages of a struct.
template <typename Struct>
inline constexpr size_t kMessageOf = static_cast<size_t>(-1);

#include "nodes.inc"

// Finds an enum's row by its C value. The values are few and small, so that a table by value is.
template <size_t field>
class EnumTable {
  static constexpr const EnumRow& kRow = kEnums[kFields[field].reference];
  static constexpr int32_t kBegin = [] {
    int32_t begin = 0;
    for (const EnumValue& value : kRow.values) begin = std::min(begin, value.c_value);
    return begin;
  }();
  static constexpr int32_t kEnd = [] {
    int32_t end = 0;
    for (const EnumValue& value : kRow.values) end = std::max(end, value.c_value + 1);
    return end;
  }();
  static_assert(kEnd - kBegin <= 1024);
  // Index into the values and one more; 0: no such value.
  static constexpr auto kIndex = [] {
    std::array<uint16_t, static_cast<size_t>(kEnd - kBegin)> index{};
    for (size_t i = 0; i < kRow.values.size(); ++i) {
      index[static_cast<size_t>(kRow.values[i].c_value - kBegin)] = static_cast<uint16_t>(i + 1);
    }
    return index;
  }();

 public:
  // nullptr if the C value is none of the enum's.
  static constexpr const EnumValue* Find(int32_t c_value) {
    if (c_value < kBegin || c_value >= kEnd) return nullptr;
    const uint16_t index = kIndex[static_cast<size_t>(c_value - kBegin)];
    return index > 0 ? &kRow.values[index - 1u] : nullptr;
  }
};

}  // namespace pgparsed::grammar::nodes
