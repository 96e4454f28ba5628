#include "cli/columnar_table.h"

#include <gtest/gtest.h>

#include <bit>
#include <string>

#include "pgparsed/v1/common.pb.h"

namespace pgparsed::cli {
namespace {

template <typename... Values>
std::string Column(size_t width, Values... values) {
  std::string bytes;
  for (const uint64_t value : {static_cast<uint64_t>(values)...}) {
    for (size_t i = 0; i < width; ++i) bytes.push_back(static_cast<char>(value >> (8 * i)));
  }
  return bytes;
}

// `depth` nodes of kind A, each in the last's field a.
v1::ColumnarTree Chain(uint32_t depth) {
  v1::ColumnarTree tree;
  tree.set_version(1);
  tree.set_node_count(depth);
  for (uint32_t i = 0; i < depth; ++i) {
    *tree.mutable_node_kind() += Column(2, 0);
    *tree.mutable_node_parent() += Column(4, i - 1);
    *tree.mutable_node_parent_field() += Column(2, i == 0 ? 0xFFFF : 0);
    *tree.mutable_node_subtree_size() += Column(4, depth - i);
    *tree.mutable_node_location() += Column(4, i - 1);
  }
  tree.add_kind_names("A");
  tree.set_kind_first_field(Column(2, 0, 7));
  for (const char* name : {"a", "i", "u", "b", "s", "e", "d"}) tree.add_field_names(name);
  tree.set_field_shape(Column(1, 2, 1, 1, 1, 1, 1, 1));
  return tree;
}

std::string Table(const v1::ColumnarTree& tree) {
  const auto view = ColumnarTreeView::Open(tree);
  if (!view.ok()) return std::string(view.status().message());
  std::string table;
  WriteColumnarTable(*view, [&](std::string_view piece) {
    table += piece;
    return true;
  });
  return table;
}

TEST(ColumnarTable, ANodeIsOneLineWithAllThatColumnsSay) {
  v1::ColumnarTree tree = Chain(3);
  tree.set_attribute_count(6);
  tree.set_attribute_node(Column(4, 1, 1, 1, 1, 1, 1));
  tree.set_attribute_field(Column(2, 1, 2, 3, 4, 5, 6));
  tree.set_attribute_type(Column(1, 1, 2, 3, 4, 5, 6));
  tree.set_attribute_value(Column(8, -5, 7, 1, 0, 1, std::bit_cast<uint64_t>(2.5)));
  tree.set_string_count(2);
  tree.set_string_offset(Column(4, 0, 2, 5));
  tree.set_string_data("t\x1BONE");
  EXPECT_EQ(Table(tree),
            "    node location  kind   field  attributes\n"
            "       0        -  A\n"
            "       1        0    A    a      i=-5 u=7 b=true s=\"t\xEF\xBF\xBD\" e=ONE d=2.5\n"
            "       2        1      A  a\n");
}

TEST(ColumnarTable, ANullElementIsNamed) {
  v1::ColumnarTree tree = Chain(2);
  tree.set_node_kind(Column(2, 0, 1));
  tree.add_kind_names("");
  tree.set_kind_first_field(Column(2, 0, 7, 7));
  tree.set_field_shape(Column(1, 3, 1, 1, 1, 1, 1, 1));
  EXPECT_NE(Table(tree).find("  NULL  a\n"), std::string::npos) << Table(tree);
}

TEST(ColumnarTable, IndentationHasAnEnd) {
  const std::string table = Table(Chain(1000));
  EXPECT_NE(table.find("\n      31       30  " + std::string(60, ' ') + "(depth 31) A "),
            std::string::npos);
  EXPECT_NE(table.find("(depth 999) A"), std::string::npos);
}

TEST(ColumnarTable, ASinkStopsIt) {
  const v1::ColumnarTree tree = Chain(5);
  const auto view = ColumnarTreeView::Open(tree);
  ASSERT_TRUE(view.ok());
  int lines = 0;
  WriteColumnarTable(*view, [&](std::string_view) { return ++lines < 2; });
  EXPECT_EQ(lines, 2);
}

}  // namespace
}  // namespace pgparsed::cli
