// What pg_dump and pg_dumpall of a real PostgreSQL 15 write, through ParseScript: no error, no byte
// lost, and as many statements as the server gets when psql runs the same file.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "postgres_server.h"
#include "test_server.h"

namespace pgparsed {
namespace {

using testing::IsEmpty;

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

size_t Occurrences(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

struct Script {
  size_t statements = 0;
  size_t commands = 0;
  uint64_t copy_rows = 0;
  std::vector<std::string> errors;
  std::string text;
  bool incomplete = false;
};

class PostgresDumps : public test::SharedServer {
 protected:
  void SetUp() override {
    test::SharedServer::SetUp();
    postgres_ = test::PostgresServer::Start({"log_statement=all", "logging_collector=on"});
    ASSERT_NE(postgres_, nullptr);
    const test::ProgramResult made =
        postgres_->Run("psql",
                       {"-X", "-q", "-o", "/dev/null", "-v", "ON_ERROR_STOP=1", "-f",
                        PGPARSED_TEST_SOURCE_DIR "/varied_schema.sql"},
                       {"PGOPTIONS=-c client_min_messages=error"});
    ASSERT_EQ(made.exit_code, 0) << made.output;
  }

  std::string Dump(const std::string& program, std::vector<std::string> arguments) {
    const std::string file = postgres_->folder() + "/dump.sql";
    arguments.push_back("--file=" + file);
    const test::ProgramResult result = postgres_->Run(program, arguments);
    EXPECT_EQ(result.exit_code, 0) << result.output.substr(0, 1000);
    return ReadFile(file);
  }

  // How many statements reach the server when psql runs the script: also those that fail there,
  // because what they make is there already.
  size_t StatementsOfPsql(const std::string& script, const std::string& database) {
    if (database != "postgres") {
      EXPECT_EQ(postgres_->Run("createdb", {database}).exit_code, 0);
    }
    const std::string file = postgres_->folder() + "/script.sql";
    std::ofstream(file, std::ios::binary) << script;
    std::filesystem::permissions(file, std::filesystem::perms(0644));
    // The log comes late: between two marks it is whole.
    const auto mark = [&](const std::string& name) {
      EXPECT_EQ(postgres_->Run("psql", {"-X", "-c", "SELECT '" + name + "'"}).exit_code, 0);
      const std::string text = "SELECT '" + name + "'";
      std::string log;
      for (int i = 0; i < 500; ++i) {
        log = ReadFile(postgres_->LogFile("log"));
        if (log.find(text) != std::string::npos) break;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      }
      return log.find(text);
    };
    const size_t begin = mark("begin " + database);
    postgres_->Run("psql", {"-X", "-q", "-d", database, "-f", file});
    const size_t end = mark("end " + database);
    const std::string log = ReadFile(postgres_->LogFile("log"));
    // The second mark's own line begins before it.
    return Occurrences(log.substr(begin, end - begin), "LOG:  statement: ") - 1;
  }

  static Script Parse(const std::string& script, size_t chunk, uint32_t grammar) {
    Script result;
    v1::ParseScriptRequest::Start start;
    start.mutable_options()->set_grammar(grammar);
    start.mutable_options()->add_operations(v1::OPERATION_CHECK);
    size_t sent = 0;
    const absl::Status status = client().ParseScript(
        start,
        [&](std::string& bytes) {
          bytes = script.substr(sent, chunk);
          sent += bytes.size();
          return !bytes.empty();
        },
        [&](const v1::ParseScriptResponse& answer) {
          for (int i = 0; i < answer.offset_size(); ++i) {
            EXPECT_EQ(answer.offset(i), result.text.size());
            result.text += script.substr(answer.offset(i), answer.length(i));
            result.statements += answer.kind(i) == v1::PIECE_KIND_STATEMENT;
            result.commands += answer.kind(i) == v1::PIECE_KIND_META_COMMAND;
          }
          for (const uint64_t rows : answer.copy_rows()) result.copy_rows += rows;
          for (const v1::ItemError& error : answer.results().errors()) {
            const int piece =
                static_cast<int>(answer.statement_piece(static_cast<int>(error.item())));
            result.errors.push_back(
                absl::StrCat(error.error().message(), ": ",
                             script.substr(answer.offset(piece),
                                           std::min<uint64_t>(answer.length(piece), 300))));
          }
          result.incomplete = answer.incomplete();
          return absl::OkStatus();
        });
    EXPECT_TRUE(status.ok()) << status;
    return result;
  }

  void ExpectParsed(const std::string& dump, size_t statements) {
    ASSERT_GT(dump.size(), 10'000u);
    for (const uint32_t grammar : grammars_) {
      for (const size_t chunk : {size_t{997}, size_t{64} << 10, size_t{3} << 20}) {
        SCOPED_TRACE(absl::StrCat("grammar ", grammar, ", chunks of ", chunk));
        const Script script = Parse(dump, chunk, grammar);
        EXPECT_THAT(script.errors, IsEmpty());
        EXPECT_TRUE(script.text == dump) << "bytes are lost";
        EXPECT_FALSE(script.incomplete);
        EXPECT_EQ(script.statements, statements);
      }
    }
  }

  std::unique_ptr<test::PostgresServer> postgres_;
};

TEST_F(PostgresDumps, OfOneDatabase) {
  const std::string dump = Dump("pg_dump", {});
  ExpectParsed(dump, StatementsOfPsql(dump, "again"));
  const Script script = Parse(dump, 4096, grammars_.front());
  const std::string rows =
      "SELECT (SELECT count(*) FROM app.log) + (SELECT count(*) FROM app.child)";
  const uint64_t some = std::stoull(postgres_->Run("psql", {"-X", "-At", "-c", rows}).output);
  EXPECT_GT(script.copy_rows, some);
  EXPECT_EQ(Occurrences(dump, "\n\\restrict ") + Occurrences(dump, "\n\\unrestrict "),
            script.commands);
}

TEST_F(PostgresDumps, WithInsertsInsteadOfCopy) {
  const std::string dump = Dump("pg_dump", {"--inserts"});
  ExpectParsed(dump, StatementsOfPsql(dump, "again"));
  EXPECT_EQ(Parse(dump, 4096, grammars_.front()).copy_rows, 0u);
  const std::string rows = Dump("pg_dump", {"--column-inserts", "--rows-per-insert=7", "--clean",
                                            "--if-exists", "--create", "--quote-all-identifiers"});
  ExpectParsed(rows, StatementsOfPsql(rows, "postgres"));
}

TEST_F(PostgresDumps, OfTheWholeCluster) {
  const std::string dump = Dump("pg_dumpall", {});
  ExpectParsed(dump, StatementsOfPsql(dump, "postgres"));
  const Script script = Parse(dump, 4096, grammars_.front());
  EXPECT_GE(script.commands, 2u) << "\\connect";
}

}  // namespace
}  // namespace pgparsed
