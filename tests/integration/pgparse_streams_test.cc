// pgparse batch, script, workload and stats against a real server.
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "pgparse_process.h"
#include "test_server.h"

namespace pgparsed::test {
namespace {

using Json = nlohmann::json;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

class PgparseStreams : public ::testing::Test {
 protected:
  void SetUp() override {
    started_ = StartTestServer(
        {"--admin-listen=unix:" + admin_socket_, "--max-unary-result-bytes=100000"});
    ASSERT_NE(started_.client, nullptr);
  }

  PgparseResult Run(std::vector<std::string> arguments, const std::string& input = "",
                    bool on_a_terminal = false) {
    PgparseRun run;
    run.arguments = std::move(arguments);
    run.input = input;
    run.environment = {"PGPARSED_ADDRESS=" + started_.server->address()};
    run.on_a_terminal = on_a_terminal;
    return RunPgparse(place_, run);
  }

  // Standard output of a run that must end with a status.
  std::string Out(int exit_code, std::vector<std::string> arguments,
                  const std::string& input = "") {
    arguments.push_back("--quiet");
    const PgparseResult result = Run(std::move(arguments), input);
    EXPECT_EQ(result.exit_code, exit_code) << result.err;
    return result.out;
  }

  static std::vector<Json> Lines(const std::string& text) {
    std::vector<Json> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(Json::parse(line));
    return lines;
  }

  Workplace place_;
  const std::string admin_socket_ = place_.folder() + "/admin.sock";
  TestServer started_;
};

TEST_F(PgparseStreams, BatchPrintsALineForEachQuery) {
  EXPECT_EQ(Out(0, {"batch"}, "SELECT 1\nSELECT 'a\tb', 2\n"),
            "50fde20626009aba\tSELECT $1\n50fde20626009aba\tSELECT $1, $2\n");
  EXPECT_EQ(Out(0, {"batch", "--op", "normalize"}, "SELECT 1"), "SELECT $1\n")
      << "no line end at the end";
  EXPECT_EQ(Out(0, {"batch", "--op", "format"}, "select  1\r\n"), "SELECT 1\n");
  EXPECT_EQ(Out(0, {"batch"}, ""), "");
}

TEST_F(PgparseStreams, BatchTakesNulSeparatedQueriesAndJsonLines) {
  EXPECT_EQ(
      Out(0, {"batch", "-0", "--op", "normalize"}, std::string("SELECT 1,\n 2\0SELECT 3\0", 22)),
      "SELECT $1,\\n $2\nSELECT $1\n");
  EXPECT_EQ(Out(0, {"batch", "--jsonl", "--op", "normalize"},
                "{\"query\": \"SELECT 1,\\n 2\"}\n{\"query\": \"SELECT 3\", \"other\": 1}\n"),
            "SELECT $1,\\n $2\nSELECT $1\n");
  EXPECT_EQ(Run({"batch", "-0", "--jsonl"}).exit_code, 2) << "they exclude each other";
}

TEST_F(PgparseStreams, BatchTellsErrorsByFileAndLine) {
  const std::string file = place_.File("q.txt", "SELECT 1\nSELECT FROM 1\nSELECT 2\n");
  const PgparseResult result = Run({"batch", "--op", "normalize", file});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.out, "SELECT $1\n\nSELECT $1\n");
  EXPECT_THAT(result.err, HasSubstr(file + ":2:13: error: syntax error at or near \"1\""));
  EXPECT_THAT(result.err, HasSubstr("3 queries in "));
  EXPECT_THAT(result.err, HasSubstr(", 1 failed"));
  const std::vector<Json> lines = Lines(Out(1, {"batch", "--json", file}));
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0]["fingerprint"], "50fde20626009aba");
  EXPECT_EQ(lines[1]["line"], 2);
  EXPECT_EQ(lines[1]["errors"][0]["reason"], "SQL_SYNTAX_ERROR");
  EXPECT_EQ(lines[2]["errors"].size(), 0u);
}

TEST_F(PgparseStreams, ManyQueriesComeInOrder) {
  std::string input;
  std::string expected;
  for (int i = 0; i < 5000; ++i) {
    absl::StrAppend(&input, "SELECT a", i, " + 1\n");
    absl::StrAppend(&expected, "SELECT a", i, " + $1\n");
  }
  EXPECT_EQ(Out(0, {"batch", "--op", "normalize", "--chunk", "17"}, input), expected);
}

constexpr const char* kScript =
    "SELECT 1;\n"
    "\\echo hi\n"
    "COPY t FROM stdin;\n"
    "1;\n"
    "\\.\n"
    "SELECT FROM 1;\n"
    "SELECT 2\n";

TEST_F(PgparseStreams, ScriptPrintsPiecesAndErrors) {
  const std::string file = place_.File("s.sql", kScript);
  const PgparseResult result = Run({"script", file});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.out, StartsWith("           0        1  statement     SELECT 1\n"
                                     "          10        2  meta-command  \\echo hi\n"
                                     "          19        3  statement     COPY t FROM stdin\n"));
  EXPECT_THAT(result.out, HasSubstr("copy-data     1 rows\n"));
  EXPECT_THAT(result.err, HasSubstr(file + ":6:13: error: syntax error at or near \"1\""));

  const PgparseResult check = Run({"script", "--check", "--quiet", file});
  EXPECT_EQ(check.exit_code, 1);
  EXPECT_EQ(check.out, "");
  EXPECT_THAT(check.err, HasSubstr(file + ":6:13: error:"));
  EXPECT_EQ(Run({"script", "--check", "--quiet"}, "SELECT 1;").exit_code, 0);
  EXPECT_EQ(Run({"script", "--check", "--json", file}).exit_code, 2);
}

