// Opening a columnar tree: where its columns are, and whether they fit together.
#include "pgparsed/columnar_tree.h"

#include <array>
#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "pgparsed/errors.h"

namespace pgparsed {
namespace {

using columnar::Columns;
using Node = ColumnarTreeView::Node;

constexpr uint32_t kLayoutVersion = 1;
constexpr uint32_t kNoParent = 0xFFFFFFFF;
constexpr uint16_t kNoField = 0xFFFF;

absl::Status Wrong(const std::string& what) {
  return MakeError(Reason::kInvalidTree, absl::StrCat("columnar tree: ", what));
}

// ---- protobuf's wire format, as far as this message needs it ----

class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : rest_(bytes) {}

  bool done() const { return rest_.empty(); }

  bool Varint(uint64_t* value) {
    *value = 0;
    for (int shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<uint8_t>(rest_.front());
      rest_.remove_prefix(1);
      *value |= uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }

  bool Bytes(std::string_view* bytes) {
    uint64_t size = 0;
    return Varint(&size) && Take(size, bytes);
  }

  bool Take(uint64_t size, std::string_view* bytes) {
    if (size > rest_.size()) return false;
    *bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return true;
  }

 private:
  std::string_view rest_;
};

uint32_t* NumberOf(Columns& columns, uint64_t field) {
  switch (field) {
    case 1:
      return &columns.version;
    case 2:
      return &columns.node_count;
    case 8:
      return &columns.attribute_count;
    case 13:
      return &columns.string_count;
    case 20:
      return &columns.postgres_version;
    default:
      return nullptr;
  }
}

std::string_view* ColumnOf(Columns& columns, uint64_t field) {
  switch (field) {
    case 3:
      return &columns.node_kind;
    case 4:
      return &columns.node_parent;
    case 5:
      return &columns.node_parent_field;
    case 6:
      return &columns.node_subtree_size;
    case 7:
      return &columns.node_location;
    case 9:
      return &columns.attribute_node;
    case 10:
      return &columns.attribute_field;
    case 11:
      return &columns.attribute_type;
    case 12:
      return &columns.attribute_value;
    case 14:
      return &columns.string_offset;
    case 15:
      return &columns.string_data;
    case 18:
      return &columns.kind_first_field;
    case 19:
      return &columns.field_shape;
    default:
      return nullptr;
  }
}

bool ReadField(WireReader& reader, Columns& columns) {
  uint64_t tag = 0;
  if (!reader.Varint(&tag)) return false;
  uint64_t number = 0;
  std::string_view bytes;
  switch (tag & 7) {
    case 0:
      if (!reader.Varint(&number)) return false;
      if (uint32_t* known = NumberOf(columns, tag >> 3)) *known = static_cast<uint32_t>(number);
      return true;
    case 1:
      return reader.Take(8, &bytes);
    case 2:
      if (!reader.Bytes(&bytes)) return false;
      if (std::string_view* known = ColumnOf(columns, tag >> 3)) *known = bytes;
      if (tag >> 3 == 16) columns.kind_names.push_back(bytes);
      if (tag >> 3 == 17) columns.field_names.push_back(bytes);
      return true;
    case 5:
      return reader.Take(4, &bytes);
    default:
      return false;
  }
}

// ---- whether the columns fit together ----

absl::Status CheckSizes(const Columns& c) {
  struct Column {
    const char* name;
    std::string_view bytes;
    uint64_t count, width;
  };
  const std::array<Column, 11> columns = {{
      {"node_kind", c.node_kind, c.node_count, 2},
      {"node_parent", c.node_parent, c.node_count, 4},
      {"node_parent_field", c.node_parent_field, c.node_count, 2},
      {"node_subtree_size", c.node_subtree_size, c.node_count, 4},
      {"node_location", c.node_location, c.node_count, 4},
      {"attribute_node", c.attribute_node, c.attribute_count, 4},
      {"attribute_field", c.attribute_field, c.attribute_count, 2},
      {"attribute_type", c.attribute_type, c.attribute_count, 1},
      {"attribute_value", c.attribute_value, c.attribute_count, 8},
      {"kind_first_field", c.kind_first_field, c.kind_names.size() + uint64_t{1}, 2},
      {"field_shape", c.field_shape, c.field_names.size(), 1},
  }};
  for (const Column& column : columns) {
    if (column.bytes.size() != column.count * column.width) {
      return Wrong(absl::StrCat(column.name, " has ", column.bytes.size(), " bytes for ",
                                column.count, " entries of ", column.width));
    }
  }
  return absl::OkStatus();
}

// JSON prints names as they are.
bool IsName(std::string_view text) {
  for (const char c : text) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!is_letter && !(c >= '0' && c <= '9') && c != '_') return false;
  }
  return true;
}

