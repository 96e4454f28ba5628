#include "cli/tree_view.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace pgparsed::cli {
namespace {

std::string View(std::string_view json, bool colour = false) {
  std::string out;
  const absl::Status status = WriteTreeView(json, colour, [&](std::string_view piece) {
    out += piece;
    return true;
  });
  return status.ok() ? out : "error";
}

TEST(TreeView, ANodeIsOneLineWithItsTagValuesAndLocation) {
  EXPECT_EQ(View(R"({"version":180006,"stmts":[{"stmt":{"SelectStmt":{"targetList":[{"ResTarget":)"
                 R"({"val":{"A_Const":{"ival":{"ival":1},"location":7}},"location":7}}],)"
                 R"("limitOption":"LIMIT_OPTION_DEFAULT","op":"SETOP_NONE"}},"stmt_len":8}]})"),
            "version=180006\n"
            "stmts[0]: stmt_len=8\n"
            "  stmt: SelectStmt limitOption=\"LIMIT_OPTION_DEFAULT\" op=\"SETOP_NONE\"\n"
            "    targetList[0]: ResTarget @7\n"
            "      val: A_Const ival=1 @7\n");
}

TEST(TreeView, ValueNodesAreShownAsValues) {
  EXPECT_EQ(View(R"({"X":{"fields":[{"String":{"sval":"a b"}},{"A_Star":{}}],)"
                 R"("args":[{"Integer":{"ival":3}},{"Integer":{}},{"Float":{"fval":"1.5"}},)"
                 R"({"Boolean":{"boolval":true}},{"Boolean":{}}]}})"),
            "X fields=[\"a b\", *] args=[3, 0, 1.5, true, false]\n");
}

TEST(TreeView, ConstantsWithTheirDefaultValueAreNotEmpty) {
  EXPECT_EQ(View(R"({"A_Const":{"ival":{},"location":7}})"), "A_Const ival=0 @7\n");
  EXPECT_EQ(View(R"({"A_Const":{"boolval":{},"location":7}})"), "A_Const boolval=false @7\n");
  EXPECT_EQ(View(R"({"A_Const":{"isnull":true,"location":7}})"), "A_Const isnull=true @7\n");
}

TEST(TreeView, MessagesWithoutATagAreShownByTheirField) {
  EXPECT_EQ(View(R"({"InsertStmt":{"relation":{"relname":"t","inh":true,"location":12}}})"),
            "InsertStmt\n  relation: relname=\"t\" inh=true @12\n");
}

TEST(TreeView, ListsOfMixedThingsAreShownItemByItem) {
  EXPECT_EQ(View(R"({"Y":{"items":[{"String":{"sval":"a"}},{"Z":{"n":1}},{}]}})"),
            "Y\n  items[0]: \"a\"\n  items[1]: Z n=1\n  items[2]: {}\n");
}

TEST(TreeView, AnArrayAtTheTopIsShownItemByItem) {
  EXPECT_EQ(View(R"([{"PLpgSQL_function":{"datums":[{"PLpgSQL_var":{"refname":"found"}}]}}])"),
            "[0]: PLpgSQL_function\n  datums[0]: PLpgSQL_var refname=\"found\"\n");
}

TEST(TreeView, StringsAreEscapedAsInJson) {
  EXPECT_EQ(View(R"({"A":{"s":"x\u001b[31m\n\"é"}})"), "A s=\"x\\u001b[31m\\n\\\"\xC3\xA9\"\n");
}

TEST(TreeView, VeryDeepTreesDoNotOverflowTheStackOrGrowWithTheSquareOfTheirDepth) {
  constexpr int kDepth = 200'000;
  std::string json;
  for (int i = 0; i < kDepth; ++i) json += R"({"A_Expr":{"lexpr":)";
  json += R"({"A_Const":{"ival":{"ival":1}}})";
  for (int i = 0; i < kDepth; ++i) json += "}}";
  const std::string view = View(json);
  EXPECT_EQ(std::count(view.begin(), view.end(), '\n'), kDepth + 1);
  EXPECT_LT(view.size(), static_cast<size_t>(kDepth) * 200);
  EXPECT_TRUE(view.ends_with("(depth 200000) lexpr: A_Const ival=1\n"))
      << view.substr(view.size() - 80);
}

TEST(TreeView, TagsAndLocationsAreColouredWhenAskedFor) {
  EXPECT_EQ(View(R"({"A_Const":{"ival":{"ival":1},"location":7}})", true),
            "\x1B[1;36mA_Const\x1B[0m ival=1 \x1B[2m@7\x1B[0m\n");
}

TEST(TreeView, StopsWhenTheReaderIsGone) {
  int pieces = 0;
  ASSERT_TRUE(
      WriteTreeView(R"({"A":{"b":{"B":{"c":{"C":{"x":1}}}}}})", false, [&](std::string_view) {
        return ++pieces < 2;
      }).ok());
  EXPECT_EQ(pieces, 2);
}

TEST(TreeView, WhatIsNoJsonIsAnError) { EXPECT_EQ(View("{\"a\":"), "error"); }

}  // namespace
}  // namespace pgparsed::cli
