// Columnar trees: what a view gives, what Open refuses, and the JSON that is made of them.
#include "pgparsed/columnar_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "pgparsed/errors.h"
#include "pgparsed/v1/common.pb.h"

namespace pgparsed {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;
using Node = ColumnarTreeView::Node;

static_assert(std::forward_iterator<ColumnarTreeView::Nodes::iterator>);
static_assert(std::forward_iterator<ColumnarTreeView::Siblings::iterator>);

constexpr uint32_t kRoot = 0xFFFFFFFF;

template <typename T>
void Append(std::string* column, T value) {
  for (size_t i = 0; i < sizeof(T); ++i) {
    column->push_back(static_cast<char>(static_cast<uint64_t>(value) >> (8 * i)));
  }
}

template <typename T>
void Put(std::string* column, size_t index, T value) {
  std::string bytes;
  Append(&bytes, value);
  column->replace(index * sizeof(T), sizeof(T), bytes);
}

// A tree by hand: nodes in pre-order, each behind its attributes' node.
class Builder {
 public:
  struct Field {
    const char* name;
    FieldShape shape;
  };

  explicit Builder(uint32_t postgres_version = 180001) {
    tree_.set_version(1);
    tree_.set_postgres_version(postgres_version);
    Append<uint32_t>(tree_.mutable_string_offset(), 0);
    Append<uint16_t>(tree_.mutable_kind_first_field(), 0);
  }

  uint16_t Kind(const char* name, const std::vector<Field>& fields) {
    first_fields_.push_back(static_cast<uint16_t>(tree_.field_names_size()));
    tree_.add_kind_names(name);
    for (const Field& field : fields) {
      tree_.add_field_names(field.name);
      tree_.mutable_field_shape()->push_back(static_cast<char>(field.shape));
    }
    Append(tree_.mutable_kind_first_field(), static_cast<uint16_t>(tree_.field_names_size()));
    return static_cast<uint16_t>(first_fields_.size() - 1);
  }

  // In the field of that number of the parent's kind.
  uint32_t Add(uint16_t kind, uint32_t parent = kRoot, uint16_t field = 0, int32_t location = -1) {
    const uint32_t node = tree_.node_count();
    tree_.set_node_count(node + 1);
    kinds_.push_back(kind);
    parents_.push_back(parent);
    Append(tree_.mutable_node_kind(), kind);
    Append(tree_.mutable_node_parent(), parent);
    const uint16_t name =
        parent == kRoot ? 0xFFFF : static_cast<uint16_t>(first_fields_[kinds_[parent]] + field);
    Append(tree_.mutable_node_parent_field(), name);
    Append(tree_.mutable_node_location(), location);
    return node;
  }

  void Attribute(uint32_t node, uint16_t field, AttributeType type, uint64_t value) {
    tree_.set_attribute_count(tree_.attribute_count() + 1);
    Append(tree_.mutable_attribute_node(), node);
    Append(tree_.mutable_attribute_field(),
           static_cast<uint16_t>(first_fields_[kinds_[node]] + field));
    Append(tree_.mutable_attribute_type(), static_cast<uint8_t>(type));
    Append(tree_.mutable_attribute_value(), value);
  }

  void Text(uint32_t node, uint16_t field, std::string_view text,
            AttributeType type = AttributeType::kString) {
    Attribute(node, field, type, tree_.string_count());
    tree_.set_string_count(tree_.string_count() + 1);
    tree_.mutable_string_data()->append(text);
    Append(tree_.mutable_string_offset(), static_cast<uint32_t>(tree_.string_data().size()));
  }

  v1::ColumnarTree Build() {
    std::vector<uint32_t> sizes(parents_.size(), 1);
    for (size_t i = parents_.size(); i-- > 0;) {
      if (parents_[i] != kRoot) sizes[parents_[i]] += sizes[i];
    }
    for (const uint32_t size : sizes) Append(tree_.mutable_node_subtree_size(), size);
    return std::move(tree_);
  }

