// A parse tree as columns, read in place: the C++ side of pgparsed.v1.ColumnarTree, whose layout
// docs/columnar-tree.md describes. The names of the tables in a query:
//
//   request.set_format(pgparsed::v1::TREE_FORMAT_COLUMNAR);
//   auto response = client->Parse(request);
//   auto tree = pgparsed::ColumnarTreeView::Open(response->columnar());
//   for (auto node : tree->FindAll("RangeVar"))
//     std::cout << node.GetString("relname").value_or("") << "\n";
//
// Nodes and fields have the names that they have in libpg_query's JSON. A node is a handle of a few
// bytes; walking a tree allocates nothing and does not recurse, whatever the tree's depth.
//
// Units: indices count from 0. Locations count in the position encoding of the request, from 0.
//
// Lifetimes: a view refers to the bytes that it was opened with. The message or the bytes must
// outlive it, and stay unchanged; so must the view outlive its nodes, ranges and strings, or a copy
// of the view, or what it was moved to: all of them share one index.
//
// Errors: Open checks everything. Its error is kInvalidTree, and says which column is wrong; what
// it accepted can be read without an error, whatever the bytes are. Only that texts are UTF-8 is
// not checked.
//
// Thread-safety: everything is immutable; any number of threads may read one view.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace pgparsed {

namespace v1 {
class ColumnarTree;
}  // namespace v1

// What a field holds, and how JSON writes it.
enum class FieldShape : uint8_t {
  kScalar = 1,    // an attribute, or the node's location
  kNode = 2,      // a node of any kind: {"Kind":{...}}
  kList = 3,      // nodes of any kind: [{"Kind":{...}},...]
  kMessage = 4,   // a node of the one kind that the field can hold: {...}
  kIntegers = 6,  // attributes, one for each number: [1,2]
};

// How an attribute's value is to be read.
enum class AttributeType : uint8_t {
  kInt = 1,
  kUint = 2,
  kBool = 3,  // always true
  kString = 4,
  kEnum = 5,  // the value's name
  kDouble = 6,
};

namespace columnar {

// The columns of one message as they lie there. Entry i of a column is read without a check: Open
// has checked all that the accessors of this file read.
struct Columns {
  uint32_t version = 0;
  uint32_t node_count = 0;
  uint32_t attribute_count = 0;
  uint32_t string_count = 0;
  uint32_t postgres_version = 0;
  std::string_view node_kind, node_parent, node_parent_field, node_subtree_size, node_location;
  std::string_view attribute_node, attribute_field, attribute_type, attribute_value;
  std::string_view string_offset, string_data;
  std::string_view kind_first_field, field_shape;
  std::vector<std::string_view> kind_names, field_names;
  // The one thing that is not in the message: where each node's attributes begin, and their number.
  std::vector<uint32_t> first_attribute;

  template <typename T>
  static T At(std::string_view column, size_t i) {
    T value = 0;
    if constexpr (std::endian::native == std::endian::little) {
      std::memcpy(&value, column.data() + i * sizeof(T), sizeof(T));
    } else {
      for (size_t byte = sizeof(T); byte > 0; --byte) {
        const auto digit = static_cast<uint8_t>(column[i * sizeof(T) + byte - 1]);
        value = static_cast<T>(static_cast<uint64_t>(value) << 8 | digit);
      }
    }
    return value;
  }