absl::Status CheckKinds(const Columns& c) {
  // So that each has an index of 16 bits, and 0xFFFF is never a field.
  if (c.field_names.size() > kNoField) return Wrong("too many field_names");
  const size_t kinds = c.kind_names.size();
  if (kinds > kNoField) return Wrong("too many kind_names");
  if (c.first_field(0) != 0 || c.first_field(kinds) != c.field_names.size()) {
    return Wrong("kind_first_field does not cover field_names");
  }
  for (size_t kind = 0; kind < kinds; ++kind) {
    const uint16_t begin = c.first_field(kind);
    const uint16_t end = c.first_field(kind + 1);
    if (begin > end) return Wrong("kind_first_field descends");
    if (!IsName(c.kind_names[kind])) return Wrong("a kind's name is none");
    if (c.kind_names[kind].empty() && begin != end) return Wrong("NULL has a field");
  }
  for (size_t field = 0; field < c.field_names.size(); ++field) {
    if (c.field_names[field].empty() || !IsName(c.field_names[field])) {
      return Wrong("a field's name is none");
    }
    switch (c.shape(field)) {
      case FieldShape::kScalar:
      case FieldShape::kNode:
      case FieldShape::kList:
      case FieldShape::kMessage:
      case FieldShape::kIntegers:
        break;
      default:
        return Wrong("field_shape has an unknown shape");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckStrings(const Columns& c) {
  const uint64_t count = c.string_count;
  if (count == 0 && c.string_offset.empty() && c.string_data.empty()) return absl::OkStatus();
  if (c.string_offset.size() != (count + 1) * sizeof(uint32_t)) {
    return Wrong("string_offset has another size than string_count says");
  }
  uint32_t last = 0;
  for (uint64_t i = 0; i <= count; ++i) {
    const auto offset = Columns::At<uint32_t>(c.string_offset, i);
    if (offset < last || (i == 0 && offset != 0)) return Wrong("string_offset does not ascend");
    last = offset;
  }
  if (last != c.string_data.size()) return Wrong("string_offset does not end with string_data");
  return absl::OkStatus();
}

bool HasField(const Columns& c, uint32_t node, uint16_t field) {
  const uint16_t kind = c.kind(node);
  return field >= c.first_field(kind) && field < c.first_field(size_t{kind} + 1);
}

// Whether the parent's field may hold `node`, whose sibling before it is `previous`, or kNoParent.
absl::Status CheckPlace(const Columns& c, uint32_t node, uint32_t parent, uint32_t previous) {
  const uint16_t field = c.parent_field(node);
  if (!HasField(c, parent, field)) return Wrong("a node is in a field of another kind");
  const FieldShape shape = c.shape(field);
  if (shape != FieldShape::kNode && shape != FieldShape::kList && shape != FieldShape::kMessage) {
    return Wrong("a node is in a field that holds none");
  }
  if (shape != FieldShape::kList && c.kind_names[c.kind(node)].empty()) {
    return Wrong("NULL is in a field that is no list");
  }
  if (previous != kNoParent) {
    const uint16_t before = c.parent_field(previous);
    if (before > field || (before == field && shape != FieldShape::kList)) {
      return Wrong("children are not in the order of their fields");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckNodes(const Columns& c) {
  uint32_t open = kNoParent;  // the innermost node whose subtree is not at its end
  for (uint32_t node = 0; node < c.node_count; ++node) {
    if (c.kind(node) >= c.kind_names.size()) return Wrong("node_kind is no index of kind_names");
    uint32_t previous = kNoParent;
    while (open != kNoParent && c.end(open) == node) {
      previous = open;
      open = c.parent(open);
    }
    if (c.parent(node) != open) return Wrong("node_parent and node_subtree_size disagree");
    const uint32_t room = (open != kNoParent ? c.end(open) : c.node_count) - node;
    const auto size = Columns::At<uint32_t>(c.node_subtree_size, node);
    if (size == 0 || size > room) return Wrong("node_subtree_size leaves its parent's");
    if (open != kNoParent) {
      if (absl::Status status = CheckPlace(c, node, open, previous); !status.ok()) return status;
    } else if (c.parent_field(node) != kNoField || c.kind_names[c.kind(node)].empty()) {
      return Wrong("a root has a field or is NULL");
    }
    open = node;
  }
  return absl::OkStatus();
}

absl::Status CheckValue(const Columns& c, uint32_t attribute, FieldShape shape) {
  const AttributeType type = c.type(attribute);
  switch (type) {
    case AttributeType::kInt:
    case AttributeType::kUint:
      return absl::OkStatus();
    case AttributeType::kBool:
    case AttributeType::kDouble:
    case AttributeType::kString:
    case AttributeType::kEnum:
      break;
    default:
      return Wrong("attribute_type has an unknown type");
  }
  if (shape == FieldShape::kIntegers) return Wrong("a list of integers has another attribute");
  if (type == AttributeType::kBool && c.value(attribute) != 1) return Wrong("a bool is not 1");
  const bool is_text = type == AttributeType::kString || type == AttributeType::kEnum;
  if (is_text && c.value(attribute) >= c.string_count) {
    return Wrong("attribute_value is no index of a string");
  }
  return absl::OkStatus();
}

// Also fills first_attribute.
absl::Status CheckAttributes(Columns& c) {
  c.first_attribute.reserve(size_t{c.node_count} + 1);
  for (uint32_t attribute = 0; attribute < c.attribute_count; ++attribute) {
    const auto node = Columns::At<uint32_t>(c.attribute_node, attribute);
    if (node >= c.node_count) return Wrong("attribute_node is no node");
    if (size_t{node} + 1 < c.first_attribute.size()) return Wrong("attribute_node descends");
    const uint16_t field = c.attribute_name(attribute);
    if (!HasField(c, node, field)) return Wrong("an attribute is in a field of another kind");
    const FieldShape shape = c.shape(field);
    if (shape != FieldShape::kScalar && shape != FieldShape::kIntegers) {
      return Wrong("an attribute is in a field that holds nodes");
    }
    if (size_t{node} + 1 == c.first_attribute.size()) {
      const uint16_t before = c.attribute_name(attribute - 1);
      if (before > field || (before == field && shape != FieldShape::kIntegers)) {
        return Wrong("attributes are not in the order of their fields");
      }
    }
    if (absl::Status status = CheckValue(c, attribute, shape); !status.ok()) return status;
    c.first_attribute.resize(size_t{node} + 1, attribute);
  }
  c.first_attribute.resize(size_t{c.node_count} + 1, c.attribute_count);
  return absl::OkStatus();
}

ColumnarTreeView::NodesOfKind OfKind(const Columns* columns, std::string_view kind, uint32_t begin,
                                     uint32_t end) {
  for (size_t i = 0; i < columns->kind_names.size(); ++i) {
    if (columns->kind_names[i] != kind) continue;
    const columnar::NextOfKind next{static_cast<uint16_t>(i)};
    if (begin < end && columns->kind(begin) != i) begin = next(*columns, begin, end);
    return {columns, begin, end, next};
  }
  return {columns, end, end};
}

}  // namespace

absl::StatusOr<ColumnarTreeView> ColumnarTreeView::Check(Columns columns) {
  if (columns.version != kLayoutVersion) {
    return Wrong(absl::StrCat("the layout's version is ", columns.version,
                              "; this reader knows version ", kLayoutVersion));
  }
  for (const auto check : {CheckSizes, CheckKinds, CheckStrings, CheckNodes}) {
    if (absl::Status status = check(columns); !status.ok()) return status;
  }
  if (absl::Status status = CheckAttributes(columns); !status.ok()) return status;
  return ColumnarTreeView(std::make_shared<const Columns>(std::move(columns)));
}

absl::StatusOr<ColumnarTreeView> ColumnarTreeView::Open(std::string_view serialized) {
  Columns columns;
  WireReader reader(serialized);
  while (!reader.done()) {
    if (!ReadField(reader, columns)) return Wrong("the bytes are no protobuf message");
  }
  return Check(std::move(columns));
}

ColumnarTreeView::NodesOfKind ColumnarTreeView::FindAll(std::string_view kind) const {
  return OfKind(columns_.get(), kind, 0, size());
}

ColumnarTreeView::NodesOfKind Node::FindAll(std::string_view kind) const {
  return OfKind(columns_, kind, index_, columns_->end(index_));
}

ColumnarTreeView::Siblings Node::children(std::string_view field) const {
  const uint32_t end = columns_->end(index_);
  const auto is_in = [&](uint32_t child) {
    return columns_->field_names[columns_->parent_field(child)] == field;
  };
  uint32_t first = index_ + 1;
  while (first < end && !is_in(first)) first = columns_->end(first);
  uint32_t last = first;
  while (last < end && is_in(last)) last = columns_->end(last);
  return Siblings(columns_, first, last);
}

std::optional<Node> Node::child(std::string_view field) const {
  for (const Node child : children()) {
    if (child.field() == field) return child;
  }
  return std::nullopt;
}

std::optional<ColumnarTreeView::Attribute> Node::Find(std::string_view field) const {
  for (const Attribute attribute : attributes()) {
    if (attribute.field() == field) return attribute;
  }
  return std::nullopt;
}

std::optional<std::string_view> Node::GetString(std::string_view field) const {
  const auto attribute = Find(field);
  if (!attribute.has_value() || attribute->type() != AttributeType::kString) return std::nullopt;
  return attribute->AsString();
}

std::optional<int64_t> Node::GetInt(std::string_view field) const {
  const auto attribute = Find(field);
  if (!attribute.has_value()) return std::nullopt;
  if (attribute->type() == AttributeType::kInt) return attribute->AsInt();
  constexpr uint64_t kMost = std::numeric_limits<int64_t>::max();
  if (attribute->type() != AttributeType::kUint || attribute->AsUint() > kMost) return std::nullopt;
  return attribute->AsInt();
}

std::optional<bool> Node::GetBool(std::string_view field) const {
  const auto attribute = Find(field);
  if (!attribute.has_value() || attribute->type() != AttributeType::kBool) return std::nullopt;
  return true;
}

std::optional<double> Node::GetDouble(std::string_view field) const {
  const auto attribute = Find(field);
  if (!attribute.has_value() || attribute->type() != AttributeType::kDouble) return std::nullopt;
  return attribute->AsDouble();
}

std::optional<std::string_view> Node::GetEnum(std::string_view field) const {
  const auto attribute = Find(field);
  if (!attribute.has_value() || attribute->type() != AttributeType::kEnum) return std::nullopt;
  return attribute->AsString();
}

}  // namespace pgparsed