 private:
  v1::ColumnarTree tree_;
  std::vector<uint16_t> first_fields_, kinds_;
  std::vector<uint32_t> parents_;
};

constexpr FieldShape kScalar = FieldShape::kScalar;
constexpr FieldShape kNode = FieldShape::kNode;
constexpr FieldShape kList = FieldShape::kList;
constexpr FieldShape kMessage = FieldShape::kMessage;
constexpr FieldShape kIntegers = FieldShape::kIntegers;

// Two statements with all shapes and all types.
v1::ColumnarTree Example() {
  Builder b;
  const auto raw = b.Kind("RawStmt", {{"stmt", kNode}, {"stmt_location", kScalar}});
  const auto select = b.Kind("SelectStmt", {{"distinctClause", kList},
                                            {"targetList", kList},
                                            {"whereClause", kNode},
                                            {"limitOption", kScalar},
                                            {"all", kScalar},
                                            {"ids", kIntegers},
                                            {"larg", kMessage},
                                            {"cost", kScalar}});
  const auto column = b.Kind("ColumnRef", {{"fields", kList}, {"location", kScalar}});
  const auto string = b.Kind("String", {{"sval", kScalar}});
  const auto null = b.Kind("", {});

  const auto first = b.Add(raw, kRoot, 0, 0);
  const auto outer = b.Add(select, first, 0);
  b.Text(outer, 3, "LIMIT_OPTION_DEFAULT", AttributeType::kEnum);
  b.Attribute(outer, 4, AttributeType::kBool, 1);
  b.Attribute(outer, 5, AttributeType::kUint, 3);
  b.Attribute(outer, 5, AttributeType::kUint, 70);
  b.Attribute(outer, 7, AttributeType::kDouble, std::bit_cast<uint64_t>(2.5));
  b.Add(null, outer, 0);
  const auto a = b.Add(column, outer, 1, 7);
  b.Text(b.Add(string, a, 0), 0, "a");
  const auto c = b.Add(column, outer, 1, 10);
  b.Text(b.Add(string, c, 0), 0, "");
  const auto where = b.Add(column, outer, 2, -1);
  b.Attribute(where, 1, AttributeType::kInt, static_cast<uint64_t>(-1));
  const auto inner = b.Add(select, outer, 6);
  b.Text(inner, 3, "LIMIT_OPTION_COUNT", AttributeType::kEnum);
  const auto second = b.Add(raw, kRoot, 0, 20);
  b.Attribute(second, 1, AttributeType::kInt, 20);
  return b.Build();
}

constexpr std::string_view kExampleJson =
    R"({"version":180001,"stmts":[{"stmt":{"SelectStmt":{"distinctClause":[{}],)"
    R"("targetList":[{"ColumnRef":{"fields":[{"String":{"sval":"a"}}],"location":7}},)"
    R"({"ColumnRef":{"fields":[{"String":{"sval":""}}],"location":10}}],)"
    R"("whereClause":{"ColumnRef":{"location":-1}},"limitOption":"LIMIT_OPTION_DEFAULT",)"
    R"("all":true,"ids":[3,70],"larg":{"limitOption":"LIMIT_OPTION_COUNT"},"cost":2.500000}}},)"
    R"({"stmt_location":20}]})";

ColumnarTreeView Opened(const v1::ColumnarTree& tree) {
  auto view = ColumnarTreeView::Open(tree);
  EXPECT_TRUE(view.ok()) << view.status();
  return *std::move(view);
}

template <typename Range>
std::vector<uint32_t> Indices(const Range& range) {
  std::vector<uint32_t> indices;
  for (const Node node : range) indices.push_back(node.index());
  return indices;
}

TEST(ColumnarTree, NodesKnowTheirKindPlaceAndField) {
  const v1::ColumnarTree tree = Example();
  const ColumnarTreeView view = Opened(tree);
  EXPECT_EQ(view.postgres_version(), 180001u);
  ASSERT_EQ(view.size(), 10u);
  const Node root = view.node(0);
  EXPECT_EQ(root.kind(), "RawStmt");
  EXPECT_EQ(root.field(), "");
  EXPECT_EQ(root.shape(), FieldShape::kMessage);
  EXPECT_EQ(root.location(), 0u);
  EXPECT_FALSE(root.parent().has_value());
  const Node column = view.node(3);
  EXPECT_EQ(column.kind(), "ColumnRef");
  EXPECT_EQ(column.field(), "targetList");
  EXPECT_EQ(column.shape(), FieldShape::kList);
  EXPECT_EQ(column.location(), 7u);
  EXPECT_EQ(column.parent(), view.node(1));
  EXPECT_EQ(view.node(2).kind(), "");
  EXPECT_FALSE(view.node(4).location().has_value());
  EXPECT_FALSE(view.node(7).location().has_value());
}

TEST(ColumnarTree, WalksChildrenSubtreesAndKinds) {
  const v1::ColumnarTree tree = Example();
  const ColumnarTreeView view = Opened(tree);
  EXPECT_THAT(Indices(view.roots()), ElementsAre(0, 9));
  EXPECT_THAT(Indices(view.nodes()), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
  const Node select = view.node(1);
  EXPECT_THAT(Indices(select.children()), ElementsAre(2, 3, 5, 7, 8));
  EXPECT_THAT(Indices(select.children("targetList")), ElementsAre(3, 5));
  EXPECT_THAT(Indices(select.children("limitOption")), IsEmpty());
  EXPECT_THAT(Indices(select.children("fields")), IsEmpty());
  EXPECT_EQ(select.child("targetList"), view.node(3));
  EXPECT_EQ(select.child("larg"), view.node(8));
  EXPECT_FALSE(view.node(8).child("larg").has_value());
  EXPECT_THAT(Indices(view.node(3).subtree()), ElementsAre(3, 4));
  EXPECT_THAT(Indices(view.node(9).subtree()), ElementsAre(9));
  EXPECT_TRUE(view.node(9).children().empty());
  EXPECT_THAT(Indices(view.FindAll("ColumnRef")), ElementsAre(3, 5, 7));
  EXPECT_THAT(Indices(view.FindAll("RawStmt")), ElementsAre(0, 9));
  EXPECT_THAT(Indices(view.FindAll("A_Const")), IsEmpty());
  EXPECT_THAT(Indices(view.node(3).FindAll("String")), ElementsAre(4));
  EXPECT_THAT(Indices(view.node(3).FindAll("ColumnRef")), ElementsAre(3));
  EXPECT_THAT(Indices(view.node(9).FindAll("String")), IsEmpty());
  const auto columns = view.FindAll("ColumnRef");
  EXPECT_EQ(std::ranges::count_if(columns, [](Node node) { return node.shape() == kList; }), 2);
}

TEST(ColumnarTree, ScalarsByNameAreAbsentWhenTheyAreDefaultsOrOfAnotherType) {
  const v1::ColumnarTree tree = Example();
  const ColumnarTreeView view = Opened(tree);
  const Node select = view.node(1);
  EXPECT_EQ(select.GetEnum("limitOption"), "LIMIT_OPTION_DEFAULT");
  EXPECT_EQ(select.GetBool("all"), true);
  EXPECT_EQ(select.GetDouble("cost"), 2.5);
  EXPECT_EQ(select.GetInt("ids"), 3);
  EXPECT_EQ(view.node(4).GetString("sval"), "a");
  EXPECT_EQ(view.node(6).GetString("sval"), "");
  EXPECT_EQ(view.node(9).GetInt("stmt_location"), 20);
  EXPECT_EQ(view.node(7).GetInt("location"), -1);
  EXPECT_FALSE(view.node(8).GetBool("all").has_value());
  EXPECT_FALSE(select.GetString("limitOption").has_value());
  EXPECT_FALSE(select.GetInt("all").has_value());
  EXPECT_FALSE(select.GetBool("cost").has_value());
  EXPECT_FALSE(select.GetDouble("all").has_value());
  EXPECT_FALSE(select.GetEnum("all").has_value());
  EXPECT_FALSE(select.GetString("sval").has_value());
}

TEST(ColumnarTree, UnsignedNumbersThatAnIntDoesNotHoldAreNotGiven) {
  Builder b;
  const auto kind = b.Kind("A", {{"n", kScalar}, {"m", kScalar}});
  const auto node = b.Add(kind);
  b.Attribute(node, 0, AttributeType::kUint, uint64_t{1} << 63);
  b.Attribute(node, 1, AttributeType::kInt, static_cast<uint64_t>(-5));
  const v1::ColumnarTree tree = b.Build();
  const ColumnarTreeView view = Opened(tree);
  EXPECT_FALSE(view.node(0).GetInt("n").has_value());
  EXPECT_EQ(view.node(0).GetInt("m"), -5);
  EXPECT_EQ((*view.node(0).attributes().begin()).AsUint(), uint64_t{1} << 63);
  EXPECT_EQ(ToJson(view), R"({"version":180001,"stmts":[{"n":9223372036854775808,"m":-5}]})");
}

TEST(ColumnarTree, AttributesComeInOrder) {
  const v1::ColumnarTree tree = Example();
  const ColumnarTreeView view = Opened(tree);
  std::vector<std::string> fields;
  for (const auto attribute : view.node(1).attributes()) fields.emplace_back(attribute.field());
  EXPECT_THAT(fields, ElementsAre("limitOption", "all", "ids", "ids", "cost"));
  const auto first = *view.node(1).attributes().begin();
  EXPECT_EQ(first.type(), AttributeType::kEnum);
  EXPECT_EQ(first.AsString(), "LIMIT_OPTION_DEFAULT");
  EXPECT_TRUE(view.node(0).attributes().empty());
  EXPECT_TRUE(view.node(3).attributes().empty());
  EXPECT_EQ((*++view.node(1).attributes().begin()).AsString(), "");
}

TEST(ColumnarTree, SerializedBytesGiveTheSameAndUnknownFieldsAreSkipped) {
  const std::string bytes = Example().SerializeAsString();
  // Fields 100 as varint, fixed64, bytes and fixed32.
  const std::string more(
      "\xA0\x06\x05\xA1\x06"
      "12345678\xA2\x06\x02hi\xA5\x06"
      "1234",
      24);
  for (const std::string& serialized : {bytes, more + bytes + more}) {
    const auto view = ColumnarTreeView::Open(serialized);
    ASSERT_TRUE(view.ok()) << view.status();
    EXPECT_EQ(ToJson(*view), kExampleJson);
  }
}

TEST(ColumnarTree, AViewLivesOnInItsCopies) {
  const v1::ColumnarTree tree = Example();
  auto view = std::make_unique<ColumnarTreeView>(Opened(tree));
  const Node node = view->node(4);
  const ColumnarTreeView copy = *view;
  const ColumnarTreeView moved = std::move(*view);
  view.reset();
  EXPECT_EQ(node.GetString("sval"), "a");
  EXPECT_EQ(node, copy.node(4));
  EXPECT_EQ(node, moved.node(4));
}

TEST(ColumnarTree, AnEmptyTreeHasNoNodes) {
  v1::ColumnarTree tree;
  tree.set_version(1);
  tree.set_kind_first_field(std::string(2, '\0'));
  tree.set_postgres_version(170007);
  const ColumnarTreeView view = Opened(tree);
  EXPECT_EQ(view.size(), 0u);
  EXPECT_TRUE(view.roots().empty());
  EXPECT_TRUE(view.FindAll("RawStmt").empty());
  EXPECT_EQ(ToJson(view), R"({"version":170007,"stmts":[]})");
}

// ---- what Open refuses ----

TEST(ColumnarTree, OpenSaysWhatIsWrong) {
  using Change = std::function<void(v1::ColumnarTree&)>;
  const std::pair<const char*, Change> changes[] = {
      {"version is 0", [](auto& t) { t.clear_version(); }},
      {"version is 2", [](auto& t) { t.set_version(2); }},
      {"node_kind has", [](auto& t) { t.set_node_count(11); }},
      {"node_location has", [](auto& t) { t.mutable_node_location()->pop_back(); }},
      {"attribute_type has", [](auto& t) { t.clear_attribute_type(); }},
      {"kind_first_field has", [](auto& t) { t.clear_kind_first_field(); }},
      {"field_shape has", [](auto& t) { t.add_field_names("more"); }},
      {"too many field_names",
       [](auto& t) {
         while (t.field_names_size() < 0x10000) t.add_field_names("more");
         t.mutable_field_shape()->resize(0x10000, 1);
       }},
      {"too many kind_names",
       [](auto& t) {
         while (t.kind_names_size() < 0x10000) {
           t.add_kind_names("More");
           Append<uint16_t>(t.mutable_kind_first_field(), 14);
         }
       }},
      {"does not cover", [](auto& t) { Put<uint16_t>(t.mutable_kind_first_field(), 0, 1); }},
      {"does not cover", [](auto& t) { Put<uint16_t>(t.mutable_kind_first_field(), 5, 12); }},
      {"descends", [](auto& t) { Put<uint16_t>(t.mutable_kind_first_field(), 2, 1); }},
      {"kind's name", [](auto& t) { t.set_kind_names(0, "Raw\""); }},
      {"field's name", [](auto& t) { t.set_field_names(0, "a\"b"); }},
      {"field's name", [](auto& t) { t.set_field_names(0, ""); }},
      {"NULL has a field", [](auto& t) { t.set_kind_names(3, ""); }},
      {"unknown shape", [](auto& t) { Put<uint8_t>(t.mutable_field_shape(), 0, 5); }},
      {"unknown shape", [](auto& t) { Put<uint8_t>(t.mutable_field_shape(), 0, 0); }},
      {"string_offset has", [](auto& t) { t.set_string_count(3); }},
      {"does not ascend", [](auto& t) { Put<uint32_t>(t.mutable_string_offset(), 0, 1); }},
      {"does not ascend", [](auto& t) { Put<uint32_t>(t.mutable_string_offset(), 1, 99); }},
      {"does not end", [](auto& t) { t.mutable_string_data()->push_back('x'); }},
      {"no index of kind_names", [](auto& t) { Put<uint16_t>(t.mutable_node_kind(), 9, 5); }},
      {"disagree", [](auto& t) { Put<uint32_t>(t.mutable_node_parent(), 3, 2); }},
      {"disagree", [](auto& t) { Put<uint32_t>(t.mutable_node_parent(), 9, 0); }},
      {"disagree", [](auto& t) { Put<uint32_t>(t.mutable_node_subtree_size(), 1, 7); }},
      {"leaves", [](auto& t) { Put<uint32_t>(t.mutable_node_subtree_size(), 9, 2); }},
      {"leaves", [](auto& t) { Put<uint32_t>(t.mutable_node_subtree_size(), 8, 2); }},
      {"leaves", [](auto& t) { Put<uint32_t>(t.mutable_node_subtree_size(), 9, 0); }},
      {"field of another kind",
       [](auto& t) { Put<uint16_t>(t.mutable_node_parent_field(), 3, 0); }},
      {"holds none", [](auto& t) { Put<uint16_t>(t.mutable_node_parent_field(), 8, 7); }},
      {"NULL is in", [](auto& t) { Put<uint16_t>(t.mutable_node_kind(), 8, 4); }},
      {"order of their fields",
       [](auto& t) { Put<uint16_t>(t.mutable_node_parent_field(), 3, 4); }},
      {"order of their fields",
       [](auto& t) { Put<uint16_t>(t.mutable_node_parent_field(), 8, 4); }},
      {"a root has", [](auto& t) { Put<uint16_t>(t.mutable_node_parent_field(), 9, 0); }},
      {"a root has", [](auto& t) { Put<uint16_t>(t.mutable_node_kind(), 9, 4); }},
      {"no node", [](auto& t) { Put<uint32_t>(t.mutable_attribute_node(), 9, 10); }},
      {"attribute_node descends", [](auto& t) { Put<uint32_t>(t.mutable_attribute_node(), 6, 0); }},
      {"attribute is in a field of another",
       [](auto& t) { Put<uint16_t>(t.mutable_attribute_field(), 0, 0); }},
      {"holds nodes", [](auto& t) { Put<uint16_t>(t.mutable_attribute_field(), 0, 2); }},
      {"attributes are not", [](auto& t) { Put<uint16_t>(t.mutable_attribute_field(), 1, 5); }},
      {"attributes are not", [](auto& t) { Put<uint16_t>(t.mutable_attribute_field(), 4, 6); }},
      {"unknown type", [](auto& t) { Put<uint8_t>(t.mutable_attribute_type(), 0, 7); }},
      {"list of integers", [](auto& t) { Put<uint8_t>(t.mutable_attribute_type(), 2, 3); }},
      {"a bool is not 1", [](auto& t) { Put<uint64_t>(t.mutable_attribute_value(), 1, 2); }},
      {"no index of a string", [](auto& t) { Put<uint64_t>(t.mutable_attribute_value(), 0, 4); }},
  };
  for (const auto& [message, change] : changes) {
    v1::ColumnarTree tree = Example();
    change(tree);
    const auto view = ColumnarTreeView::Open(tree);
    ASSERT_FALSE(view.ok()) << message;
    EXPECT_EQ(ReasonOf(view.status()), Reason::kInvalidTree);
    EXPECT_THAT(std::string(view.status().message()), StartsWith("columnar tree: "));
    EXPECT_THAT(std::string(view.status().message()), HasSubstr(message));
  }
}

TEST(ColumnarTree, BytesThatAreNoMessageAreRefused) {
  for (const std::string_view bytes :
       {std::string_view("\x08", 1), std::string_view("\x0b", 1), std::string_view("\x1a\x05", 2),
        std::string_view("\x09\x01", 2),
        std::string_view("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), std::string_view()}) {
    EXPECT_FALSE(ColumnarTreeView::Open(bytes).ok());
  }
}

// Uses all that a view offers. AddressSanitizer watches; the sums keep the reads alive.
size_t UseAll(const ColumnarTreeView& view) {
  size_t sum = ToJson(view).size();
  for (const Node node : view.nodes()) {
    sum += node.kind().size() + node.field().size() + node.location().value_or(0);
    sum += node.parent().has_value() ? node.parent()->index() : 0;
    for (const Node child : node.children()) {
      EXPECT_LT(child.index(), view.size());
      sum += Indices(node.children(child.field())).size();
      sum += node.child(child.field())->index();
    }
    for (const Node below : node.subtree()) EXPECT_LT(below.index(), view.size());
    for (const auto attribute : node.attributes()) {
      sum += std::string(attribute.AsString()).size() + attribute.AsUint();
      sum += node.GetString(attribute.field()).value_or("").size();
      sum += node.GetEnum(attribute.field()).value_or("").size();
    }
    sum += Indices(node.FindAll("ColumnRef")).size() + Indices(view.FindAll(node.kind())).size();
  }
  for (const Node root : view.roots()) sum += root.index();
  return sum;
}

// True if Open accepts the bytes, which stand in memory of exactly their size.
bool OpensAndHolds(const std::string& bytes) {
  const auto memory = std::make_unique<char[]>(bytes.size());
  bytes.copy(memory.get(), bytes.size());
  const auto view = ColumnarTreeView::Open(std::string_view(memory.get(), bytes.size()));
  if (view.ok()) UseAll(*view);
  return view.ok();
}

TEST(ColumnarTree, NoTruncatedMessageOrColumnIsAccepted) {
  const std::string bytes = Example().SerializeAsString();
  // The last field is postgres_version, which may be missing.
  const size_t version_at = bytes.find("\xA0\x01");
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(OpensAndHolds(bytes.substr(0, size)), size == version_at) << size;
  }
  const auto* descriptor = v1::ColumnarTree::descriptor();
  for (int i = 0; i < descriptor->field_count(); ++i) {
    const auto* field = descriptor->field(i);
    if (field->is_repeated() || field->type() != google::protobuf::FieldDescriptor::TYPE_BYTES) {
      continue;
    }
    v1::ColumnarTree tree = Example();
    const auto* reflection = tree.GetReflection();
    const std::string column = reflection->GetString(tree, field);
    for (size_t size = 0; size < column.size(); ++size) {
      reflection->SetString(&tree, field, column.substr(0, size));
      EXPECT_FALSE(OpensAndHolds(tree.SerializeAsString())) << field->name() << " " << size;
      EXPECT_FALSE(ColumnarTreeView::Open(tree).ok());
    }
    reflection->SetString(&tree, field, column + '\0');
    EXPECT_FALSE(OpensAndHolds(tree.SerializeAsString())) << field->name();
  }
}

TEST(ColumnarTree, WhatIsAcceptedOfFlippedBytesStaysInBounds) {
  const std::string bytes = Example().SerializeAsString();
  size_t accepted = 0;
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (const int mask : {0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0xFF}) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(changed[at] ^ mask);
      accepted += OpensAndHolds(changed) ? 1 : 0;
    }
  }
  // Locations, numbers, texts and names may be others.
  EXPECT_GT(accepted, 500u);
}

TEST(ColumnarTree, WhatIsAcceptedOfRandomChangesStaysInBounds) {
  const std::string bytes = Example().SerializeAsString();
  std::mt19937 random(20240229);
  size_t accepted = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string changed = bytes;
    for (uint32_t changes = random() % 3 + 1; changes > 0; --changes) {
      // Small numbers are likelier to be an index.
      changed[random() % changed.size()] = static_cast<char>(random() % 16);
    }
    accepted += OpensAndHolds(changed) ? 1 : 0;
  }
  EXPECT_GT(accepted, 100u);
}

