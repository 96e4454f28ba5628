// What pgparse says and returns when something is wrong.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nlohmann/json.hpp"
#include "pgparse_process.h"
#include "test_server.h"

namespace pgparsed::test {
namespace {

using Json = nlohmann::json;

class PgparseErrors : public ::testing::Test {
 protected:
  void SetUp() override {
    started_ = StartTestServer({"--workers=1"});
    ASSERT_NE(started_.client, nullptr);
  }

  PgparseResult Run(std::vector<std::string> arguments, const std::string& input = "") {
    PgparseRun run;
    run.arguments = std::move(arguments);
    run.input = input;
    run.environment = {"PGPARSED_ADDRESS=" + started_.server->address()};
    return RunPgparse(place_, run);
  }

  // Exit code, and standard error of a run that must print nothing else.
  std::pair<int, std::string> Failure(std::vector<std::string> arguments,
                                      const std::string& input = "") {
    const PgparseResult result = Run(std::move(arguments), input);
    EXPECT_EQ(result.out, "");
    return {result.exit_code, result.err};
  }

  using Result = std::pair<int, std::string>;

  Workplace place_;
  TestServer started_;
};

TEST_F(PgparseErrors, ASyntaxErrorHasACaretUnderThePlace) {
  const Result expected = {1,
                           "<query>:1:10: error: syntax error at or near \"FORM\"\n"
                           "    1 | SELECT * FORM t\n"
                           "      |          ^\n"};
  EXPECT_EQ(Failure({"parse", "SELECT * FORM t"}), expected);
}

TEST_F(PgparseErrors, ThePlaceIsRightInFilesWithTabsAndMultiByteText) {
  const std::string path = place_.File("q.sql", "SELECT 1;\n\tSELECT '\xE6\xBC\xA2' FORM x y;\n");
  const Result expected = {1, path +
                                  ":2:20: error: syntax error at or near \"x\"\n"
                                  "    2 |     SELECT '\xE6\xBC\xA2' FORM x y;\n"
                                  "      |                      ^\n"};
  EXPECT_EQ(Failure({"fingerprint", "-f", path}), expected);
  for (const char* unit : {"utf16", "utf32"}) {
    const auto [code, text] = Failure({"fingerprint", "--positions", unit, "-f", path});
    EXPECT_EQ(code, 1);
    EXPECT_TRUE(text.starts_with(path + ":2:18: ")) << text;
    EXPECT_TRUE(text.ends_with("      |                      ^\n")) << text;
  }
}

TEST_F(PgparseErrors, AnErrorAtTheEndOfStandardInputIsShownBehindTheLastWord) {
  const auto [code, text] = Failure({"parse"}, "SELECT (\n");
  EXPECT_EQ(code, 1);
  EXPECT_TRUE(text.starts_with("<stdin>:")) << text;
  EXPECT_NE(text.find("    1 | SELECT (\n      |         ^\n"), std::string::npos) << text;
}

TEST_F(PgparseErrors, WithJsonErrorsStandOnStandardOutput) {
  const PgparseResult result = Run({"parse", "--json", "SELECT * FORM t"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.err, "");
  const Json error = Json::parse(result.out)["error"];
  EXPECT_EQ(error["reason"], "SQL_SYNTAX_ERROR");
  EXPECT_EQ(error["sql_error"]["position"], 9);
  EXPECT_EQ(error["sql_error"]["column"], 10);
}

TEST_F(PgparseErrors, AnalyzeGivesWhatWorksAndSaysWhatDoesNot) {
  const PgparseResult result = Run({"analyze", "--operations", "scan,parse", "SELECT * FORM t"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.out.find("[scan]\n"), std::string::npos);
  EXPECT_EQ(result.out.find("[parse]"), std::string::npos);
  EXPECT_EQ(result.err.find("<query>:1:10: error: "), 0u) << result.err;
  const PgparseResult json =
      Run({"analyze", "--json", "--operations", "scan,parse", "SELECT * FORM t"});
  EXPECT_EQ(json.exit_code, 1);
  EXPECT_EQ(Json::parse(json.out)["errors"][0]["operation"], "parse");
}

TEST_F(PgparseErrors, TextThatIsNoQueryIsRefusedWithItsPlace) {
  const Result invalid = {2,
                          "<stdin>:2:3: error: the query holds invalid UTF-8 at byte 11; send "
                          "valid UTF-8 without NUL bytes\n"
                          "    2 | a \xEF\xBF\xBD\n"
                          "      |   ^\n"};
  EXPECT_EQ(Failure({"parse"}, "SELECT 1\na \xFF"), invalid);
  const auto [code, text] = Failure({"scan"}, std::string("SELECT\0 1", 9));
  EXPECT_EQ(code, 2);
  EXPECT_TRUE(text.starts_with("<stdin>:1:7: error: the query holds a NUL byte")) << text;
}

TEST_F(PgparseErrors, FilesThatCannotBeReadAreNamed) {
  const Result missing = {2, "pgparse: error: /no/such.sql: No such file or directory\n"};
  EXPECT_EQ(Failure({"parse", "-f", "/no/such.sql"}), missing);
  const Result folder = {2, "pgparse: error: /: Is a directory\n"};
  EXPECT_EQ(Failure({"parse", "-f", "/"}), folder);
}

TEST_F(PgparseErrors, WhatTheServerLacksIsWrongUsage) {
  const auto [code, text] = Failure({"parse", "--grammar", "9", "SELECT 1"});
  EXPECT_EQ(code, 2);
  EXPECT_NE(text.find("no grammar 9"), std::string::npos) << text;
}

TEST_F(PgparseErrors, ATreeThatIsNoneIsABadInput) {
  EXPECT_EQ(Failure({"deparse"}, "this is no tree").first, 2);
  EXPECT_EQ(Failure({"deparse", "--from", "json"}, "{").first, 2);
}

TEST_F(PgparseErrors, WrongOptionsAreToldWithoutTalkingToAServer) {
  const Result format = {2,
                         "pgparse parse: --format: \"xml\" is not one of json, protobuf, columnar, tree\n"
                         "Run 'pgparse parse --help' for help.\n"};
  EXPECT_EQ(Failure({"parse", "--format", "xml", "SELECT 1", "--address", "unix:/none"}), format);
  EXPECT_EQ(Failure({"dance"}).first, 2);
  EXPECT_EQ(Failure({}).first, 2);
}

TEST_F(PgparseErrors, AServerThatIsNotThereIsNamed) {
  const auto [code, text] = Failure({"parse", "--address", "unix:/none.sock", "SELECT 1"});
  EXPECT_EQ(code, 3);
  EXPECT_TRUE(text.starts_with("pgparse: error: cannot reach unix:/none.sock: ")) << text;
  EXPECT_EQ(Failure({"parse", "--address", "no such place", "SELECT 1"}).first, 2);
}

TEST_F(PgparseErrors, AReaderThatGoesAwayIsNoError) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  ::close(ends[0]);
  PgparseRun run;
  run.arguments = {"parse", "SELECT 1"};
  run.environment = {"PGPARSED_ADDRESS=" + started_.server->address()};
  const int in = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const int err = ::open(place_.File("err", "").c_str(), O_WRONLY | O_CLOEXEC);
  const pid_t pid = SpawnPgparse(place_, run, in, ends[1], err);
  ::close(ends[1]);
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  ::close(in);
  ::close(err);
}

TEST_F(PgparseErrors, AFullDiskIsAnError) {
  PgparseRun run;
  run.arguments = {"parse", "SELECT 1"};
  run.environment = {"PGPARSED_ADDRESS=" + started_.server->address()};
  const int in = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  ASSERT_GE(full, 0);
  const int err = ::open(place_.File("err", "").c_str(), O_WRONLY | O_CLOEXEC);
  const pid_t pid = SpawnPgparse(place_, run, in, full, err);
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 4) << status;
  for (const int fd : {in, full, err}) ::close(fd);
}

}  // namespace
}  // namespace pgparsed::test
