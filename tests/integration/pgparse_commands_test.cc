// Every command of pgparse against a real server.
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "pgparse_process.h"
#include "test_server.h"

namespace pgparsed::test {
namespace {

using Json = nlohmann::json;

class PgparseCommands : public ::testing::Test {
 protected:
  void SetUp() override {
    started_ = StartTestServer();
    ASSERT_NE(started_.client, nullptr);
    const auto grammars = started_.client->ListGrammars();
    ASSERT_TRUE(grammars.ok());
    features_ = grammars->grammars(0).features();
    major_ = grammars->grammars(0).major();
  }

  PgparseResult Run(std::vector<std::string> arguments, const std::string& input = "") {
    PgparseRun run;
    run.arguments = std::move(arguments);
    run.input = input;
    run.environment = {"PGPARSED_ADDRESS=" + started_.server->address()};
    return RunPgparse(place_, run);
  }

  // The standard output of a run that must succeed without a word on standard error.
  std::string Answer(std::vector<std::string> arguments, const std::string& input = "") {
    const PgparseResult result = Run(std::move(arguments), input);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.err, "");
    return result.out;
  }

  Workplace place_;
  TestServer started_;
  v1::GrammarFeatures features_;
  uint32_t major_ = 0;
};

TEST_F(PgparseCommands, ParsePrintsTheTreeAsTheLibraryDoes) {
  const std::string tree = Answer({"parse", "SELECT 1"});
  EXPECT_EQ(tree, *started_.client->ParseJson("SELECT 1") + "\n");
  const Json json = Json::parse(Answer({"parse", "--json", "SELECT 1"}));
  EXPECT_EQ(json["tree"], Json::parse(tree));
  EXPECT_EQ(json["grammar"], major_);
}

TEST_F(PgparseCommands, TheTextMayComeFromAFileOrStandardInput) {
  const std::string tree = Answer({"parse", "SELECT 1"});
  EXPECT_EQ(Answer({"parse"}, "SELECT 1"), tree);
  EXPECT_EQ(Answer({"parse", "-"}, "SELECT 1"), tree);
  EXPECT_EQ(Answer({"parse", "-f", "-"}, "SELECT 1"), tree);
  EXPECT_EQ(Answer({"parse", "-f", place_.File("q.sql", "SELECT 1")}), tree);
  EXPECT_EQ(Answer({"parse", "-f", place_.File("bom.sql", "\xEF\xBB\xBFSELECT 1")}), tree);
  EXPECT_EQ(Json::parse(Answer({"parse"}, ""))["stmts"].size(), 0u);
}

TEST_F(PgparseCommands, ParsePrintsAViewForPeople) {
  const std::string view = Answer({"parse", "--format", "tree", "SELECT a FROM t"});
  EXPECT_NE(view.find("\n  stmt: SelectStmt "), std::string::npos) << view;
  EXPECT_NE(view.find("val: ColumnRef fields=[\"a\"] @7\n"), std::string::npos) << view;
  EXPECT_EQ(view.find('\x1B'), std::string::npos);
}

TEST_F(PgparseCommands, ParsePrintsColumnsAsATable) {
  const std::string table = Answer({"parse", "--format", "columnar", "SELECT a FROM t"});
  EXPECT_NE(table.find("\n       0        0  RawStmt"), std::string::npos) << table;
  EXPECT_NE(table.find("7        ColumnRef "), std::string::npos) << table;
  EXPECT_NE(table.find(" sval=\"a\"\n"), std::string::npos) << table;
}

TEST_F(PgparseCommands, AProtobufTreeGoesThroughAPipeToDeparse) {
  const std::string tree = Answer({"parse", "--format", "protobuf", "select  1 ,2"});
  EXPECT_EQ(tree, *started_.client->ParseProtobuf("select  1 ,2"));
  EXPECT_EQ(Answer({"deparse"}, tree), "SELECT 1, 2\n");
  EXPECT_EQ(Answer({"deparse", "-f", place_.File("tree", tree)}), "SELECT 1, 2\n");
  EXPECT_EQ(Json::parse(Answer({"deparse", "--json"}, tree))["query"], "SELECT 1, 2");
}

TEST_F(PgparseCommands, DeparsePrintsPrettilyWhereTheGrammarCan) {
  if (!features_.pretty_print()) GTEST_SKIP() << "the default grammar has no pretty printer";
  const std::string tree = Answer({"parse", "--format", "protobuf", "SELECT a, b FROM t"});
  EXPECT_EQ(Answer({"deparse"}, tree), "SELECT a, b FROM t\n");
  EXPECT_EQ(Answer({"deparse", "--pretty"}, tree), "SELECT a, b\nFROM t\n");
  EXPECT_EQ(Answer({"deparse", "--trailing-newline"}, tree), "SELECT a, b\nFROM t\n");
}

TEST_F(PgparseCommands, FingerprintPrintsSixteenDigits) {
  const std::string fingerprint = Answer({"fingerprint", "SELECT 1"});
  EXPECT_EQ(fingerprint.size(), 17u);
  EXPECT_EQ(fingerprint, Answer({"fingerprint", "select  2"}));
  EXPECT_NE(fingerprint, Answer({"fingerprint", "SELECT 1 FROM t"}));
  EXPECT_EQ(Json::parse(Answer({"fingerprint", "--json", "SELECT 1"}))["fingerprint"],
            fingerprint.substr(0, 16));
}

TEST_F(PgparseCommands, FingerprintOptionsArePassedOn) {
  if (!features_.fingerprint_options()) GTEST_SKIP() << "the default grammar has none";
  const std::string with =
      Answer({"fingerprint", "--fingerprint-full-relname", "SELECT * FROM t_2024"});
  EXPECT_NE(with, Answer({"fingerprint", "SELECT * FROM t_2024"}));
}

TEST_F(PgparseCommands, NormalizePutsParametersForConstants) {
  EXPECT_EQ(Answer({"normalize", "SELECT a FROM t WHERE b = 'x'"}),
            "SELECT a FROM t WHERE b = $1\n");
  EXPECT_EQ(Json::parse(Answer({"normalize", "--json", "SELECT 1"}))["query"], "SELECT $1");
}

TEST_F(PgparseCommands, NormalizeCanLeaveQueriesAlone) {
  if (!features_.normalize_utility()) GTEST_SKIP() << "the default grammar cannot";
  EXPECT_EQ(Answer({"normalize", "--utility-only", "SELECT 1"}), "SELECT 1\n");
  EXPECT_EQ(Answer({"normalize", "--utility-only", "CREATE ROLE r PASSWORD 'x'"}),
            "CREATE ROLE r PASSWORD $1\n");
}

TEST_F(PgparseCommands, ScanPrintsTokensWithTheirPlaces) {
  const std::string table = Answer({"scan", "SELECT 'x'"});
  EXPECT_NE(table.find("SELECT"), std::string::npos);
  EXPECT_NE(table.find("SCONST"), std::string::npos);
  // é is two bytes of UTF-8 and one unit of UTF-16.
  const auto end = [&](const char* unit) {
    const std::string out = Answer({"scan", "--json", "--positions", unit, "SELECT '\xC3\xA9'"});
    return Json::parse(out)["tokens"][1]["end"];
  };
  EXPECT_EQ(end("utf8"), 11);
  EXPECT_EQ(end("utf16"), 10);
  EXPECT_EQ(end("utf32"), 10);
}

TEST_F(PgparseCommands, SplitPrintsStatementsWithTheirText) {
  for (const char* method : {"parser", "scanner"}) {
    const std::string out =
        Answer({"split", "--json", "--method", method, "SELECT '\xC3\xA9'; SELECT 2"});
    const Json pieces = Json::parse(out)["pieces"];
    ASSERT_EQ(pieces.size(), 2u) << method;
    EXPECT_EQ(pieces[0]["text"], "SELECT '\xC3\xA9'");
    EXPECT_NE(pieces[1]["text"].get<std::string>().find("SELECT 2"), std::string::npos);
  }
  EXPECT_NE(Answer({"split", "SELECT 1; SELECT 2"}).find("SELECT 2"), std::string::npos);
}

TEST_F(PgparseCommands, FormatPrintsTheSqlAgain) {
  if (!features_.pretty_print()) {
    EXPECT_EQ(Answer({"format", "select  1"}), "SELECT 1\n");
    return;
  }
  EXPECT_EQ(Answer({"format", "select a,b from t"}), "SELECT a, b\nFROM t\n");
  EXPECT_NE(Answer({"format", "--commas-start", "--max-line-length", "10", "--indent", "2",
                    "select aaaaaa,bbbbbb from t"})
                .find("\n  ,"),
            std::string::npos);
  EXPECT_NE(Answer({"format", "select 1 -- one\n"}).find("-- one"), std::string::npos);
  EXPECT_EQ(Answer({"format", "--drop-comments", "select 1 -- one\n"}), "SELECT 1\n");
}

TEST_F(PgparseCommands, AnalyzePrintsWhatIsAskedFor) {
  EXPECT_EQ(Answer({"analyze", "--operations", "normalize,fingerprint", "SELECT 1"}),
            "[normalize]\nSELECT $1\n\n[fingerprint]\n" + Answer({"fingerprint", "SELECT 1"}));
  const Json json = Json::parse(Answer({"analyze", "--json", "SELECT 1"}));
  EXPECT_EQ(json["normalized_query"], "SELECT $1");
  EXPECT_TRUE(json["tree"].is_object());
  EXPECT_EQ(json["errors"].size(), 0u);
}

TEST_F(PgparseCommands, PlpgsqlPrintsTheTreeOfAFunctionBody) {
  const std::string sql = "DO $$ BEGIN RAISE NOTICE 'x'; END $$";
  EXPECT_TRUE(Json::parse(Answer({"plpgsql", sql})).is_array());
  EXPECT_NE(Answer({"plpgsql", "--format", "tree", sql}).find("PLpgSQL_stmt_raise"),
            std::string::npos);
  EXPECT_TRUE(Json::parse(Answer({"plpgsql", "--json", sql}))["functions"].is_array());
}

TEST_F(PgparseCommands, CommentsPrintsCommentsWithTheirPlaces) {
  if (!features_.comments()) GTEST_SKIP() << "the default grammar extracts none";
  EXPECT_NE(Answer({"comments", "SELECT 1 -- one\n"}).find("-- one"), std::string::npos);
  const Json json = Json::parse(Answer({"comments", "--json", "SELECT 1 -- one\n"}));
  EXPECT_EQ(json["comments"].size(), 1u);
}

TEST_F(PgparseCommands, SummarizePrintsTables) {
  if (!features_.summary()) GTEST_SKIP() << "the default grammar has no summary";
  EXPECT_NE(Answer({"summarize", "SELECT * FROM s.t WHERE x = 1"}).find("s.t (read)"),
            std::string::npos);
  const Json json = Json::parse(Answer({"summarize", "--json", "SELECT * FROM t"}));
  EXPECT_EQ(json["summary"]["tables"][0]["name"], "t");
}

TEST_F(PgparseCommands, GrammarsListsTheDefaultFirst) {
  const std::string table = Answer({"grammars"});
  EXPECT_NE(table.find(absl::StrCat("\n", major_, "* ")), std::string::npos) << table;
  const Json json = Json::parse(Answer({"grammars", "--json"}));
  EXPECT_EQ(json["grammars"][0]["major"], major_);
  EXPECT_TRUE(json["limits"]["max_query_bytes"].is_number());
}

TEST_F(PgparseCommands, EveryGrammarAnswersForItself) {
  for (const uint32_t grammar : Grammars(*started_.client)) {
    const std::string major = std::to_string(grammar);
    EXPECT_EQ(Json::parse(Answer({"parse", "--json", "--grammar", major, "SELECT 1"}))["grammar"],
              grammar);
  }
}

TEST_F(PgparseCommands, SchemaPrintsTheProtoTextOrADescriptorSet) {
  EXPECT_NE(Answer({"schema"}).find("message ParseResult"), std::string::npos);
  EXPECT_NE(Answer({"schema", "--format", "descriptor"}).find("pg_query"), std::string::npos);
  const Json json = Json::parse(Answer({"schema", "--json"}));
  EXPECT_GT(json["nodes"].size(), 100u);
  EXPECT_GT(json["tokens"].size(), 100u);
}

TEST_F(PgparseCommands, TimingStandsOnStandardErrorOrInTheJson) {
  const PgparseResult result = Run({"parse", "--timing", "SELECT 1"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_TRUE(result.err.starts_with("timing: queue ")) << result.err;
  EXPECT_TRUE(Json::parse(result.out).is_object());
  EXPECT_TRUE(
      Json::parse(Answer({"parse", "--timing", "--json", "SELECT 1"}))["timing"].is_object());
}

TEST_F(PgparseCommands, BinaryIsNotWrittenToATerminal) {
  if (!HasPseudoTerminals()) GTEST_SKIP() << "this system has no pseudo-terminals";
  PgparseRun run;
  run.arguments = {"parse", "--format", "protobuf", "SELECT 1"};
  run.environment = {"PGPARSED_ADDRESS=" + started_.server->address()};
  run.on_a_terminal = true;
  const PgparseResult result = RunPgparse(place_, run);
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.out.find("is binary and not for a terminal"), std::string::npos) << result.out;
}

TEST_F(PgparseCommands, ColoursAreForTerminalsAndNoColorTurnsThemOff) {
  if (!HasPseudoTerminals()) GTEST_SKIP() << "this system has no pseudo-terminals";
  PgparseRun run;
  run.arguments = {"parse", "--format", "tree", "SELECT 1"};
  run.environment = {"PGPARSED_ADDRESS=" + started_.server->address()};
  run.on_a_terminal = true;
  EXPECT_NE(RunPgparse(place_, run).out.find("\x1B["), std::string::npos);
  run.environment.push_back("NO_COLOR=1");
  EXPECT_EQ(RunPgparse(place_, run).out.find("\x1B["), std::string::npos);
}

}  // namespace
}  // namespace pgparsed::test