// ---- JSON ----

TEST(ColumnarJson, PrintsAllShapesAndTypes) {
  const v1::ColumnarTree tree = Example();
  EXPECT_EQ(ToJson(Opened(tree)), kExampleJson);
}

// The example of docs/columnar-tree.md, with the JSON that libpg_query 18.1.0 prints for it.
TEST(ColumnarJson, IsTheLibrarysForTheDocumentsExample) {
  Builder b(180006);
  const auto raw =
      b.Kind("RawStmt", {{"stmt", kNode}, {"stmt_location", kScalar}, {"stmt_len", kScalar}});
  const auto select = b.Kind(
      "SelectStmt", {{"distinctClause", kList},  {"intoClause", kMessage}, {"targetList", kList},
                     {"fromClause", kList},      {"whereClause", kNode},   {"groupClause", kList},
                     {"groupDistinct", kScalar}, {"havingClause", kNode},  {"windowClause", kList},
                     {"valuesLists", kList},     {"sortClause", kList},    {"limitOffset", kNode},
                     {"limitCount", kNode},      {"limitOption", kScalar}, {"lockingClause", kList},
                     {"withClause", kMessage},   {"op", kScalar},          {"all", kScalar},
                     {"larg", kMessage},         {"rarg", kMessage}});
  const auto target =
      b.Kind("ResTarget",
             {{"name", kScalar}, {"indirection", kList}, {"val", kNode}, {"location", kScalar}});
  const auto column = b.Kind("ColumnRef", {{"fields", kList}, {"location", kScalar}});
  const auto string = b.Kind("String", {{"sval", kScalar}});
  const auto range = b.Kind("RangeVar", {{"catalogname", kScalar},
                                         {"schemaname", kScalar},
                                         {"relname", kScalar},
                                         {"inh", kScalar},
                                         {"relpersistence", kScalar},
                                         {"alias", kMessage},
                                         {"location", kScalar}});
  const auto statement = b.Add(raw, kRoot, 0, 0);
  const auto body = b.Add(select, statement, 0);
  b.Text(body, 13, "LIMIT_OPTION_DEFAULT", AttributeType::kEnum);
  b.Text(body, 16, "SETOP_NONE", AttributeType::kEnum);
  const auto a = b.Add(column, b.Add(target, body, 2, 7), 2, 7);
  b.Text(b.Add(string, a, 0), 0, "a");
  const auto t = b.Add(range, body, 3, 14);
  b.Text(t, 2, "t");
  b.Attribute(t, 3, AttributeType::kBool, 1);
  b.Text(t, 4, "p");
  const v1::ColumnarTree tree = b.Build();
  EXPECT_EQ(tree.ByteSizeLong(), 832u);
  EXPECT_EQ(
      ToJson(Opened(tree)),
      R"({"version":180006,"stmts":[{"stmt":{"SelectStmt":{"targetList":[{"ResTarget":{"val":)"
      R"({"ColumnRef":{"fields":[{"String":{"sval":"a"}}],"location":7}},"location":7}}],)"
      R"("fromClause":[{"RangeVar":{"relname":"t","inh":true,"relpersistence":"p",)"
      R"("location":14}}],"limitOption":"LIMIT_OPTION_DEFAULT","op":"SETOP_NONE"}}}]})");
}

