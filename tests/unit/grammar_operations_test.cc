#include "grammar/operations.h"
#include "grammar/plpgsql.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "grammar/deparse.h"
#include "grammar/parsed_query.h"

namespace pgparsed::grammar {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Normalize, ReplacesConstants) {
  EXPECT_EQ(Normalize("SELECT a FROM t WHERE b = 1 AND c = 'x'", false).value().view(),
            "SELECT a FROM t WHERE b = $1 AND c = $2");
}

TEST(Normalize, ChangesUtilityStatementsOnlyWhereTheGrammarCan) {
  const auto result = Normalize("SELECT 1; CREATE ROLE a PASSWORD 'secret'", true);
  if (!kFeatures.normalize_utility) {
    EXPECT_EQ(result.error().reason, Reason::kUnsupportedOption);
    return;
  }
  EXPECT_EQ(result.value().view(), "SELECT 1; CREATE ROLE a PASSWORD $1");
}

TEST(Normalize, ReportsErrorsWithTheirPlace) {
  const auto result = Normalize("SELECT 'é' FROM @", false);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().reason, Reason::kSqlSyntaxError);
  EXPECT_EQ(result.error().cursor, 17u);
}

TEST(ParsePlpgsql, GivesATree) {
  const auto result =
      ParsePlpgsql("CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $$BEGIN RETURN 1; END$$");
  EXPECT_THAT(result.value().view(), HasSubstr("PLpgSQL_stmt_return"));
  EXPECT_EQ(ParsePlpgsql("SELECT 1").value().view(), "[]");
}

TEST(ParsePlpgsql, ReportsErrorsWithContext) {
  const auto result = ParsePlpgsql("DO $$BEGIN SELECT 1 FORM x; END$$");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().reason, Reason::kSqlSyntaxError);
  EXPECT_THAT(result.error().context, HasSubstr("PL/pgSQL"));
}

// faults.jsonl: plpgsql-no-body and plpgsql-sql-body, which abort the library of 15 and 17.
TEST(ParsePlpgsql, SurvivesFunctionsWithoutText) {
  const auto no_body = ParsePlpgsql("CREATE PROCEDURE p() LANGUAGE plpgsql");
  ASSERT_FALSE(no_body.ok());
  EXPECT_EQ(no_body.error().reason, Reason::kSqlSyntaxError);
  EXPECT_THAT(no_body.error().message, HasSubstr("no function body specified"));
  ParsePlpgsql("CREATE FUNCTION add(a int, b int) RETURNS int LANGUAGE sql RETURN a + b");
}

// faults.jsonl: scan-multibyte.
TEST(Scan, GivesTokensAsColumns) {
  const Tokens tokens = Scan("SELECT 'ışığ', tablo FROM ü", {}).value();
  EXPECT_THAT(tokens.start, ElementsAre(0, 7, 17, 19, 25, 30));
  EXPECT_THAT(tokens.end, ElementsAre(6, 17, 18, 24, 29, 32));
  EXPECT_THAT(tokens.keyword, ElementsAre(4, 0, 0, 0, 4, 0));
  std::vector<std::string_view> names;
  for (const uint32_t index : tokens.name) names.push_back(tokens.names.at(index));
  EXPECT_THAT(names, ElementsAre("SELECT", "SCONST", "ASCII_44", "IDENT", "FROM", "IDENT"));
  EXPECT_THAT(tokens.names, ElementsAre("SELECT", "SCONST", "ASCII_44", "IDENT", "FROM"));
}

TEST(Scan, TakesAnEmptyTextAndComments) {
  EXPECT_TRUE(Scan("", {}).value().start.empty());
  const Tokens tokens = Scan("/* a */ -- b", {}).value();
  EXPECT_THAT(tokens.names, ElementsAre("C_COMMENT", "SQL_COMMENT"));
}

TEST(Scan, ReportsErrorsWithTheirPlace) {
  const auto result = Scan("SELECT 'abc", {});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().cursor, 8u);
}

TEST(SplitWithScanner, FindsStatements) {
  const Pieces pieces = SplitWithScanner("SELECT 1; SELECT 'a;b'", {}).value();
  EXPECT_THAT(pieces.start, ElementsAre(0, 9));
  EXPECT_THAT(pieces.length, ElementsAre(8, 13));
  EXPECT_TRUE(SplitWithScanner("", {}).value().start.empty());
  EXPECT_FALSE(SplitWithScanner("SELECT 'open; ", {}).ok());
}

TEST(ExtractComments, FindsCommentsWhereTheGrammarCan) {
  const auto result = ExtractComments("-- a\nSELECT 1 /* b */", {});
  if (!kFeatures.comments) {
    EXPECT_EQ(result.error().reason, Reason::kUnsupportedOption);
    return;
  }
  const std::vector<Comment>& comments = result.value().comments();
  ASSERT_EQ(comments.size(), 2u);
  EXPECT_EQ(comments[0].text, "-- a");
  EXPECT_EQ(comments[0].match_location, 0);
  EXPECT_EQ(comments[0].newlines_after, 1u);
  EXPECT_EQ(comments[1].text, "/* b */");
}

