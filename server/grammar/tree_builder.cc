#include "grammar/tree_builder.h"

#include <cstring>
#include <limits>
#include <utility>

#include "text/utf8.h"

// Last: its macros would break other headers.
#include "grammar/node_visitor.h"

namespace pgparsed::grammar {
namespace {

constexpr size_t kMostDetail = 64;

template <typename T>
T& At(const FieldRow& field, char* base) {
  return *reinterpret_cast<T*>(base + field.offset);
}

template <typename T>
bool Store(const FieldRow& field, char* base, int64_t value) {
  if (!std::in_range<T>(value)) return false;
  At<T>(field, base) = static_cast<T>(value);
  return true;
}

// Whether absent strings are empty, not null: those of constants.
bool IsConstant(const MessageRow& row) {
  return row.tag == T_String || row.tag == T_Float || row.tag == T_BitString;
}

}  // namespace

bool TreeBuilder::Fail(const char* what) {
  fault_.failed = true;
  fault_.what = what;
  return false;
}

bool TreeBuilder::FailOn(const char* what, std::string_view name) {
  for (const char c : name.substr(0, kMostDetail)) {
    fault_.detail += c > ' ' && c < 0x7F && c != '"' ? c : '?';
  }
  return Fail(what);
}

bool TreeBuilder::CheckDepth() {
  if (static_cast<const char*>(__builtin_frame_address(0)) >= pgparsed_stack_limit()) return true;
  fault_.too_deep = true;
  return Fail("the tree nests deeper than this worker's stack allows");
}

char* TreeBuilder::New(const MessageRow& row) {
  auto* base = static_cast<char*>(palloc0(row.bytes));
  Initialize(row, base);
  return base;
}

void TreeBuilder::Initialize(const MessageRow& row, char* base) {
  if (row.tag != 0) reinterpret_cast<::Node*>(base)->type = static_cast<NodeTag>(row.tag);
  for (const FieldRow& field : FieldsOf(row)) {
    if (field.type == CType::kEnum) {
      // Some enums have no value 0: an absent field is the first value, as the library has it.
      const EnumRow& values = EnumOf(field);
      if (values.values[0].c_value != 0) At<int32_t>(field, base) = values.values[0].c_value;
    } else if (field.type == CType::kString && IsConstant(row)) {
      At<char*>(field, base) = pstrdup("");
    }
  }
}

char* TreeBuilder::Open(const FieldRow& field, char* parent) {
  const MessageRow& row = Messages()[field.reference];
  if (field.type == CType::kStruct) {
    char* base = parent + field.offset;
    if (field.in_union && nodeTag(base) != T_Invalid) {
      Fail("a constant has one value only");
      return nullptr;
    }
    // A struct that another one begins with shares its tag.
    const NodeTag tag = field.in_union ? static_cast<NodeTag>(row.tag) : nodeTag(base);
    Initialize(row, base);
    reinterpret_cast<::Node*>(base)->type = tag;
    return base;
  }
  char*& pointer = At<char*>(field, parent);
  if (pointer != nullptr) {
    Fail("the field is there twice");
    return nullptr;
  }
  pointer = New(row);
  return pointer;
}

bool TreeBuilder::SetInteger(const FieldRow& field, char* base, int64_t value) {
  bool fits = false;
  switch (field.type) {
    case CType::kBool:
      fits = value == 0 || value == 1;
      if (fits) At<bool>(field, base) = value == 1;
      break;
    case CType::kInt16:
      fits = Store<int16_t>(field, base, value);
      break;
    case CType::kUint16:
      fits = Store<uint16_t>(field, base, value);
      break;
    case CType::kInt32:
      fits = Store<int32_t>(field, base, value);
      break;
    case CType::kUint32:
      fits = Store<uint32_t>(field, base, value);
      break;
    case CType::kInt64:
      fits = Store<int64_t>(field, base, value);
      break;
    case CType::kUint64:
      fits = Store<uint64_t>(field, base, value);
      break;
    case CType::kDouble:
      return SetDouble(field, base, static_cast<double>(value));
    default:
      return Fail("the field is no number");
  }
  return fits || Fail("the number does not fit the field");
}

bool TreeBuilder::SetUnsigned(const FieldRow& field, char* base, uint64_t value) {
  if (value <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
    return SetInteger(field, base, static_cast<int64_t>(value));
  }
  if (field.type != CType::kUint64) return Fail("the number does not fit the field");
  At<uint64_t>(field, base) = value;
  return true;
}

bool TreeBuilder::SetDouble(const FieldRow& field, char* base, double value) {
  if (field.type != CType::kDouble) return Fail("the field takes whole numbers only");
  At<double>(field, base) = value;
  return true;
}

bool TreeBuilder::SetText(const FieldRow& field, char* base, std::string_view value) {
  if (std::memchr(value.data(), '\0', value.size()) != nullptr || text::FindInvalid(value)) {
    return Fail("the string is no UTF-8, or has a NUL byte");
  }
  if (field.type == CType::kChar) {
    if (value.size() > 1) return Fail("the field takes one character");
    At<char>(field, base) = value.empty() ? '\0' : value[0];
    return true;
  }
  if (field.type != CType::kString) return Fail("the field is no string");
  auto* copy = static_cast<char*>(palloc(value.size() + 1));
  if (!value.empty()) std::memcpy(copy, value.data(), value.size());
  copy[value.size()] = '\0';
  At<char*>(field, base) = copy;
  return true;
}

bool TreeBuilder::SetEnumNumber(const FieldRow& field, char* base, int64_t number) {
  for (const EnumValue& value : EnumOf(field).values) {
    if (value.number != number) continue;
    At<int32_t>(field, base) = value.c_value;
    return true;
  }
  return Fail("the enum has no value of this number");
}

bool TreeBuilder::SetEnumName(const FieldRow& field, char* base, std::string_view name) {
  for (const EnumValue& value : EnumOf(field).values) {
    if (value.name != name) continue;
    At<int32_t>(field, base) = value.c_value;
    return true;
  }
  return FailOn("the enum has no value of this name", name);
}

bool TreeBuilder::SetPointer(const FieldRow& field, char* base, void* value) {
  if (At<void*>(field, base) != nullptr) return Fail("the field is there twice");
  At<void*>(field, base) = value;
  return true;
}

}  // namespace pgparsed::grammar
