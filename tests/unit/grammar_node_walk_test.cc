#include "grammar/node_walk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "grammar/parsed_query.h"

namespace pgparsed::grammar {
namespace {

using testing::ElementsAre;

// The names of all nodes in the order of the walk; the children of `passed_by` are not visited.
std::vector<std::string_view> Names(const char* sql, std::string_view passed_by = "") {
  const auto query = ParsedQuery::Parse(sql, {});
  NodeWalk walk;
  walk.Add(query.value()->statements());
  std::vector<std::string_view> names;
  NodeVisit visit;
  while (walk.Next(visit)) {
    names.push_back(visit.row->name);
    if (visit.row->name != passed_by) walk.AddChildren(visit);
  }
  return names;
}

TEST(NodeWalk, VisitsParentsBeforeTheirChildrenInTheOrderOfTheText) {
  EXPECT_THAT(Names("SELECT a, 1 FROM t; SELECT 2"),
              ElementsAre("RawStmt", "SelectStmt", "ResTarget", "ColumnRef", "String", "ResTarget",
                          "A_Const", "RangeVar", "RawStmt", "SelectStmt", "ResTarget", "A_Const"));
}

TEST(NodeWalk, OpensListsInLists) {
  EXPECT_THAT(Names("VALUES (1, 2), (3, 4)"),
              ElementsAre("RawStmt", "SelectStmt", "A_Const", "A_Const", "A_Const", "A_Const"));
}

TEST(NodeWalk, VisitsWhatLiesInAStructItself) {
  EXPECT_THAT(Names("CREATE TABLE t ()"), ElementsAre("RawStmt", "CreateStmt", "RangeVar"));
}

TEST(NodeWalk, PassesByTheChildrenThatAreNotAdded) {
  EXPECT_THAT(Names("SELECT a, 1 FROM t; SELECT 2", "SelectStmt"),
              ElementsAre("RawStmt", "SelectStmt", "RawStmt", "SelectStmt"));
  EXPECT_THAT(Names("SELECT a, 1 FROM t", "ColumnRef"),
              ElementsAre("RawStmt", "SelectStmt", "ResTarget", "ColumnRef", "ResTarget", "A_Const",
                          "RangeVar"));
}

TEST(NodeWalk, TakesAnEmptyTree) { EXPECT_THAT(Names("-- nothing"), ElementsAre()); }

// DISTINCT without ON is a list of one null.
TEST(NodeWalk, PassesByNullElements) {
  EXPECT_THAT(Names("SELECT DISTINCT a FROM t", "ResTarget"),
              ElementsAre("RawStmt", "SelectStmt", "ResTarget", "RangeVar"));
}

TEST(NodeWalk, GivesMarksBackWhenWhatWasAddedBeforeIsDone) {
  const auto query = ParsedQuery::Parse("SELECT 1 + 2; SELECT 3", {});
  NodeWalk walk;
  walk.Add(query.value()->statements());
  std::vector<std::string> seen;
  NodeVisit visit;
  while (walk.Next(visit)) {
    if (visit.node == nullptr) {
      seen.push_back("end " + std::to_string(visit.mark));
      continue;
    }
    seen.emplace_back(visit.row->name);
    walk.AddChildren(visit);
    if (visit.row->name == "SelectStmt") walk.AddMark(7);
  }
  EXPECT_THAT(seen, ElementsAre("RawStmt", "SelectStmt", "ResTarget", "A_Expr", "String", "A_Const",
                                "A_Const", "end 7", "RawStmt", "SelectStmt", "ResTarget", "A_Const",
                                "end 7"));
}

TEST(NodeWalk, GoesToAnyDepth) {
  std::string sql = "SELECT 1";
  for (int i = 0; i < 300'000; ++i) sql += "+1";
  EXPECT_EQ(Names(sql.c_str()).size(), 3u + 300'001u + 2 * 300'000u);
}

}  // namespace
}  // namespace pgparsed::grammar
