// pgparse workload on the logs of a real PostgreSQL 15 under pgbench, in each of its three formats,
// against what the server's own pg_stat_statements counted.

#include <chrono>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "pgparse_process.h"
#include "postgres_server.h"
#include "test_server.h"

namespace pgparsed::test {
namespace {

using Json = nlohmann::json;
using Calls = std::map<std::string, uint64_t>;  // by fingerprint

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

class PostgresWorkload : public SharedServer {
 protected:
  void SetUp() override {
    SharedServer::SetUp();
    postgres_ = PostgresServer::Start(
        {"shared_preload_libraries=pg_stat_statements", "log_min_duration_statement=0",
         "logging_collector=on", "log_destination=stderr,csvlog,jsonlog",
         "log_line_prefix=%m [%p] %q%u@%d ", "pg_stat_statements.save=off"});
    ASSERT_NE(postgres_, nullptr);
    Psql("CREATE EXTENSION pg_stat_statements");
    const ProgramResult made = postgres_->Run("pgbench", {"-i", "-q"});
    ASSERT_EQ(made.exit_code, 0) << made.output;
  }

  std::string Psql(const std::string& sql) {
    const ProgramResult result = postgres_->Run("psql", {"-X", "-At", "-c", sql});
    EXPECT_EQ(result.exit_code, 0) << result.output;
    return result.output;
  }

  // The lines of a log between two texts, each in a line of its own. The log comes late.
  std::string LogBetween(const std::string& extension, const std::string& from,
                         const std::string& to) {
    for (int i = 0; i < 500; ++i) {
      const std::string log = ReadFile(postgres_->LogFile(extension));
      const size_t begin = log.find(from);
      const size_t end = log.find(to);
      if (begin != std::string::npos && end != std::string::npos) {
        const size_t first = log.find('\n', begin) + 1;
        const size_t last = log.rfind('\n', end) + 1;
        return log.substr(first, last - first);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    ADD_FAILURE() << "the log does not have " << to;
    return "";
  }

  // What the server counted, without the statements that look at it.
  Calls CountedByPostgres() {
    const Json rows =
        Json::parse(Psql("SELECT json_agg(json_build_object('calls', calls, 'query', query)) FROM "
                         "pg_stat_statements WHERE query !~ 'pg_stat_statements'"));
    Calls calls;
    for (const Json& row : rows) {
      const auto fingerprint = client().Fingerprint(row["query"].get<std::string>());
      EXPECT_TRUE(fingerprint.ok()) << fingerprint.status();
      calls[std::to_string(fingerprint.value_or(0))] += row["calls"].get<uint64_t>();
    }
    return calls;
  }

  Calls CountedByPgparse(const std::string& format, const std::string& log) {
    PgparseRun run;
    run.arguments = {"workload", "--quiet",  "--json", "--top",
                     "0",        "--format", format,   place_.File("log." + format, log)};
    const PgparseResult result = RunPgparse(place_, run);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    const Json report = Json::parse(result.out);
    EXPECT_EQ(report["errors"], "0");
    Calls calls;
    for (const Json& group : report["groups"]) {
      if (group["normalized_query"].get<std::string>().find("pg_stat_statements") ==
          std::string::npos) {
        calls[group["fingerprint"].get<std::string>()] +=
            std::stoull(group["calls"].get<std::string>());
      }
    }
    return calls;
  }

  Workplace place_;
  std::unique_ptr<PostgresServer> postgres_;
};

TEST_F(PostgresWorkload, CountsWhatPgStatStatementsCounts) {
  for (const char* mode : {"simple", "extended", "prepared"}) {
    SCOPED_TRACE(mode);
    const std::string begin = absl::StrCat("begin of ", mode);
    const std::string end = absl::StrCat("end of ", mode);
    Psql(absl::StrCat("SELECT pg_stat_statements_reset() AS \"", begin, "\""));
    const ProgramResult bench =
        postgres_->Run("pgbench", {"-n", "-c", "2", "-t", "100", "-M", mode});
    ASSERT_EQ(bench.exit_code, 0) << bench.output;
    Calls counted = CountedByPostgres();
    ASSERT_GT(counted.size(), 6u);
    Psql(absl::StrCat("SELECT 1 AS \"", end, "\""));
    for (const auto& [format, extension] : std::map<std::string, std::string>{
             {"stderr", "log"}, {"csvlog", "csv"}, {"jsonlog", "json"}}) {
      SCOPED_TRACE(format);
      Calls calls = CountedByPgparse(format, LogBetween(extension, begin, end));
      if (std::string_view(mode) == "prepared") {
        // pg_stat_statements 15 takes the query's number from a cached plan of a utility statement
        // when it runs first (pgss_ProcessUtility), so it counts one run of each session.
        for (const char* utility : {"BEGIN", "END"}) {
          const std::string fingerprint = std::to_string(*client().Fingerprint(utility));
          EXPECT_EQ(counted[fingerprint], 2u);
          EXPECT_EQ(calls[fingerprint], 200u);
          calls[fingerprint] = counted[fingerprint];
        }
      }
      EXPECT_EQ(calls, counted);
    }
  }
}

}  // namespace
}  // namespace pgparsed::test
