#include "cli/workload/server_log.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "cli/workload/numbers.h"

namespace pgparsed::cli {
namespace {

using Kind = StatementMessage::Kind;

TEST(Numbers, DecimalsAreExactAndRounded) {
  EXPECT_EQ(ParseDecimal("0.123", 3), 123u);
  EXPECT_EQ(ParseDecimal("301.179", 3), 301'179u);
  EXPECT_EQ(ParseDecimal("5", 3), 5'000u);
  EXPECT_EQ(ParseDecimal(".5", 3), 500u);
  EXPECT_EQ(ParseDecimal("5.", 3), 5'000u);
  EXPECT_EQ(ParseDecimal("1.0004", 3), 1'000u);
  EXPECT_EQ(ParseDecimal("1.0005", 3), 1'001u);
  EXPECT_EQ(ParseDecimal("12.5", 0), 13u);
  EXPECT_EQ(ParseDecimal("18446744073709551615", 0), 18446744073709551615u);
  EXPECT_EQ(ParseDecimal("18446744073709551615.9", 0), std::nullopt);
  EXPECT_EQ(ParseDecimal("18446744073709552", 3), std::nullopt);
  for (const char* text : {"", ".", "-1", "+1", "1e3", "1.2.3", "x", " 1", "1 ", "0x10"}) {
    EXPECT_EQ(ParseDecimal(text, 3), std::nullopt) << text;
  }
}

TEST(StatementMessage, CallsWithAndWithoutDuration) {
  const StatementMessage simple =
      ReadStatementMessage("duration: 2.026 ms  statement: CREATE TABLE t (id int, name text);");
  EXPECT_EQ(simple.kind, Kind::kCall);
  EXPECT_EQ(simple.duration_us, 2026u);
  EXPECT_EQ(simple.query, "CREATE TABLE t (id int, name text);");
  const StatementMessage execute =
      ReadStatementMessage("duration: 0.018 ms  execute P_0: SELECT name FROM t\nWHERE id = $1;");
  EXPECT_EQ(execute.kind, Kind::kCall);
  EXPECT_EQ(execute.duration_us, 18u);
  EXPECT_EQ(execute.query, "SELECT name FROM t\nWHERE id = $1;");
  EXPECT_EQ(ReadStatementMessage("duration: 0.045 ms  execute <unnamed>/C_3: SELECT 1").query,
            "SELECT 1");
  const StatementMessage plain = ReadStatementMessage("statement: SELECT 'a: b'");
  EXPECT_EQ(plain.kind, Kind::kCall);
  EXPECT_EQ(plain.duration_us, std::nullopt);
  EXPECT_EQ(plain.query, "SELECT 'a: b'");
  EXPECT_EQ(ReadStatementMessage("execute <unnamed>: SELECT 'a: b'").query, "SELECT 'a: b'");
  EXPECT_EQ(ReadStatementMessage("duration: 0.748 ms").kind, Kind::kDuration);
}

TEST(StatementMessage, WhatIsNoCall) {
  for (const char* text :
       {"duration: 0.292 ms  parse P_0: SELECT 1", "duration: 0.273 ms  bind P_0: SELECT 1",
        "duration: 0.2 ms  execute fetch from S_1/C_2: SELECT 1",
        "execute fetch from S_1: SELECT 1", "duration: 0.018 ms  plan:\nQuery Text: SELECT 1",
        "duration: 1 s  statement: SELECT 1", "duration: x ms  statement: SELECT 1",
        "duration: 0.2 ms statement: SELECT 1",
        "duration: 3.1 ms  fastpath function call: \"lo_open\" (OID 952)",
        "duration: ", "execute x", "checkpoint starting: time", ""}) {
    EXPECT_EQ(ReadStatementMessage(text).kind, Kind::kNone) << text;
  }
}

// Runs messages "SESSION SEVERITY TEXT" and gives "QUERY DURATION" of each entry.
std::vector<std::string> Calls(const std::vector<std::array<const char*, 3>>& messages) {
  SessionCalls calls;
  std::deque<LogEntry> out;
  uint64_t line = 0;
  for (const auto& [session, severity, text] : messages) {
    calls.Message({.severity = severity, .session = session, .text = text, .line = ++line}, out);
  }
  calls.Finish(out);
  std::vector<std::string> entries;
  for (const LogEntry& entry : out) {
    entries.push_back(
        absl::StrCat(entry.query, " ",
                     entry.duration_us.has_value() ? static_cast<int>(*entry.duration_us) : -1));
  }
  return entries;
}

TEST(SessionCalls, ADurationThatFollowsInTheSameSessionBelongsToTheStatement) {
  EXPECT_EQ(Calls({{"1", "LOG", "statement: A"},
                   {"2", "LOG", "statement: B"},
                   {"1", "LOG", "duration: 0.001 ms"},
                   {"2", "LOG", "duration: 0.002 ms"}}),
            (std::vector<std::string>{"A 1", "B 2"}));
}

TEST(SessionCalls, AnErrorOrTheNextStatementEndsTheWait) {
  EXPECT_EQ(Calls({{"1", "LOG", "statement: A"},
                   {"1", "ERROR", "no such table"},
                   {"1", "STATEMENT", "A"},
                   {"1", "LOG", "duration: 0.420 ms"},
                   {"1", "LOG", "statement: B"},
                   {"1", "LOG", "statement: C"},
                   {"1", "DETAIL", "parameters: $1 = '8'"},
                   {"1", "LOG", "duration: 0.003 ms"}}),
            (std::vector<std::string>{"A -1", "B -1", "C 3"}));
}

TEST(SessionCalls, DurationsOfParseAndBindAreDropped) {
  EXPECT_EQ(Calls({{"1", "LOG", "duration: 0.420 ms"},
                   {"1", "LOG", "duration: 0.308 ms"},
                   {"1", "LOG", "execute <unnamed>: A"},
                   {"1", "LOG", "duration: 0.080 ms"},
                   {"1", "LOG", "duration: 0.310 ms"}}),
            (std::vector<std::string>{"A 80"}));
}

TEST(SessionCalls, OtherMessagesOfTheSessionDoNotDisturb) {
  EXPECT_EQ(Calls({{"1", "LOG", "statement: A"},
                   {"1", "LOG", "checkpoint starting: time"},
                   {"1", "WARNING", "there is no transaction in progress"},
                   {"1", "LOG", "duration: 0.001 ms"}}),
            (std::vector<std::string>{"A 1"}));
}

TEST(SessionCalls, WithoutASessionNothingWaits) {
  EXPECT_EQ(Calls({{"", "LOG", "statement: A"}, {"", "LOG", "duration: 0.001 ms"}}),
            (std::vector<std::string>{"A -1"}));
}

TEST(SessionCalls, TooManyThatWaitAreReleasedTheOldestFirst) {
  SessionCalls calls;
  std::deque<LogEntry> out;
  for (size_t i = 0; i < SessionCalls::kMostWaiting + 2; ++i) {
    const std::string text = absl::StrCat("statement: ", i);
    const std::string session = absl::StrCat(i);
    calls.Message({.severity = "LOG", .session = session, .text = text}, out);
  }
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out[0].query, "0");
  const std::string large = "statement: " + std::string(SessionCalls::kMostWaitingBytes, 'x');
  calls.Message({.severity = "LOG", .session = "large", .text = large}, out);
  EXPECT_EQ(out.size(), SessionCalls::kMostWaiting + 2) << "all but the last one";
}

}  // namespace
}  // namespace pgparsed::cli