std::string JsonOfText(uint32_t postgres_version, std::string_view text, const char* field = "x") {
  Builder b(postgres_version);
  const auto kind = b.Kind("A", {{field, kScalar}});
  b.Text(b.Add(kind), 0, text);
  const v1::ColumnarTree tree = b.Build();
  return ToJson(Opened(tree));
}

TEST(ColumnarJson, EscapesAsTheLibraryDoes) {
  EXPECT_EQ(JsonOfText(170007, "a\b\f\n\r\t\"\\/<b>\x01\x1f\x7f\xC3\xA9"),
            "{\"version\":170007,\"stmts\":[{\"x\":\"a\\b\\f\\n\\r\\t\\\"\\\\/\\u003cb\\u003e"
            "\\u0001\\u001f\x7f\xC3\xA9\"}]}");
}

TEST(ColumnarJson, EmptyTextsDependOnTheGrammar) {
  EXPECT_EQ(JsonOfText(170007, ""), R"({"version":170007,"stmts":[{"x":""}]})");
  EXPECT_EQ(JsonOfText(180001, ""), R"({"version":180001,"stmts":[{}]})");
  EXPECT_EQ(JsonOfText(180001, "", "sval"), R"({"version":180001,"stmts":[{"sval":""}]})");
  EXPECT_EQ(JsonOfText(180001, "", "fval"), R"({"version":180001,"stmts":[{"fval":""}]})");
  EXPECT_EQ(JsonOfText(180001, "", "bsval"), R"({"version":180001,"stmts":[{"bsval":""}]})");
}