  uint16_t kind(uint32_t node) const { return At<uint16_t>(node_kind, node); }
  uint32_t parent(uint32_t node) const { return At<uint32_t>(node_parent, node); }
  uint16_t parent_field(uint32_t node) const { return At<uint16_t>(node_parent_field, node); }
  // The node behind the subtree of `node`.
  uint32_t end(uint32_t node) const { return node + At<uint32_t>(node_subtree_size, node); }
  int32_t location(uint32_t node) const {
    return static_cast<int32_t>(At<uint32_t>(node_location, node));
  }
  uint16_t attribute_name(uint32_t attribute) const {
    return At<uint16_t>(attribute_field, attribute);
  }
  AttributeType type(uint32_t attribute) const {
    return static_cast<AttributeType>(attribute_type[attribute]);
  }
  uint64_t value(uint32_t attribute) const { return At<uint64_t>(attribute_value, attribute); }
  std::string_view text(uint64_t string) const {
    const auto begin = At<uint32_t>(string_offset, string);
    return string_data.substr(begin, At<uint32_t>(string_offset, string + 1) - begin);
  }
  uint16_t first_field(size_t kind) const { return At<uint16_t>(kind_first_field, kind); }
  FieldShape shape(size_t field) const { return static_cast<FieldShape>(field_shape[field]); }
};

// What an iterator does to come to the next node before `end`.
struct NextNode {
  uint32_t operator()(const Columns&, uint32_t node, uint32_t) const { return node + 1; }
};
struct NextSibling {
  uint32_t operator()(const Columns& columns, uint32_t node, uint32_t) const {
    return columns.end(node);
  }
};
struct NextOfKind {
  uint16_t kind = 0;
  uint32_t operator()(const Columns& columns, uint32_t node, uint32_t end) const {
    do ++node;
    while (node < end && columns.kind(node) != kind);
    return node;
  }
};
struct NextAttribute {
  uint32_t operator()(const Columns&, uint32_t attribute, uint32_t) const { return attribute + 1; }
};

// Nodes or attributes one after the other, for range-based for and the algorithms of std::ranges.
template <typename Item, typename Next>
class Range {
 public:
  class iterator {
   public:
    using value_type = Item;
    using difference_type = std::ptrdiff_t;
    using iterator_concept = std::forward_iterator_tag;
    using iterator_category = std::input_iterator_tag;

    iterator() = default;
    iterator(const Columns* columns, uint32_t index, uint32_t end, Next next)
        : columns_(columns), index_(index), end_(end), next_(next) {}

    Item operator*() const { return Item(columns_, index_); }
    iterator& operator++() {
      index_ = next_(*columns_, index_, end_);
      return *this;
    }
    iterator operator++(int) {
      iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const iterator& other) const { return index_ == other.index_; }

   private:
    const Columns* columns_ = nullptr;
    uint32_t index_ = 0;
    uint32_t end_ = 0;
    [[no_unique_address]] Next next_;
  };

  Range() = default;
  Range(const Columns* columns, uint32_t begin, uint32_t end, Next next = {})
      : begin_(columns, begin, end, next), end_(columns, end, end, next) {}

  iterator begin() const { return begin_; }
  iterator end() const { return end_; }
  bool empty() const { return begin_ == end_; }

 private:
  iterator begin_, end_;
};

}  // namespace columnar

// A tree. Copies are cheap and share the index, 4 bytes for each node.
class ColumnarTreeView {
 public:
  class Node;
  class Attribute;
  using Siblings = columnar::Range<Node, columnar::NextSibling>;
  using Nodes = columnar::Range<Node, columnar::NextNode>;
  using NodesOfKind = columnar::Range<Node, columnar::NextOfKind>;
  using Attributes = columnar::Range<Attribute, columnar::NextAttribute>;

  // One scalar of a node that is not its default.
  class Attribute {
   public:
    // The field's name, for example "relname".
    std::string_view field() const {
      return columns_->field_names[columns_->attribute_name(index_)];
    }
    AttributeType type() const { return columns_->type(index_); }

    // The value by its type. Not checked: of another type they give what the bits say, and
    // AsString gives "".
    int64_t AsInt() const { return static_cast<int64_t>(columns_->value(index_)); }
    uint64_t AsUint() const { return columns_->value(index_); }
    double AsDouble() const { return std::bit_cast<double>(columns_->value(index_)); }
    // kString and kEnum.
    std::string_view AsString() const {
      return type() == AttributeType::kString || type() == AttributeType::kEnum
                 ? columns_->text(columns_->value(index_))
                 : std::string_view();
    }

   private:
    friend Attributes::iterator;
    Attribute(const columnar::Columns* columns, uint32_t index)
        : columns_(columns), index_(index) {}

    const columnar::Columns* columns_;
    uint32_t index_;
  };

  // One node of a tree.
  class Node {
   public:
    // Its place in pre-order: the same each time that the same bytes are opened.
    uint32_t index() const { return index_; }

    // Its tag, for example "SelectStmt". "" is a list's element that is NULL.
    std::string_view kind() const { return columns_->kind_names[columns_->kind(index_)]; }

    // Where it stands in the query. Absent where PostgreSQL does not know or the kind has no such
    // field. It is the field "location", or "stmt_location" of the kinds that have that one.
    std::optional<uint32_t> location() const {
      const int32_t location = columns_->location(index_);
      if (location < 0) return std::nullopt;
      return static_cast<uint32_t>(location);
    }

    // Absent for a statement: the root of its tree.
    std::optional<Node> parent() const {
      if (is_root()) return std::nullopt;
      return Node(columns_, columns_->parent(index_));
    }

