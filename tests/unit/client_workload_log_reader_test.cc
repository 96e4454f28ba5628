#include "cli/workload/log_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cli/workload/stderr_log.h"
#include "client_workload_log_file.h"
#include "client_workload_samples.h"

namespace pgparsed::cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// "LINE: DURATION QUERY" with "-" for no duration.
std::vector<std::string> Lines(const LogContents& contents) {
  std::vector<std::string> lines;
  for (const LogEntry& entry : contents.entries) {
    lines.push_back(absl::StrCat(
        entry.line, ": ", entry.duration_us.has_value() ? absl::StrCat(*entry.duration_us) : "-",
        " ", entry.query));
  }
  return lines;
}

LogOptions As(LogFormat format) { return {.format = format}; }

// ---- JSON lines ----

TEST(JsonLinesLog, EntriesWithAndWithoutFigures) {
  const LogContents log = ReadLog(
      "{\"query\": \"SELECT 1\", \"duration_us\": 5, \"rows\": 2, \"weight\": 3}\n"
      "\n"
      "{\"query\": \"SELECT\\n2\", \"duration_ms\": 1.2345, \"calls\": 0, \"other\": [1]}\r\n"
      "{\"duration_ms\": 2, \"query\": \"SELECT 3\"}\n"
      "{\"query\": \"SELECT '\\u00e9'\", \"rows\": null}");
  EXPECT_TRUE(log.status.ok());
  EXPECT_THAT(log.problems, IsEmpty());
  EXPECT_THAT(
      log.entries,
      ElementsAre(LogEntry{"SELECT 1", 5, 2, 3, 1}, LogEntry{"SELECT\n2", 1235, std::nullopt, 0, 3},
                  LogEntry{"SELECT 3", 2000, std::nullopt, 1, 4},
                  LogEntry{"SELECT '\xC3\xA9'", std::nullopt, std::nullopt, 1, 5}));
}

TEST(JsonLinesLog, TheLargestDurationIsExact) {
  const LogContents log = ReadLog("{\"query\": \"x\", \"duration_us\": 18446744073709551615}\n");
  ASSERT_EQ(log.entries.size(), 1u);
  EXPECT_EQ(log.entries[0].duration_us, 18446744073709551615u);
}

TEST(JsonLinesLog, MalformedLinesAreReportedAndSkipped) {
  const LogContents log = ReadLog(
      "{\"query\": \"a\"}\n"
      "{\"query\": \"b\"\n"
      "[\"query\"]\n"
      "{\"sql\": \"c\"}\n"
      "{\"query\": 5}\n"
      "{\"query\": \"d\", \"duration_us\": -1}\n"
      "{\"query\": \"d\", \"duration_us\": \"1\"}\n"
      "{\"query\": \"d\", \"duration_us\": 1e30}\n"
      "{\"query\": \"d\", \"duration_ms\": 18446744073709551615}\n"
      "{\"query\": \"d\", \"duration_us\": 1, \"duration_ms\": 1}\n"
      "{\"query\": \"d\", \"rows\": 1.5}\n"
      "{\"query\": \"d\", \"weight\": -1}\n"
      "{\"query\": \"d\", \"weight\": 1, \"calls\": 1}\n"
      "{\"query\": \"e\"}\n",
      As(LogFormat::kJsonLines), 20);
  EXPECT_THAT(Lines(log), ElementsAre("1: - a", "14: - e"));
  EXPECT_THAT(
      log.problems,
      ElementsAre("2: no JSON", "3: no JSON object", "4: no \"query\" with a string",
                  "5: no \"query\" with a string", "6: \"duration_us\" is no duration",
                  "7: \"duration_us\" is no duration", "8: \"duration_us\" is no duration",
                  "9: \"duration_ms\" is no duration", "10: both duration_us and duration_ms",
                  "11: \"rows\" is no number of rows",
                  "12: \"weight\" or \"calls\" is no number of calls",
                  "13: both weight and calls"));
}