TEST(ColumnarJson, FalseIsPrintedForABooleanWithItsTag) {
  Builder b;
  const auto holder = b.Kind("A", {{"arg", kNode}, {"boolval", kMessage}});
  const auto boolean = b.Kind("Boolean", {{"boolval", kScalar}});
  const auto root = b.Add(holder);
  b.Add(boolean, root, 0);
  b.Add(boolean, root, 1);
  const auto other = b.Add(holder);
  b.Attribute(b.Add(boolean, other, 0), 0, AttributeType::kBool, 1);
  const v1::ColumnarTree tree = b.Build();
  EXPECT_EQ(ToJson(Opened(tree)),
            R"({"version":180001,"stmts":[{"arg":{"Boolean":{"boolval":false}},"boolval":{}},)"
            R"({"arg":{"Boolean":{"boolval":true}}}]})");
}

TEST(ColumnarJson, Grammar15HasNoNegativeIntegers) {
  for (const uint32_t version : {150017u, 170007u}) {
    Builder b(version);
    const auto holder = b.Kind("A", {{"args", kList}});
    const auto integer = b.Kind("Integer", {{"ival", kScalar}});
    const auto root = b.Add(holder);
    b.Attribute(b.Add(integer, root), 0, AttributeType::kInt, static_cast<uint64_t>(-2));
    b.Attribute(b.Add(integer, root), 0, AttributeType::kInt, 3);
    const v1::ColumnarTree tree = b.Build();
    EXPECT_EQ(ToJson(Opened(tree)),
              version == 150017u ? R"({"version":150017,"stmts":[{"args":[{"Integer":{}},)"
                                   R"({"Integer":{"ival":3}}]}]})"
                                 : R"({"version":170007,"stmts":[{"args":[{"Integer":{"ival":-2}},)"
                                   R"({"Integer":{"ival":3}}]}]})");
  }
}

