#include "tests/conformance/tree_text.h"

#include <gtest/gtest.h>

namespace pgparsed::conformance {
namespace {

TEST(TreeText, LeavesOutPlacesWhereverTheyStand) {
  EXPECT_EQ(
      WithoutLocations(R"({"a":[{"location":7},{"x":1,"location":7},{"location":-1,"x":1}]})"),
      R"({"a":[{},{"x":1},{"x":1}]})");
  EXPECT_EQ(WithoutLocations(R"({"stmt":{"location":1,"name_location":2},"stmt_len":8})"),
            R"({"stmt":{}})");
  EXPECT_EQ(WithoutLocations(R"({"stmt":{},"stmt_location":9,"stmt_len":8,"y":2})"),
            R"({"stmt":{},"y":2})");
}

TEST(TreeText, KeepsStringsThatLookLikePlaces) {
  const char* json = R"({"sval":"\"location\":7","location\\":1,"v":"location"})";
  EXPECT_EQ(WithoutLocations(json), json);
}

TEST(TreeText, KeepsNumbersThatAreNoPlaces) {
  EXPECT_NE(WithoutLocations(R"({"ival":1,"location":7})"),
            WithoutLocations(R"({"ival":2,"location":7})"));
}

TEST(TreeText, CountsStatementsAndNotWhatIsInsideThem) {
  EXPECT_EQ(CountStatements(R"({"version":1,"stmts":[]})"), 0u);
  EXPECT_EQ(
      CountStatements(R"({"version":1,"stmts":[{"stmt":{"stmt":{"s":"\"stmt\""}}},{"stmt":{}}]})"),
      2u);
}

}  // namespace
}  // namespace pgparsed::conformance