TEST_F(PgparseStreams, ScriptAsJsonHasTheResultsThatWereAskedFor) {
  const std::vector<Json> lines =
      Lines(Out(1, {"script", "--json", "--op", "normalize", place_.File("s.sql", kScript)}));
  std::vector<std::string> kinds;
  for (const Json& line : lines) kinds.push_back(line["kind"]);
  EXPECT_THAT(kinds, testing::ElementsAre("statement", "meta-command", "statement", "copy-data",
                                          "statement", "statement"));
  EXPECT_EQ(lines[0]["normalized_query"], "SELECT $1");
  EXPECT_EQ(lines[4]["errors"][0]["reason"], "SQL_SYNTAX_ERROR");
}

TEST_F(PgparseStreams, ATreeOverTheUnaryLimitIsPrintedAllTheSame) {
  std::string sql = "SELECT 1";
  for (int i = 0; i < 2000; ++i) absl::StrAppend(&sql, ", a", i);
  const Json tree = Json::parse(Run({"parse", "-f", place_.File("q.sql", sql)}).out);
  EXPECT_EQ(tree["stmts"][0]["stmt"]["SelectStmt"]["targetList"].size(), 2001u);
}

constexpr const char* kLog =
    "{\"query\":\"SELECT 1\",\"duration_ms\":1.5,\"rows\":1}\n"
    "{\"query\":\"SELECT 2\",\"duration_ms\":2.5,\"rows\":1}\n"
    "{\"query\":\"DELETE FROM t\",\"duration_ms\":10,\"rows\":7}\n"
    "{\"query\":\"SELEC\"}\n";

TEST_F(PgparseStreams, WorkloadPrintsATableCsvAndJson) {
  const std::string log = place_.File("log.jsonl", kLog);
  const std::string table = Out(0, {"workload", log});
  EXPECT_THAT(table, HasSubstr("DELETE FROM t"));
  EXPECT_LT(table.find("DELETE FROM t"), table.find("SELECT $1")) << "by the sum of durations";
  EXPECT_THAT(table, HasSubstr("4 queries, 1 of them not parsed, 2 groups"));
  const std::string by_calls = Out(0, {"workload", "--order", "calls", log});
  EXPECT_LT(by_calls.find("SELECT $1"), by_calls.find("DELETE FROM t"));
  EXPECT_THAT(Out(0, {"workload", "--csv", log}), HasSubstr("\ngroup,50fde20626009aba,2,2,4000,"));
  const Json report = Json::parse(Out(0, {"workload", "--json", "--by", "type", log}));
  EXPECT_EQ(report["queries"], "4");
  EXPECT_EQ(report["errors"], "1");
  EXPECT_EQ(report["groups"][0]["statement_type"], "DeleteStmt");
  EXPECT_THAT(Out(0, {"workload", "--top", "1", log}), Not(HasSubstr("SELECT $1")));
}

TEST_F(PgparseStreams, ReportsOfShardsMergeIntoTheReportOnTheWhole) {
  const auto read = [](const std::string& path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  };
  const std::string lines[] = {"{\"query\":\"SELECT 1\",\"duration_ms\":1.5}\n",
                               "{\"query\":\"SELECT a\",\"duration_ms\":2.5}\n"};
  const std::string first = place_.folder() + "/first";
  const std::string second = place_.folder() + "/second";
  Out(0, {"workload", "--top", "0", "--save", first, place_.File("a.jsonl", lines[0] + lines[1])});
  Out(0, {"workload", "--top", "0", "--save", second, place_.File("b.jsonl", lines[1] + lines[1])});
  const std::string merged = Out(0, {"workload", "--json", "--merge", first, second});
  const Json report = Json::parse(merged);
  EXPECT_EQ(report["queries"], "4");
  EXPECT_EQ(report["groups"][0]["calls"], "3");
  EXPECT_EQ(report["groups"][0]["total_duration_us"]["low"], "7500");
  EXPECT_FALSE(read(first).empty());
}

TEST_F(PgparseStreams, StatsShowEveryWorker) {
  const std::string address = "unix:" + admin_socket_;
  const PgparseResult table = Run({"stats", "--address", address});
  EXPECT_EQ(table.exit_code, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr("front"));
  EXPECT_THAT(table.out, HasSubstr("worker "));
  EXPECT_THAT(table.out, HasSubstr("workers replaced or stopped:"));
  const PgparseResult json = Run({"stats", "--json", "--address", address});
  EXPECT_GE(Json::parse(json.out)["workers"].size(), 2u);
  EXPECT_EQ(Run({"stats"}).exit_code, 2) << "this listener has no AdminService";
}

TEST_F(PgparseStreams, WrongInputsAreToldByName) {
  EXPECT_THAT(Run({"batch", "/none"}).err, HasSubstr("/none: No such file"));
  EXPECT_EQ(Run({"script", "/none"}).exit_code, 2);
  const PgparseResult unknown = Run({"workload", place_.File("x", "nothing that is a log\n")});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("--format"));
  EXPECT_EQ(Run({"batch", "--op", "scan"}).exit_code, 2) << "it needs --json";
  EXPECT_EQ(Run({"batch", "--op", "nothing"}).exit_code, 2);
  EXPECT_EQ(Run({"workload", "--merge", place_.File("junk", "junk")}).exit_code, 2);
}

}  // namespace
}  // namespace pgparsed::test