TEST(ColumnarJson, ListsInListsHaveTheirItemsEvenIfThereAreNone) {
  Builder b;
  const auto holder = b.Kind("A", {{"lists", kList}});
  const auto list = b.Kind("List", {{"items", kList}});
  const auto root = b.Add(holder);
  b.Add(list, root);
  b.Add(list, b.Add(list, root));
  const v1::ColumnarTree tree = b.Build();
  EXPECT_EQ(ToJson(Opened(tree)), R"({"version":180001,"stmts":[{"lists":[{"List":{"items":[]}},)"
                                  R"({"List":{"items":[{"List":{"items":[]}}]}}]}]})");
}

TEST(ColumnarJson, ALocationThatIsATextIsOne) {
  Builder b;
  const auto kind = b.Kind("CreateTableSpaceStmt", {{"location", kScalar}, {"x", kScalar}});
  const auto node = b.Add(kind);
  b.Text(node, 0, "/a");
  b.Attribute(node, 1, AttributeType::kInt, 1);
  b.Add(kind, kRoot, 0, 0);
  const v1::ColumnarTree tree = b.Build();
  EXPECT_EQ(ToJson(Opened(tree)), R"({"version":180001,"stmts":[{"location":"/a","x":1},{}]})");
}

TEST(ColumnarJson, DeepTreesNeedNoDeepStack) {
  constexpr uint32_t kDepth = 50'000;
  Builder b;
  const auto raw = b.Kind("RawStmt", {{"stmt", kNode}});
  const auto sum = b.Kind("A_Expr", {{"lexpr", kNode}, {"location", kScalar}});
  uint32_t node = b.Add(raw);
  for (uint32_t i = 1; i <= kDepth; ++i) node = b.Add(sum, node, 0, static_cast<int32_t>(i));
  const v1::ColumnarTree tree = b.Build();
  const ColumnarTreeView view = Opened(tree);
  EXPECT_EQ(Indices(view.FindAll("A_Expr")).size(), kDepth);
  uint32_t depth = 0;
  for (auto at = view.node(kDepth).parent(); at.has_value(); at = at->parent()) ++depth;
  EXPECT_EQ(depth, kDepth);
  std::string json = R"({"version":180001,"stmts":[{"stmt":)";
  for (uint32_t i = 1; i < kDepth; ++i) json += R"({"A_Expr":{"lexpr":)";
  json += R"({"A_Expr":{"location":50000}})";
  for (uint32_t i = kDepth - 1; i > 0; --i) json += ",\"location\":" + std::to_string(i) + "}}";
  EXPECT_EQ(ToJson(view), json + "}]}");
}

}  // namespace
}  // namespace pgparsed
