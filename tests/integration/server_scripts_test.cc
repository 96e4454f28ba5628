// ParseScript of a running server.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "pgparsed/errors.h"
#include "test_server.h"

namespace pgparsed {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// What came of one script: the columns of all answers, joined.
struct Script {
  std::vector<std::string> pieces;  // "kind line text"
  std::vector<std::string> normalized;
  std::vector<v1::ItemError> errors;  // items count through the whole script
  std::vector<uint64_t> copy_rows;    // of pieces of COPY data
  std::string text;                   // of all pieces
  bool incomplete = false;
  size_t answers = 0;
  ScriptPlace resume;
  absl::Status status;
};

char Letter(v1::PieceKind kind) {
  switch (kind) {
    case v1::PIECE_KIND_STATEMENT:
      return 's';
    case v1::PIECE_KIND_META_COMMAND:
      return 'm';
    case v1::PIECE_KIND_COPY_DATA:
      return 'd';
    case v1::PIECE_KIND_BETWEEN:
      return 'b';
    default:
      return '?';
  }
}

class ServerScripts : public test::SharedServer {
 protected:
  static v1::ParseScriptRequest::Start Normalizing(uint32_t grammar = 0) {
    v1::ParseScriptRequest::Start start;
    start.mutable_options()->set_grammar(grammar);
    start.mutable_options()->add_operations(v1::OPERATION_NORMALIZE);
    return start;
  }