TEST(JsonLinesLog, DeepNestingHarmsNothing) {
  const std::string deep(200'000, '[');
  const LogContents log =
      ReadLog("{\"query\": \"a\", \"x\": " + deep + "}\n{\"query\": \"b\"}\n" + deep + "\n");
  EXPECT_THAT(Lines(log), ElementsAre("2: - b"));
  EXPECT_THAT(log.problems, ElementsAre("1: no JSON", "3: no JSON"));
}

// ---- CSV ----

TEST(CsvEntries, ColumnsAreFoundByTheirNames) {
  const LogContents log = ReadLog(
      "user,Duration_MS, query ,calls,rows\n"
      "bob,1.5,\"SELECT \"\"a\"\",\n  1\",2,7\n"
      "bob,,SELECT 2,,\n");
  EXPECT_THAT(log.problems, IsEmpty());
  EXPECT_THAT(log.entries, ElementsAre(LogEntry{"SELECT \"a\",\n  1", 1500, 7, 2, 2},
                                       LogEntry{"SELECT 2", std::nullopt, std::nullopt, 1, 4}));
}

TEST(CsvEntries, MalformedRecordsAreReportedAndSkipped) {
  const LogContents log = ReadLog(
      "query,duration_us,rows,weight\n"
      "a,1,2,3\n"
      "b,1,2\n"
      "c,x,2,3\n"
      "d,1,-2,3\n"
      "e,1,2,1.5\n"
      "f\"f,1,2,3\n"
      "g,1,2,3\n");
  EXPECT_THAT(Lines(log), ElementsAre("2: 1 a", "8: 1 g"));
  EXPECT_THAT(
      log.problems,
      ElementsAre("3: not as many fields as the header has", "4: duration_us is no duration",
                  "5: rows is no number of rows", "6: weight or calls is no number of calls",
                  "7: a quote where none may stand"));
}

TEST(CsvEntries, AHeaderThatSaysTooLittleOrTooMuchIsAnError) {
  for (const char* header : {"a,b\n1,2\n", "query,query\n", "query,duration_us,duration_ms\n",
                             "query,weight,calls\n", "query\"\n"}) {
    EXPECT_EQ(ReadLog(header, As(LogFormat::kCsv)).status.code(),
              absl::StatusCode::kInvalidArgument)
        << header;
  }
  EXPECT_TRUE(ReadLog("", As(LogFormat::kCsv)).status.ok());
}

// ---- PostgreSQL's stderr ----

const std::vector<std::string>& Durations() {
  static const auto* const lines = new std::vector<std::string>{
      "2: 2026 CREATE TABLE t (id int, name text);",
      "3: 1179 INSERT INTO t SELECT g, 'n' || g FROM generate_series(1,100) g;",
      "4: 597 SELECT count(*)\nFROM t\n\tWHERE name = 'a, \"b\"'\n  AND id > 1;",
      "11: 32 SELECT 1;",
      "12: 45 SELECT 1 ; SELECT 2;",
      "13: 11 BEGIN;",
      "14: 55 DECLARE c CURSOR FOR SELECT * FROM t;",
      "15: 36 FETCH 10 FROM c;",
      "16: 16 COMMIT;",
      "17: 37 SELECT $$multi\nline$$, E'a\\\\nb';",
      "19: 27 SELECT '\xC3\xA9\xE2\x82\xAC';",
      "25: 18 SELECT name FROM t\nWHERE id = $1;",
      "31: 12 SELECT name FROM t\nWHERE id = $1;",
      "39: 45 SELECT name FROM t\nWHERE id = $1;"};
  return *lines;
}

TEST(StderrLog, DurationsWithTheirStatements) {
  const LogContents log = ReadLog(kStderrDurations);
  EXPECT_THAT(log.problems, IsEmpty());
  EXPECT_EQ(Lines(log), Durations());
}

TEST(StderrLog, TheSameWithItsPrefix) {
  const LogContents log =
      ReadLog(kStderrDurations, {.format = LogFormat::kStderr, .log_line_prefix = "%m [%p] "});
  EXPECT_THAT(log.problems, IsEmpty());
  EXPECT_EQ(Lines(log), Durations());
}

TEST(StderrLog, AnotherPrefixFitsNothing) {
  const LogContents log =
      ReadLog(kStderrDurations, {.format = LogFormat::kStderr, .log_line_prefix = "%m %c: "}, 1);
  EXPECT_THAT(log.entries, IsEmpty());
  EXPECT_THAT(log.problems, ElementsAre("1: no message of the server with this --log-line-prefix"));
  EXPECT_GT(log.problem_count, 30u);
}

TEST(StderrLog, WindowsLineEnds) {
  std::string text;
  for (const char c : kStderrDurations) text += c == '\n' ? std::string("\r\n") : std::string(1, c);
  EXPECT_EQ(Lines(ReadLog(text)), Durations());
}

TEST(StderrLog, StatementsGetTheDurationThatFollows) {
  const LogContents log = ReadLog(kStderrStatements);
  EXPECT_THAT(log.problems, IsEmpty());
  std::vector<std::string> durations;
  for (const LogEntry& entry : log.entries) {
    durations.push_back(
        absl::StrCat(entry.query.substr(0, 14), "=",
                     entry.duration_us.has_value() ? static_cast<int>(*entry.duration_us) : -1));
  }
  EXPECT_THAT(durations, ElementsAre("CREATE TABLE t=-1", "INSERT INTO t =748",
                                     "SELECT count(*=414", "SELECT nope FR=-1", "SELECT 1;=109",
                                     "SELECT 1 ; SEL=116", "BEGIN;=78", "DECLARE c CURS=94",
                                     "FETCH 10 FROM =107", "COMMIT;=74", "SELECT $$multi=96",
                                     "SELECT '\xC3\xA9\xE2\x82\xAC'=109", "SELECT name FR=80"));
}

TEST(StderrLog, VerboseMessagesWithALongPrefixKnownOrNot) {
  for (const auto& prefix :
       {std::optional<std::string>(), std::optional<std::string>("%t:%r:%u@%d:[%p-%l]: %q%a ")}) {
    const LogContents log =
        ReadLog(kStderrVerbose, {.format = LogFormat::kStderr, .log_line_prefix = prefix});
    EXPECT_THAT(log.problems, IsEmpty());
    EXPECT_THAT(
        Lines(log),
        ElementsAre("1: 300637 select pg_sleep(0.3)", "5: - CREATE TABLE t (id int, name text);",
                    "10: 859 INSERT INTO t SELECT g, 'n' || g FROM generate_series(1,100) g;",
                    "14: 339 SELECT count(*)\nFROM t\n\tWHERE name = 'a, \"b\"'\n  AND id > 1;",
                    "28: 42 SELECT name FROM t\nWHERE id = $1;"));
  }
}

TEST(StderrLog, WhatIsNoMessageIsReported) {
  const LogContents log = ReadLog(
      "2026-12-01 06:10:01.548 UTC [1] LOG:  duration: 1.000 ms  statement: SELECT 1\n"
      "something else\n"
      "\tand its continuation\n"
      "2026-12-01 06:10:01.548 UTC [1] CATALOG:  duration: 1.000 ms  statement: SELECT 2\n"
      "\n"
      "2026-12-01 06:10:01.548 UTC [1] LOG:  duration: 1.000 ms  statement: SELECT 3");
  EXPECT_THAT(Lines(log), ElementsAre("1: 1000 SELECT 1", "6: 1000 SELECT 3"));
  EXPECT_THAT(log.problems,
              ElementsAre("2: no message of the server", "3: no message of the server",
                          "4: no message of the server"));
}

TEST(StderrLog, AStatementThatIsTooLongIsReportedAndSkipped) {
  const std::string head = "2026-12-01 06:10:01.548 UTC [1] LOG:  duration: 1.000 ms  statement: ";
  std::string text = head + "SELECT 1,\n";
  for (int i = 0; i < 33; ++i) text += "\t" + std::string(1u << 20, '1') + "\n";
  text += head + "SELECT 2\n";
  const LogContents log = ReadLog(text);
  EXPECT_THAT(Lines(log), ElementsAre("35: 1000 SELECT 2"));
  EXPECT_THAT(log.problems, ElementsAre("1: the statement is longer than 32 MiB"));
}

TEST(StderrLog, AStatementWhoseDurationNeverCameIsThereAtTheEnd) {
  const LogContents log = ReadLog("2026-12-01 06:10:01.548 UTC [1] LOG:  statement: SELECT 1\n");
  EXPECT_THAT(Lines(log), ElementsAre("1: - SELECT 1"));
}

TEST(StderrLog, AStatementThatMentionsALevelStaysWhole) {
  const LogContents log = ReadLog(
      "2026-12-01 06:10:01.548 UTC [1] LOG:  duration: 1.000 ms  statement: SELECT 'ERROR:  x'\n"
      "\tLOG:  duration: 2.000 ms  statement: SELECT 2\n");
  EXPECT_THAT(
      Lines(log),
      ElementsAre("1: 1000 SELECT 'ERROR:  x'\nLOG:  duration: 2.000 ms  statement: SELECT 2"));
}

// ---- PostgreSQL's csvlog and jsonlog ----

const std::vector<std::string>& ServerLog() {
  static const auto* const entries = new std::vector<std::string>{
      "2026 CREATE TABLE t (id int, name text);",
      "1179 INSERT INTO t SELECT g, 'n' || g FROM generate_series(1,100) g;",
      "597 SELECT count(*)\nFROM t\n\tWHERE name = 'a, \"b\"'\n  AND id > 1;",
      "32 SELECT 1;",
      "45 SELECT 1 ; SELECT 2;",
      "11 BEGIN;",
      "55 DECLARE c CURSOR FOR SELECT * FROM t;",
      "36 FETCH 10 FROM c;",
      "16 COMMIT;",
      "37 SELECT $$multi\nline$$, E'a\\\\nb';",
      "27 SELECT '\xC3\xA9\xE2\x82\xAC';",
      "18 SELECT name FROM t\nWHERE id = $1;",
      "- CREATE TABLE t (id int, name text);",
      "748 INSERT INTO t SELECT g, 'n' || g FROM generate_series(1,100) g;",
      "414 SELECT count(*)\nFROM t\n\tWHERE name = 'a, \"b\"'\n  AND id > 1;",
      "- SELECT nope FROM t;"};
  return *entries;
}

std::vector<std::string> WithoutLines(const LogContents& contents) {
  std::vector<std::string> lines = Lines(contents);
  for (std::string& line : lines) line.erase(0, line.find(' ') + 1);
  return lines;
}

TEST(CsvLog, MessagesOfAllSettings) {
  const LogContents log = ReadLog(kCsvLog);
  EXPECT_THAT(log.problems, IsEmpty());
  EXPECT_EQ(WithoutLines(log), ServerLog());
  EXPECT_EQ(log.entries[2].line, 4u);
  EXPECT_EQ(log.entries[3].line, 9u);
}

TEST(CsvLog, OlderVersionsHaveFewerColumns) {
  for (const auto& [columns, good] : std::vector<std::pair<int, bool>>{
           {22, false}, {23, true}, {24, true}, {26, true}, {27, false}}) {
    std::string line =
        "2026-12-01 06:10:01.548 UTC,u,d,1,h,6b0e64b9.4b0a,1,SELECT,x,3/0,0,LOG,00000,\"duration: "
        "0.001 ms  statement: SELECT 1\"";
    for (int i = 14; i < columns; ++i) line += ",";
    const LogContents log = ReadLog(line + "\n", As(LogFormat::kCsvLog));
    EXPECT_EQ(log.entries.size(), good ? 1u : 0u) << columns;
    EXPECT_EQ(log.problems.size(), good ? 0u : 1u) << columns;
  }
}

TEST(JsonLog, MessagesOfAllSettings) {
  const LogContents log = ReadLog(kJsonLog);
  EXPECT_THAT(log.problems, IsEmpty());
  EXPECT_EQ(WithoutLines(log), ServerLog());
}

TEST(JsonLog, MalformedLinesAreReportedAndSkipped) {
  const LogContents log = ReadLog(
      "{\"error_severity\":\"LOG\",\"message\":\"duration: 0.001 ms  statement: SELECT 1\"}\n"
      "{\"error_severity\":\"LOG\",\"mess\n"
      "{\"query\":\"SELECT 1\"}\n"
      "{\"error_severity\":\"LOG\",\"session_id\":5,\"message\":7}\n");
  EXPECT_THAT(Lines(log), ElementsAre("1: 1 SELECT 1"));
  EXPECT_THAT(log.problems,
              ElementsAre("2: no JSON", "3: no \"error_severity\": not PostgreSQL's jsonlog"));
}

// ---- All formats ----

TEST(LogFormat, IsGuessedFromTheBeginning) {
  EXPECT_EQ(GuessLogFormat(kStderrDurations), LogFormat::kStderr);
  EXPECT_EQ(GuessLogFormat(kStderrVerbose), LogFormat::kStderr);
  EXPECT_EQ(GuessLogFormat(kCsvLog), LogFormat::kCsvLog);
  EXPECT_EQ(GuessLogFormat(kJsonLog), LogFormat::kJsonLog);
  EXPECT_EQ(GuessLogFormat("\n {\"query\": \"x\"}"), LogFormat::kJsonLines);
  EXPECT_EQ(GuessLogFormat("id,\"Query\"\n"), LogFormat::kCsv);
  EXPECT_EQ(GuessLogFormat("noise\n2026-12-01 [1] LOG:  statement: x\n"), LogFormat::kStderr);
  EXPECT_EQ(GuessLogFormat(" LOG:  a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t,u,v,w,x\n"),
            LogFormat::kStderr);
  EXPECT_EQ(GuessLogFormat("SELECT 1;\nSELECT 2;\n"), LogFormat::kAuto);
  EXPECT_EQ(GuessLogFormat("\n\n"), LogFormat::kAuto);
}

TEST(LogFormat, ThatCannotBeToldIsAnError) {
  EXPECT_EQ(ReadLog("SELECT 1;\n").status.code(), absl::StatusCode::kInvalidArgument);
}

TEST(LogFormat, AnEmptyLogHasNoEntries) {
  for (const LogFormat format : {LogFormat::kAuto, LogFormat::kJsonLines, LogFormat::kCsv,
                                 LogFormat::kStderr, LogFormat::kCsvLog, LogFormat::kJsonLog}) {
    for (const char* text : {"", "\n\n"}) {
      const LogContents log = ReadLog(text, As(format));
      EXPECT_TRUE(log.status.ok()) << LogFormatName(format);
      EXPECT_THAT(log.entries, IsEmpty());
      EXPECT_THAT(log.problems, IsEmpty());
    }
  }
}

TEST(Log, QueriesThatNoServerTakesAreReportedAndBlankOnesLeftOut) {
  const LogContents log = ReadLog("query\nSELECT '\xFF'\n\" \t\n\"\n\"SELECT 1\"\n");
  EXPECT_THAT(Lines(log), ElementsAre("5: - SELECT 1"));
  EXPECT_THAT(log.problems, ElementsAre("2: the query is no valid UTF-8, or has a NUL byte"));
  EXPECT_THAT(ReadLog("{\"query\": \"a\\u0000b\"}\n").problems,
              ElementsAre("1: the query is no valid UTF-8, or has a NUL byte"));
}

TEST(Log, OnlyTheFirstProblemsAreShownAndAllAreCounted) {
  std::string text;
  for (int i = 0; i < 50; ++i) text += "{\n";
  const LogContents log = ReadLog(text, As(LogFormat::kJsonLines), 3);
  EXPECT_THAT(log.problems, ElementsAre("1: no JSON", "2: no JSON", "3: no JSON"));
  EXPECT_EQ(log.problem_count, 50u);
}

TEST(Log, ALineThatIsTooLongIsSkippedInConstantMemory) {
  const std::string good = "{\"query\": \"a\"}\n";
  const LogContents log =
      ReadLog(good + "{\"query\": \"" + std::string(70u << 20, 'x') + "\"}\n" + good);
  EXPECT_THAT(Lines(log), ElementsAre("1: - a", "3: - a"));
  EXPECT_THAT(log.problems, ElementsAre("2: the line is longer than 32 MiB"));
}

TEST(Log, AByteOrderMarkAtTheStartIsLeftOut) {
  EXPECT_THAT(Lines(ReadLog("\xEF\xBB\xBF{\"query\": \"a\"}\n")), ElementsAre("1: - a"));
}

TEST(Log, DamagedLogsGiveSoundEntriesAndProblemsAndAnEnd) {
  std::mt19937_64 random(11);
  size_t entries = 0;
  uint64_t problems = 0;
  for (const std::string_view sample : {kStderrDurations, kStderrVerbose, kCsvLog, kJsonLog}) {
    for (const LogFormat format : {LogFormat::kAuto, LogFormat::kJsonLines, LogFormat::kCsv,
                                   LogFormat::kStderr, LogFormat::kCsvLog, LogFormat::kJsonLog}) {
      for (int round = 0; round < 20; ++round) {
        std::string text(sample.substr(random() % 100));
        for (uint64_t n = random() % 200; n > 0; --n) {
          const size_t at = random() % text.size();
          switch (random() % 3) {
            case 0:
              text[at] = static_cast<char>(random());
              break;
            case 1:
              text[at] = "\n\t\",{}[: "[random() % 9];
              break;
            default:
              text.erase(at, random() % 20);
          }
        }
        const LogContents log = ReadLog(text, As(format), 0);
        entries += log.entries.size();
        problems += log.problem_count;
        for (const LogEntry& entry : log.entries) {
          EXPECT_FALSE(entry.query.empty());
          EXPECT_GT(entry.line, 0u);
        }
      }
    }
  }
  EXPECT_GT(entries, 100u);
  EXPECT_GT(problems, 100u);
}

TEST(Log, AFileThatIsNotThereIsAnError) {
  EXPECT_EQ(LogInput::Open("/nonexistent/log").status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(Log, ADirectoryIsAnError) {
  auto input = LogInput::Open("/");
  ASSERT_TRUE(input.ok());
  LogLine line;
  EXPECT_EQ((*input)->NextLine(line).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(Log, APipeIsReadAsItComes) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const int saved = ::dup(STDIN_FILENO);
  ASSERT_EQ(::dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
  ::close(ends[0]);
  std::thread writer([&] {
    const std::string text =
        "{\"query\": \"" + std::string(1'000'000, 'x') + "\"}\n{\"query\": \"b\"}\n";
    for (size_t at = 0; at < text.size(); at += 999) {
      const std::string piece = text.substr(at, 999);
      EXPECT_EQ(::write(ends[1], piece.data(), piece.size()), static_cast<ssize_t>(piece.size()));
    }
    ::close(ends[1]);
  });
  {
    auto input = LogInput::Open("-");
    ASSERT_TRUE(input.ok());
    EXPECT_EQ((*input)->label(), "<stdin>");
    EXPECT_EQ((*input)->size(), 0u);
    LogProblems problems("<stdin>", 1, [](std::string_view) { ADD_FAILURE(); });
    auto reader = OpenLog(**input, {}, problems);
    ASSERT_TRUE(reader.ok());
    LogEntry entry;
    ASSERT_TRUE(*(*reader)->Next(entry));
    EXPECT_EQ(entry.query.size(), 1'000'000u);
    ASSERT_TRUE(*(*reader)->Next(entry));
    EXPECT_EQ(entry.query, "b");
    EXPECT_FALSE(*(*reader)->Next(entry));
  }
  writer.join();
  ::dup2(saved, STDIN_FILENO);
  ::close(saved);
}

}  // namespace
}  // namespace pgparsed::cli