// The bytes of a pgparsed.v1.Summary, written by hand.
TEST(Summarize, FoldsEqualEntries) {
  const auto result =
      Summarize("SELECT f(1), f(2) FROM s.t a JOIN s.t b ON a.x = b.x; SELECT 1", {}, 0);
  using std::string_literals::operator""s;
  const std::string& summary = result.value();
  // Table: schema = 1, name = 2, context = 3 (SELECT), count = 4.
  EXPECT_THAT(summary, HasSubstr("\x0a\x0a\x0a\x01s\x12\x01t\x18\x01\x20"s));
  // Alias: alias = 1, table = 2; by name.
  EXPECT_THAT(summary, HasSubstr("\x12\x08\x0a\x01"
                                 "a\x12\x03s.t\x12\x08\x0a\x01"
                                 "b\x12\x03s.t"s));
  // Function: name = 2, context = 3 (CALL), count = 4.
  EXPECT_THAT(summary, HasSubstr("\x22\x07\x12\x01"
                                 "f\x18\x04\x20\x02"s));
  EXPECT_THAT(summary, HasSubstr("\x32\x0aSelectStmt"s));
}

TEST(Summarize, TruncatesTheText) {
  const std::string sql = "SELECT aaaaaaaaaaaaaaaa, bbbbbbbbbbbbbbbb, cccccccccccccc FROM t";
  EXPECT_THAT(Summarize(sql.c_str(), {}, 40).value(), HasSubstr("..."));
  EXPECT_THAT(Summarize("SELECT 1 FORM x", {}, 0).error().message, HasSubstr("syntax error"));
}

class DeparseProtobufTest : public testing::Test {
 protected:
  std::string TreeOf(const char* sql) {
    auto query = ParsedQuery::Parse(sql, {});
    return std::string(query.value()->LibraryProtobuf().value());
  }

  LibraryScope scope_;
  std::vector<LibraryText> results_;
};

TEST_F(DeparseProtobufTest, PrintsStatements) {
  const std::string tree = TreeOf("select a  from t;  select 2");
  EXPECT_EQ(DeparseByLibrary(scope_, tree, {}, {}, results_).value(), "SELECT a FROM t; SELECT 2");
  EXPECT_EQ(DeparseByLibrary(scope_, "", {}, {}, results_).value(), "");
}

TEST_F(DeparseProtobufTest, TakesAllLayoutOptionsWhereTheGrammarCan) {
  const std::string tree = TreeOf("SELECT aaaa, bbbb, cccc FROM t");
  const Layout layout{.pretty = true,
                      .indent_size = 2,
                      .max_line_length = 10,
                      .trailing_newline = true,
                      .commas_start_of_line = true};
  const auto result = DeparseByLibrary(scope_, tree, layout, {}, results_);
  if (!kFeatures.pretty_print) {
    EXPECT_EQ(result.error().reason, Reason::kUnsupportedOption);
    return;
  }
  EXPECT_EQ(result.value(), "SELECT\n  aaaa\n  , bbbb\n  , cccc\nFROM t\n");
}

TEST_F(DeparseProtobufTest, PlacesComments) {
  const std::string tree = TreeOf("SELECT a, b FROM t");
  const std::vector<Comment> comments = {{.match_location = 10, .text = "-- note"}};
  const auto result = DeparseByLibrary(scope_, tree, {}, comments, results_);
  if (!kFeatures.comments) {
    EXPECT_EQ(result.error().reason, Reason::kUnsupportedOption);
    return;
  }
  const std::string sql(result.value());
  EXPECT_THAT(sql, HasSubstr("-- note\n"));
  EXPECT_TRUE(ParsedQuery::Parse(sql.c_str(), {}).ok()) << sql;
  EXPECT_EQ(TreeOf("SELECT a, b FROM t").size(), tree.size());
}

TEST_F(DeparseProtobufTest, RefusesMalformedTrees) {
  for (const std::string& tree :
       {std::string("garbage"), std::string("\xff\xff\xff"), TreeOf("SELECT 1").substr(0, 5)}) {
    const auto result = DeparseByLibrary(scope_, tree, {}, {}, results_);
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().reason, Reason::kInvalidTree);
  }
}

TEST(GrammarIdentity, NamesTheGrammar) {
  const Identity identity = GrammarIdentity();
  EXPECT_EQ(identity.major, static_cast<uint32_t>(PGPARSED_GRAMMAR));
  EXPECT_EQ(identity.postgres_version_num / 10000, identity.major);
  EXPECT_TRUE(identity.postgres_version.starts_with(std::to_string(identity.major)));
  EXPECT_FALSE(identity.library_version.empty());
}

}  // namespace
}  // namespace pgparsed::grammar
