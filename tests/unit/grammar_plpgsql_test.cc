// PL/pgSQL trees are valid JSON, the library's where that is right, and never an abort.
#include "grammar/plpgsql.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pg_query.h>

#include <string>

#include "grammar/json_check.h"

namespace pgparsed::grammar {
namespace {

using testing::HasSubstr;

std::string Tree(const std::string& sql) {
  const auto tree = ParsePlpgsql(sql.c_str());
  if (!tree.ok()) return "error: " + tree.error().message;
  EXPECT_TRUE(IsJson(tree.value().view())) << tree.value().view();
  return std::string(tree.value().view());
}

std::string Function(const std::string& arguments, const std::string& returns,
                     const std::string& body) {
  return "CREATE FUNCTION f(" + arguments + ") RETURNS " + returns + " LANGUAGE plpgsql AS $$" +
         body + "$$";
}

TEST(ParsePlpgsql, EqualsTheLibraryWhereThatIsRight) {
  for (const std::string& sql :
       {Function("a int, b text", "int", "DECLARE x int := 1; BEGIN RETURN a + x; END"),
        Function("", "void", "BEGIN PERFORM 1; EXCEPTION WHEN others THEN NULL; END"),
        Function("a int", "void",
                 "<<l>> BEGIN FOR i IN 1..a LOOP RAISE NOTICE '%', i; END LOOP; END"),
        std::string("DO $$BEGIN NULL; END$$"), std::string("SELECT 1")}) {
    const PgQueryPlpgsqlParseResult library = pg_query_parse_plpgsql(sql.c_str());
    ASSERT_EQ(library.error, nullptr) << sql;
    EXPECT_EQ(Tree(sql), library.plpgsql_funcs) << sql;
    pg_query_free_plpgsql_parse_result(library);
  }
}

TEST(ParsePlpgsql, TriggersAreValidJson) {
  EXPECT_THAT(Tree(Function("", "trigger", "BEGIN RETURN NEW; END")), HasSubstr("\"new\""));
  EXPECT_THAT(Tree(Function("", "event_trigger", "BEGIN RAISE NOTICE '%', tg_tag; END")),
              HasSubstr("PLpgSQL_stmt_raise"));
}

TEST(ParsePlpgsql, ArgumentsMayBeOfAnySchemaAndVariadic) {
  EXPECT_THAT(Tree(Function("a s.t", "void", "BEGIN END")), HasSubstr("\"refname\":\"a\""));
  EXPECT_THAT(Tree(Function("VARIADIC a int[]", "int", "BEGIN RETURN 1; END")),
              HasSubstr("\"refname\":\"a\""));
  EXPECT_THAT(Tree(Function("OUT a int, INOUT b text", "record", "BEGIN a := 1; END")),
              HasSubstr("PLpgSQL_stmt_assign"));
}

TEST(ParsePlpgsql, FunctionsWithoutTextAreAnError) {
  EXPECT_THAT(Tree("CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql RETURN 1"),
              HasSubstr("error: "));
  EXPECT_THAT(Tree("CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql"),
              HasSubstr("no function body specified"));
}

TEST(ParsePlpgsql, ErrorsInTheBodyAreErrors) {
  EXPECT_THAT(Tree(Function("", "int", "BEGIN RETURN 1 END")), HasSubstr("error: "));
  EXPECT_THAT(Tree(Function("", "int", "BEGIN x := ; END")), HasSubstr("error: "));
  EXPECT_THAT(Tree("SELECT 1 FORM x"), HasSubstr("error: syntax error"));
}

}  // namespace
}  // namespace pgparsed::grammar