  // Sends the script from start's offset on, `chunk` bytes at a time. Takes no more answers than
  // `most_answers`: with one more it fails.
  static Script Parse(std::string_view script, size_t chunk,
                      const v1::ParseScriptRequest::Start& start = Normalizing(),
                      size_t most_answers = SIZE_MAX) {
    Script result;
    size_t sent = start.start_offset();
    uint64_t next = sent;
    const auto source = [&](std::string& bytes) {
      bytes = script.substr(std::min(sent, script.size()), chunk);
      sent += bytes.size();
      return !bytes.empty();
    };
    const auto sink = [&](const v1::ParseScriptResponse& answer) {
      if (++result.answers > most_answers) return absl::AbortedError("lost");
      const auto statements = static_cast<uint32_t>(result.normalized.size());
      for (int i = 0; i < answer.offset_size(); ++i) {
        EXPECT_EQ(answer.offset(i), next) << "pieces follow each other without gaps";
        next = answer.offset(i) + answer.length(i);
        const std::string_view text = script.substr(answer.offset(i), answer.length(i));
        result.text += text;
        result.pieces.push_back(absl::StrCat(std::string(1, Letter(answer.kind(i))), " ",
                                             answer.line(i), " ", std::string(text)));
        if (answer.kind(i) == v1::PIECE_KIND_COPY_DATA) {
          result.copy_rows.push_back(answer.copy_rows(i));
        }
      }
      EXPECT_EQ(answer.statement_piece_size(),
                std::count(answer.kind().begin(), answer.kind().end(), v1::PIECE_KIND_STATEMENT));
      EXPECT_LE(answer.resume_offset(), next);
      for (const std::string& text : answer.results().normalized()) {
        result.normalized.push_back(text);
      }
      for (v1::ItemError error : answer.results().errors()) {
        error.set_item(error.item() + statements);
        result.errors.push_back(std::move(error));
      }
      result.incomplete = answer.incomplete();
      return absl::OkStatus();
    };
    result.status = client().ParseScript(start, source, sink, &result.resume);
    return result;
  }
};

constexpr std::string_view kScript =
    "-- first\n"
    "SELECT 'é;' AS a, 1;\n"
    "CREATE FUNCTION f() RETURNS int LANGUAGE sql BEGIN ATOMIC SELECT 1; SELECT 2; END;\n"
    "COPY t (a) FROM stdin;\n"
    "1\n"
    "2;\n"
    "\\.\n"
    "\\echo 'x;'\n"
    "SELECT FROM 1;\r\n"
    "DO $x$ BEGIN; $y$; END $x$;\n"
    "SELECT 2";

TEST_F(ServerScripts, PiecesAndResultsInOrderForChunksOfEverySize) {
  for (const uint32_t grammar : grammars_) {
    for (const size_t chunk : {1, 2, 3, 5, 7, 64, 1000}) {
      SCOPED_TRACE(absl::StrCat("grammar ", grammar, ", chunks of ", chunk));
      const Script script = Parse(kScript, chunk, Normalizing(grammar));
      ASSERT_TRUE(script.status.ok()) << script.status;
      EXPECT_EQ(script.text, kScript);
      EXPECT_THAT(
          script.pieces,
          ElementsAre("b 1 -- first\n", "s 2 SELECT 'é;' AS a, 1", "b 2 ;\n",
                      "s 3 CREATE FUNCTION f() RETURNS int LANGUAGE sql BEGIN ATOMIC SELECT 1; "
                      "SELECT 2; END",
                      "b 3 ;\n", "s 4 COPY t (a) FROM stdin", "b 4 ;\n", "d 5 1\n2;\n\\.\n",
                      "m 8 \\echo 'x;'", "b 8 \n", "s 9 SELECT FROM 1", "b 9 ;\r\n",
                      "s 10 DO $x$ BEGIN; $y$; END $x$", "b 10 ;\n", "s 11 SELECT 2"));
      EXPECT_THAT(script.copy_rows, ElementsAre(2u));
      ASSERT_THAT(script.normalized, SizeIs(6));
      EXPECT_EQ(script.normalized[0], "SELECT $1 AS a, $2");
      EXPECT_EQ(script.normalized[3], "") << "it has an error";
      EXPECT_EQ(script.normalized[5], "SELECT $1");
      ASSERT_THAT(script.errors, SizeIs(1));
      EXPECT_EQ(script.errors[0].item(), 3u);
    }
  }
}

TEST_F(ServerScripts, AnErrorStandsBesideItsStatement) {
  const Script script = Parse("SELECT 1;\nSELECT 'é', FROM;\nSELECT 3;", 10);
  ASSERT_TRUE(script.status.ok()) << script.status;
  EXPECT_THAT(script.normalized, ElementsAre("SELECT $1", "", "SELECT $1"));
  ASSERT_THAT(script.errors, SizeIs(1));
  EXPECT_EQ(script.errors[0].item(), 1u);
  EXPECT_EQ(script.errors[0].error().reason(), "SQL_SYNTAX_ERROR");
  EXPECT_EQ(script.errors[0].error().sql_error().position(), 13u) << "within its statement";
}

TEST_F(ServerScripts, CanBeGoneOnWithAtTheResumePoint) {
  const Script whole = Parse(kScript, 16);
  ASSERT_GT(whole.answers, 5u);
  for (size_t lost_at = 1; lost_at < whole.answers; ++lost_at) {
    Script both = Parse(kScript, 16, Normalizing(), lost_at);
    EXPECT_FALSE(both.status.ok());
    auto start = Normalizing();
    start.set_start_offset(both.resume.offset);
    start.set_start_line(both.resume.line);
    const Script rest = Parse(kScript, 16, start);
    ASSERT_TRUE(rest.status.ok()) << rest.status;
    // What was answered before the place, and the rest.
    size_t bytes = 0;
    std::vector<std::string> pieces;
    for (const std::string& piece : both.pieces) {
      bytes += piece.size() - (piece.find(' ', 2) + 1);
      if (bytes <= both.resume.offset) pieces.push_back(piece);
    }
    pieces.insert(pieces.end(), rest.pieces.begin(), rest.pieces.end());
    EXPECT_EQ(pieces, whole.pieces) << "lost at answer " << lost_at;
  }
}

TEST_F(ServerScripts, FollowsTheSettingOfBackslashesInStatements) {
  constexpr std::string_view kStrings =
      "SELECT 'a\\'; SET standard_conforming_strings = off; SELECT 'b\\';'; SELECT 2;";
  for (const uint32_t grammar : grammars_) {
    const Script script = Parse(kStrings, 5, Normalizing(grammar));
    ASSERT_TRUE(script.status.ok()) << script.status;
    ASSERT_THAT(script.pieces, SizeIs(8));
    EXPECT_EQ(script.pieces[4], "s 1 SELECT 'b\\';'");
    ASSERT_TRUE(script.resume.standard_conforming_strings.has_value());
    EXPECT_FALSE(*script.resume.standard_conforming_strings);
    if (grammar < 17) continue;  // without parser options
    EXPECT_THAT(script.errors, IsEmpty());
    EXPECT_EQ(script.normalized[2], "SELECT $1");

    auto start = Normalizing(grammar);
    start.set_start_offset(kStrings.find("SELECT 'b"));
    start.set_standard_conforming_strings(false);
    const Script rest = Parse(kStrings, 5, start);
    EXPECT_THAT(rest.normalized, ElementsAre("SELECT $1", "SELECT $1"));
    start.set_standard_conforming_strings(true);
    EXPECT_THAT(Parse(kStrings, 5, start).pieces,
                ElementsAre("s 1 SELECT 'b\\'", "b 1 ;", "s 1 '; SELECT 2;"));
  }
}

TEST_F(ServerScripts, WhatEndsInsideAStatementIsIncomplete) {
  const Script script = Parse("SELECT 1;\nSELECT 'a", 4);
  ASSERT_TRUE(script.status.ok()) << script.status;
  EXPECT_TRUE(script.incomplete);
  EXPECT_EQ(script.resume.offset, 10u);
  EXPECT_EQ(script.resume.line, 2u);
  EXPECT_FALSE(Parse("SELECT 1;\nSELECT 'a'", 4).incomplete);
}

TEST_F(ServerScripts, WithoutOperationsBoundariesOnly) {
  v1::ParseScriptRequest::Start start;
  const Script script = Parse("SELECT; FORM;", 100, start);
  ASSERT_TRUE(script.status.ok()) << script.status;
  EXPECT_THAT(script.pieces, ElementsAre("s 1 SELECT", "b 1 ; ", "s 1 FORM", "b 1 ;"));
  EXPECT_THAT(script.errors, IsEmpty());
}

TEST_F(ServerScripts, ManyStatementsInManyAnswers) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) absl::StrAppend(&text, "SELECT ", i, " AS a", i, ";\n");
  const Script script = Parse(text, 100'000);
  ASSERT_TRUE(script.status.ok()) << script.status;
  EXPECT_GT(script.answers, 20u) << "groups, not all at once";
  EXPECT_EQ(script.text, text);
  ASSERT_THAT(script.normalized, SizeIs(20'000));
  for (int i = 0; i < 20'000; ++i) {
    ASSERT_EQ(script.normalized[i], absl::StrCat("SELECT $1 AS a", i));
  }
  EXPECT_EQ(script.resume.offset, text.size());
  EXPECT_EQ(script.resume.line, 20'001u);
}

TEST_F(ServerScripts, TheBytesOfAScriptNeedNotBeText) {
  const Script script = Parse(std::string_view("SELECT '\xff';\0 SELECT 1;", 22), 3);
  ASSERT_TRUE(script.status.ok()) << script.status;
  ASSERT_THAT(script.errors, SizeIs(2));
  EXPECT_EQ(script.errors[0].error().reason(), "INVALID_QUERY_TEXT");
  EXPECT_EQ(script.errors[1].error().reason(), "INVALID_QUERY_TEXT");
}

TEST_F(ServerScripts, AnEmptyScriptHasNoPieces) {
  const Script script = Parse("", 1);
  EXPECT_TRUE(script.status.ok()) << script.status;
  EXPECT_THAT(script.pieces, IsEmpty());
}

TEST(ServerScriptLimits, AStatementThatIsTooLongCostsItselfOnly) {
  const test::TestServer server = test::StartTestServer({"--max-query-bytes=2000"});
  ASSERT_NE(server.client, nullptr);
  const std::string script =
      absl::StrCat("SELECT 1; SELECT '", std::string(5000, 'x'), "'; SELECT 3;");
  v1::ParseScriptRequest::Start start;
  start.mutable_options()->add_operations(v1::OPERATION_NORMALIZE);
  bool sent = false;
  std::vector<std::string> normalized;
  std::vector<std::string> reasons;
  const absl::Status status = server.client->ParseScript(
      start,
      [&](std::string& bytes) {
        bytes = script;
        return !std::exchange(sent, true);
      },
      [&](const v1::ParseScriptResponse& answer) {
        for (const std::string& text : answer.results().normalized()) normalized.push_back(text);
        for (const v1::ItemError& error : answer.results().errors()) {
          reasons.push_back(error.error().reason());
        }
        return absl::OkStatus();
      });
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_THAT(normalized, ElementsAre("SELECT $1", "", "SELECT $1"));
  EXPECT_THAT(reasons, ElementsAre("QUERY_TOO_LARGE"));
}

TEST_F(ServerScripts, ChunksOverTheLimitAndUnknownGrammarsAreRefused) {
  EXPECT_EQ(ReasonOf(Parse(std::string(5u << 20, ' '), 5u << 20).status), Reason::kInvalidRequest);
  EXPECT_EQ(ReasonOf(Parse("SELECT 1", 10, Normalizing(9)).status), Reason::kUnsupportedGrammar);
}

}  // namespace
}  // namespace pgparsed
