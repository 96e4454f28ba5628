// One raw parse gives what the library's one-shot functions give, byte for byte.
#include "grammar/parsed_query.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pg_query.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "grammar/operations.h"

namespace pgparsed::grammar {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The pieces between semicolons of every SQL file of the corpus: statements, and halves of them,
// which are errors of many kinds. Every `step`th of them.
std::vector<std::string> CorpusPieces(size_t step) {
  std::vector<std::filesystem::path> files;
  if (std::filesystem::exists(PGPARSED_CORPUS)) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(PGPARSED_CORPUS)) {
      if (entry.path().extension() == ".sql") files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  std::vector<std::string> pieces;
  size_t seen = 0;
  for (const auto& file : files) {
    std::ifstream in(file, std::ios::binary);
    std::string piece;
    while (std::getline(in, piece, ';')) {
      if (piece.find('\0') == std::string::npos && seen++ % step == 0) pieces.push_back(piece);
    }
  }
  return pieces;
}

void ExpectSameError(const GrammarError& ours, const PgQueryError* library,
                     const std::string& sql) {
  ASSERT_NE(library, nullptr) << sql;
  EXPECT_EQ(ours.message, library->message) << sql;
  EXPECT_EQ(ours.cursor, static_cast<uint32_t>(library->cursorpos)) << sql;
  EXPECT_EQ(ours.source_function, library->funcname) << sql;
  EXPECT_EQ(ours.source_file, library->filename) << sql;
  EXPECT_EQ(ours.source_line, static_cast<uint32_t>(library->lineno)) << sql;
  EXPECT_EQ(ours.context, library->context != nullptr ? library->context : "") << sql;
  EXPECT_TRUE(ours.from_postgres) << sql;
}

void ExpectSameAsLibrary(const std::string& sql) {
  auto query = ParsedQuery::Parse(sql.c_str(), {});

  const PgQueryParseResult json = pg_query_parse(sql.c_str());
  const PgQueryProtobufParseResult protobuf = pg_query_parse_protobuf(sql.c_str());
  const PgQueryFingerprintResult fingerprint = pg_query_fingerprint(sql.c_str());
  const PgQuerySplitResult split = pg_query_split_with_parser(sql.c_str());
  if (!query.ok()) {
    ExpectSameError(query.error(), json.error, sql);
    ExpectSameError(query.error(), protobuf.error, sql);
    ExpectSameError(query.error(), fingerprint.error, sql);
    ExpectSameError(query.error(), split.error, sql);
  } else {
    ASSERT_EQ(json.error, nullptr) << sql;
    EXPECT_EQ(query.value()->LibraryJson().value(), json.parse_tree) << sql;
    EXPECT_EQ(query.value()->LibraryProtobuf().value(),
              std::string_view(protobuf.parse_tree.data, protobuf.parse_tree.len))
        << sql;
    EXPECT_EQ(query.value()->Fingerprint({}).value(), fingerprint.fingerprint) << sql;
    const Pieces pieces = query.value()->Split();
    ASSERT_EQ(pieces.start.size(), static_cast<size_t>(split.n_stmts)) << sql;
    for (int i = 0; i < split.n_stmts; ++i) {
      EXPECT_EQ(pieces.start[i], static_cast<uint32_t>(split.stmts[i]->stmt_location)) << sql;
      EXPECT_EQ(pieces.length[i], static_cast<uint32_t>(split.stmts[i]->stmt_len)) << sql;
    }
  }
  pg_query_free_parse_result(json);
  pg_query_free_protobuf_parse_result(protobuf);
  pg_query_free_fingerprint_result(fingerprint);
  pg_query_free_split_result(split);
}

TEST(ParsedQuery, EqualsTheOneShotFunctionsOverTheCorpus) {
  const std::vector<std::string> pieces = CorpusPieces(8);
  if (pieces.empty()) GTEST_SKIP() << "there is no corpus at " << PGPARSED_CORPUS;
  for (const std::string& piece : pieces) {
    ExpectSameAsLibrary(piece);
    if (testing::Test::HasFailure()) return;
  }
  RecordProperty("statements", static_cast<int>(pieces.size()));
}

TEST(ParsedQuery, EqualsTheOneShotFunctionsForTextsWithoutStatements) {
  for (const char* sql : {"", " ", ";", ";;", "-- comment", "/* a */ ; -- b\n"}) {
    ExpectSameAsLibrary(sql);
  }
}

TEST(ParsedQuery, EqualsTheOneShotFunctionsForSeveralStatements) {
  ExpectSameAsLibrary("SELECT 1; UPDATE t SET a = 'é' WHERE b = $1; ; CREATE TABLE x (y int)");
}

TEST(ParsedQuery, ResultsLiveSideBySide) {
  auto first = ParsedQuery::Parse("SELECT 1", {});
  auto second = ParsedQuery::Parse("SELECT 2", {});
  const std::string_view json = first.value()->LibraryJson().value();
  const std::string copy(json);
  const std::string_view protobuf = first.value()->LibraryProtobuf().value();
  const std::string protobuf_copy(protobuf);
  second.value()->LibraryJson();
  second.value()->LibraryProtobuf();
  Normalize("SELECT 3", false);
  EXPECT_EQ(first.value()->LibraryJson().value(), copy);
  EXPECT_EQ(json, copy);
  EXPECT_EQ(protobuf, protobuf_copy);
}

TEST(ParsedQuery, ReportsWhereTheErrorIs) {
  const auto query = ParsedQuery::Parse("SELECT 'éééé' FROM @", {});
  ASSERT_FALSE(query.ok());
  EXPECT_EQ(query.error().reason, Reason::kSqlSyntaxError);
  EXPECT_EQ(query.error().cursor, 20u);
  EXPECT_EQ(query.error().message, "syntax error at or near \"@\"");
}

TEST(ParsedQuery, ReadsTheModesThatTheGrammarHas) {
  const ParserOptions expression{.mode = ParseMode::kPlpgsqlExpr};
  auto query = ParsedQuery::Parse("a + 1", expression);
  if (!kFeatures.parser_options) {
    ASSERT_FALSE(query.ok());
    EXPECT_EQ(query.error().reason, Reason::kUnsupportedOption);
    return;
  }
  ASSERT_TRUE(query.ok()) << query.error().message;
  EXPECT_THAT(query.value()->LibraryJson().value(), HasSubstr("A_Expr"));
  EXPECT_TRUE(ParsedQuery::Parse("numeric(10,2)[]", {.mode = ParseMode::kTypeName}).ok());
  EXPECT_TRUE(ParsedQuery::Parse("a := 1", {.mode = ParseMode::kPlpgsqlAssign1}).ok());
  EXPECT_TRUE(ParsedQuery::Parse("a.b := 1", {.mode = ParseMode::kPlpgsqlAssign2}).ok());
  EXPECT_TRUE(ParsedQuery::Parse("a.b.c := 1", {.mode = ParseMode::kPlpgsqlAssign3}).ok());
  EXPECT_FALSE(ParsedQuery::Parse("a + 1", {}).ok());
}

TEST(ParsedQuery, TakesTheScannersSettings) {
  if (!kFeatures.parser_options) GTEST_SKIP() << "this grammar has no parser options";
  const char* const sql = R"(SELECT 'a\'b')";
  EXPECT_FALSE(ParsedQuery::Parse(sql, {}).ok());
  EXPECT_TRUE(ParsedQuery::Parse(sql, {.standard_conforming_strings = false}).ok());
  EXPECT_FALSE(
      ParsedQuery::Parse(sql, {.backslash_quote = false, .standard_conforming_strings = false})
          .ok());
  // Neither a success nor an error leaves a setting behind.
  EXPECT_FALSE(ParsedQuery::Parse(sql, {}).ok());
  EXPECT_FALSE(Scan(sql, {}).ok());
}

TEST(ParsedQuery, TakesFingerprintOptions) {
  const auto fingerprint = [](const char* sql, const FingerprintOptions& options) {
    return ParsedQuery::Parse(sql, {}).value()->Fingerprint(options);
  };
  const FingerprintOptions with_schema{.ignore_aliases = true, .include_schema = true};
  if (!kFeatures.fingerprint_options) {
    EXPECT_EQ(fingerprint("SELECT 1", with_schema).error().reason, Reason::kUnsupportedOption);
    return;
  }
  EXPECT_EQ(fingerprint("SELECT * FROM a.t", {}).value(),
            fingerprint("SELECT * FROM b.t", {}).value());
  EXPECT_NE(fingerprint("SELECT * FROM a.t", with_schema).value(),
            fingerprint("SELECT * FROM b.t", with_schema).value());
  const FingerprintOptions full{.full_relname = true};
  EXPECT_EQ(fingerprint("SELECT * FROM t_2024_01", {}).value(),
            fingerprint("SELECT * FROM t_2024_02", {}).value());
  EXPECT_NE(fingerprint("SELECT * FROM t_2024_01", full).value(),
            fingerprint("SELECT * FROM t_2024_02", full).value());
}

TEST(ParsedQuery, FormatsStatements) {
  auto query = ParsedQuery::Parse("select  1 ;  select a from t where b=2", {});
  const Layout layout{.pretty = kFeatures.pretty_print};
  const std::string_view formatted = query.value()->Format(layout, true, true).value();
  EXPECT_EQ(formatted, kFeatures.pretty_print ? "SELECT 1;\n\nSELECT a\nFROM t\nWHERE b = 2"
                                              : "SELECT 1; SELECT a FROM t WHERE b = 2");
}

// faults.jsonl: format-trailing-comment.
TEST(ParsedQuery, NeverCommentsTheNextStatementOut) {
  if (!kFeatures.comments) GTEST_SKIP() << "this grammar drops comments";
  for (const bool pretty : {false, true}) {
    auto query = ParsedQuery::Parse("SELECT a FROM t WHERE x = 1 -- w\n;\nSELECT 2 -- end", {});
    const std::string formatted(query.value()->Format({.pretty = pretty}, true, true).value());
    EXPECT_THAT(formatted, HasSubstr("-- w\n"));
    EXPECT_TRUE(formatted.ends_with("-- end")) << formatted;
    auto again = ParsedQuery::Parse(formatted.c_str(), {});
    ASSERT_TRUE(again.ok()) << formatted;
    EXPECT_EQ(again.value()->Split().start.size(), 2u) << formatted;
  }
}

TEST(ParsedQuery, KeepsAllComments) {
  if (!kFeatures.comments) GTEST_SKIP() << "this grammar drops comments";
  auto query = ParsedQuery::Parse(
      "-- head\nSELECT a, /* in */ b FROM t; -- after\n\n/* before */ SELECT 2; -- end\n", {});
  EXPECT_EQ(
      query.value()->Format({.pretty = true, .trailing_newline = true}, true, true).value(),
      "-- head\nSELECT\n    a,\n    /* in */b\nFROM t;\n\n-- after\n\n/* before */\nSELECT 2\n"
      "-- end\n");
  EXPECT_EQ(query.value()->Format({.pretty = true}, false, true).value(),
            "SELECT a, b\nFROM t;\n\nSELECT 2");
  auto comments_only = ParsedQuery::Parse("-- one\n/* two */", {});
  EXPECT_EQ(comments_only.value()->Format({.pretty = true}, true, true).value(), "-- one\n/* two */");
}

}  // namespace
}  // namespace pgparsed::grammar
