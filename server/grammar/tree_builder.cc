#include "grammar/tree_builder.h"

#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

#include "grammar/node_rules.h"
#include "text/utf8.h"

// Last: its macros would break other headers.
#include "grammar/node_visitor.h"
#include "grammar/tree_rules.h"

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

// Some enums have no value 0: an absent field is the first value, as the library has it.
constexpr bool HasDefault(const FieldRow& field) {
  return field.type == CType::kEnum && nodes::kEnums[field.reference].values[0].c_value != 0;
}

// By message.
constexpr auto kHasDefaults = [] {
  std::array<bool, std::size(nodes::kMessages)> has{};
  for (size_t i = 0; i < has.size(); ++i) {
    const MessageRow& row = nodes::kMessages[i];
    for (size_t k = 0; k < row.field_count; ++k) {
      has[i] = has[i] || HasDefault(nodes::kFields[row.first_field + k]);
    }
  }
  return has;
}();

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

bool TreeBuilder::FailTooDeep() {
  fault_.too_deep = true;
  return Fail("the tree nests deeper than this worker's stack allows");
}

bool TreeBuilder::Complete(const MessageRow& row, uint64_t present, char* base) {
  const MessageRules rules = RulesOf(row);
  const uint64_t missing = (rules.required | rules.empty_if_absent) & ~present;
  if (missing != 0 && !CompleteAbsent(row, missing & rules.required, missing, base)) return false;
  const NodeRule rule = kNodeRules[&row - nodes::kMessages];
  return rule == nullptr || rule(fault_, base);
}

bool TreeBuilder::CompleteAbsent(const MessageRow& row, uint64_t required, uint64_t missing,
                                 char* base) {
  const auto first = [&](uint64_t bits) -> const FieldRow& {
    return FieldsOf(row)[static_cast<size_t>(std::countr_zero(bits))];
  };
  if (required != 0) {
    fault_.path.AddName(first(required).name());
    return Fail("the field is missing");
  }
  for (; missing != 0; missing &= missing - 1) SetText(first(missing), base, "");
  return true;
}

char* TreeBuilder::New(const MessageRow& row) {
  auto* base = static_cast<char*>(palloc0(row.bytes));
  Initialize(row, base);
  return base;
}

void TreeBuilder::Initialize(const MessageRow& row, char* base) {
  if (row.tag != 0) reinterpret_cast<::Node*>(base)->type = static_cast<NodeTag>(row.tag);
  if (!kHasDefaults[static_cast<size_t>(&row - nodes::kMessages)]) return;
  for (const FieldRow& field : FieldsOf(row)) {
    if (HasDefault(field)) At<int32_t>(field, base) = EnumOf(field).values[0].c_value;
  }
}

char* TreeBuilder::Open(const FieldRow& field, char* parent) {
  const MessageRow& row = nodes::kMessages[field.reference];
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
  return At<char*>(field, parent) = New(row);
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
  // A NUL byte counts as invalid there.
  if (text::FindInvalid(value)) {
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
  const auto values = EnumOf(field).values;
  const auto set = [&](const EnumValue& value) {
    At<int32_t>(field, base) = value.c_value;
    return true;
  };
  // Most enums count from 1.
  const uint64_t guess = static_cast<uint64_t>(number) - 1;
  if (guess < values.size() && values[guess].number == number) return set(values[guess]);
  for (const EnumValue& value : values) {
    if (value.number == number) return set(value);
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

bool TreeBuilder::SetNode(const FieldRow& field, char* base, void* node) {
  // An empty List is a null pointer: no parse has one in place of a node.
  if (node == nullptr) return Fail("the node is empty");
  At<void*>(field, base) = node;
  return CheckKind(field, node);
}

bool TreeBuilder::CheckElement(const FieldRow& field, const void* node) {
  if (node != nullptr) return CheckKind(field, node);
  return RulesOf(field).null_elements || Fail("the node is empty");
}

bool TreeBuilder::CheckKind(const FieldRow& field, const void* node) {
  const FieldRules& rules = RulesOf(field);
  if (rules.kind == T_Invalid || nodeTag(node) == rules.kind || nodeTag(node) == rules.other) {
    return true;
  }
  return Fail("no node of this kind belongs here");
}

}  // namespace pgparsed::grammar
