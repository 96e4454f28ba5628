#include "grammar/json_check.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace pgparsed::grammar {
namespace {

TEST(IsJson, TakesWhatIsJson) {
  for (const std::string_view text :
       {"null", "true", "false", "0", "-0", "12", "-1.50e+10", "1E5", "\"\"", "[]", "{}", " [ ] ",
        "[1,[2,{}],{\"a\":[]}]", "{\"a\":1,\"b\":{\"a\":null}}", "\t{ \"a\" : [ 1 , 2 ] }\r\n",
        R"("\"\\\/\b\f\n\r\t\u00e9é")"}) {
    EXPECT_TRUE(IsJson(text)) << text;
  }
}

TEST(IsJson, RefusesWhatIsNot) {
  for (const std::string_view text :
       {"",        " ",        "nul",        "nulls", "True",      "01",       "-",
        "1.",      ".5",       "1e",         "+1",    "[",         "]",        "{",
        "}",       "[1",       "[1,]",       "[,1]",  "[1 2]",     "[1}",      "{1}",
        "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "{\"a\" 1}", "[{}},{}]", "{\"a\":1]",
        "1 2",     "[] []",    "\"",         "\"a",   "\"\\",      "\"\\x\"",  "\"\\u12g4\"",
        "'a'",     "\"\n\"",   "\"\xff\""}) {
    EXPECT_FALSE(IsJson(text)) << text;
  }
  EXPECT_FALSE(IsJson(std::string_view("\"\0\"", 3)));
}

TEST(IsJson, TakesAnyDepth) {
  const size_t depth = 1000000;
  EXPECT_TRUE(IsJson(std::string(depth, '[') + std::string(depth, ']')));
  EXPECT_FALSE(IsJson(std::string(depth, '[') + std::string(depth - 1, ']')));
}

}  // namespace
}  // namespace pgparsed::grammar