    // The parent's field that holds it, for example "targetList", and how. "" and kMessage for a
    // root.
    std::string_view field() const {
      return is_root() ? std::string_view() : columns_->field_names[columns_->parent_field(index_)];
    }
    FieldShape shape() const {
      return is_root() ? FieldShape::kMessage : columns_->shape(columns_->parent_field(index_));
    }

    // Its children in the order of their fields, a list's elements in their order.
    Siblings children() const { return Siblings(columns_, index_ + 1, columns_->end(index_)); }
    // Those in one field; none if the field holds none or the kind has no such field. Takes as
    // long as there are children before and in the field.
    Siblings children(std::string_view field) const;
    // The first of them: for fields that hold one.
    std::optional<Node> child(std::string_view field) const;

    // Itself and all nodes below it, in pre-order. FindAll: those of one kind.
    Nodes subtree() const { return Nodes(columns_, index_, columns_->end(index_)); }
    NodesOfKind FindAll(std::string_view kind) const;

    // Its scalars that are not their defaults, in the order of the fields.
    Attributes attributes() const {
      return Attributes(columns_, columns_->first_attribute[index_],
                        columns_->first_attribute[index_ + 1]);
    }

    // A scalar by the name of its field. Absent when it has its default (0, false, NULL), the kind
    // has no such field, or the field is of another type. A node's "location" is location().
    std::optional<std::string_view> GetString(std::string_view field) const;
    // Also of unsigned fields, if an int64_t holds the value.
    std::optional<int64_t> GetInt(std::string_view field) const;
    std::optional<bool> GetBool(std::string_view field) const;
    std::optional<double> GetDouble(std::string_view field) const;
    // The name of the value, for example "SETOP_UNION". Enums have no default: they are never
    // absent from a kind that has them.
    std::optional<std::string_view> GetEnum(std::string_view field) const;

    // The same node of the same view or of a copy of it.
    bool operator==(const Node&) const = default;

   private:
    friend ColumnarTreeView;
    friend Siblings::iterator;
    friend Nodes::iterator;
    friend NodesOfKind::iterator;
    Node(const columnar::Columns* columns, uint32_t index) : columns_(columns), index_(index) {}

    bool is_root() const { return columns_->parent(index_) == 0xFFFFFFFF; }
    std::optional<Attribute> Find(std::string_view field) const;

    const columnar::Columns* columns_;
    uint32_t index_;
  };

  // Checks a tree and makes a view of it. Takes time in proportion to the tree's bytes and does not
  // recurse. kInvalidTree: the columns contradict each other, or the layout's version is not 1.
  static absl::StatusOr<ColumnarTreeView> Open(const v1::ColumnarTree& tree);
  static absl::StatusOr<ColumnarTreeView> Open(const v1::ColumnarTree&& tree) = delete;

  // The same from a serialized message, as streams carry it. Needs no protobuf library, and copies
  // nothing either. Fields that it does not know are skipped.
  static absl::StatusOr<ColumnarTreeView> Open(std::string_view serialized);

  // PostgreSQL's version as a number: 180001 is 18.1.
  uint32_t postgres_version() const { return columns_->postgres_version; }

  // The number of nodes, and each of them. `index` must be less than size().
  uint32_t size() const { return columns_->node_count; }
  Node node(uint32_t index) const { return Node(columns_.get(), index); }
  Nodes nodes() const { return Nodes(columns_.get(), 0, size()); }

  // The statements.
  Siblings roots() const { return Siblings(columns_.get(), 0, size()); }

  // All nodes of one kind, in pre-order.
  NodesOfKind FindAll(std::string_view kind) const;

 private:
  friend std::string ToJson(const ColumnarTreeView& tree);
  static absl::StatusOr<ColumnarTreeView> Check(columnar::Columns columns);
  explicit ColumnarTreeView(std::shared_ptr<const columnar::Columns> columns)
      : columns_(std::move(columns)) {}

  std::shared_ptr<const columnar::Columns> columns_;
};

// The tree as libpg_query's pg_query_parse prints it, byte for byte. Takes time in proportion to
// the text, and besides it a stack of 16 bytes for each level of the tree. Texts that are not UTF-8
// are copied as they are. Attributes may share a string: the text of a tree that no pgparsed server
// made can be far larger than the tree.
std::string ToJson(const ColumnarTreeView& tree);

}  // namespace pgparsed
