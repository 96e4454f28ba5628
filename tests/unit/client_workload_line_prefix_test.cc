#include "cli/workload/line_prefix.h"

#include <gtest/gtest.h>

#include <string>

namespace pgparsed::cli {
namespace {

// The session, or "no match".
std::string Session(std::string_view setting, std::string_view text) {
  std::string_view session;
  return LinePrefix(setting).Matches(text, &session) ? std::string(session) : "no match";
}

TEST(LinePrefix, TheDefaultGivesTheProcess) {
  EXPECT_EQ(Session("%m [%p] ", "2026-12-01 06:10:01.548 UTC [19210] "), "19210");
}

TEST(LinePrefix, EverythingMustFit) {
  EXPECT_EQ(Session("%m [%p] ", "2026-12-01 06:10:01.548 UTC [19210]"), "no match");
  EXPECT_EQ(Session("%m [%p] ", "2026-12-01 06:10:01.548 UTC [] "), "no match");
  EXPECT_EQ(Session("%m [%p] ", ""), "no match");
  EXPECT_EQ(Session("", ""), "");
  EXPECT_EQ(Session("", "x"), "no match");
}

TEST(LinePrefix, ASessionIdIsBetterThanAProcess) {
  EXPECT_EQ(Session("%t %c %p: ", "2026-12-01 06:10:02 UTC 6b0e64b9.4b0a 19210: "),
            "6b0e64b9.4b0a");
  EXPECT_EQ(Session("%c ", "6b0e64b9 "), "no match");
}

TEST(LinePrefix, ManyEscapesWithoutSeparatorsFindTheirValues) {
  EXPECT_EQ(Session("%t:%r:%u@%d:[%p-%l]: %q%a ",
                    "2026-12-01 06:10:02 UTC:[local]:postgres@postgres:[19226-11]: psql "),
            "19226");
  EXPECT_EQ(Session("%u%d%a%p ", "postgrespostgrespsql123 "), "123");
}

TEST(LinePrefix, ProcessesThatAreNoSessionsStopAtQ) {
  EXPECT_EQ(Session("%t:%r:%u@%d:[%p-%l]: %q%a ", "2026-12-01 06:10:02 UTC::@:[19200-17]: "),
            "19200");
  EXPECT_EQ(Session("%p %q:%a ", "77 "), "77");
  EXPECT_EQ(Session("%p %q:%a ", "77 :psql "), "77");
}

TEST(LinePrefix, PaddedValuesMayHaveSpaces) {
  EXPECT_EQ(Session("%-10u|%8p|", "bob       |     123|"), "123");
  EXPECT_EQ(Session("%-10p|", "123       |"), "123");
}

TEST(LinePrefix, UnknownEscapesGiveNothingAndPercentIsItself) {
  EXPECT_EQ(Session("%%%Z<%p>%", "%<5>"), "5");
}

TEST(LinePrefix, AnApplicationNameMayLookLikeAnything) {
  EXPECT_EQ(Session("%a [%p] ", "x [1] [2] "), "2");
}

TEST(LinePrefix, AHardPrefixTakesNoTimeWorthSpeakingOf) {
  std::string setting;
  for (int i = 0; i < 20; ++i) setting += "%a-";
  // Tried naively, this takes as many steps as there are ways to choose 20 of 2000.
  EXPECT_EQ(Session(setting + "!", std::string(2000, '-')), "no match");
}

TEST(GuessSession, FindsProcessesInBracketsAndSessionIds) {
  EXPECT_EQ(GuessSession("2026-12-01 06:10:01.548 UTC [19210] "), "19210");
  EXPECT_EQ(GuessSession("2026-12-01 06:10:02 UTC:[local]:postgres@postgres:[19226-11]: psql "),
            "19226");
  EXPECT_EQ(GuessSession("2026-12-01 06:10:02 UTC-6b0e64b9.4b0a-"), "6b0e64b9.4b0a");
  EXPECT_EQ(GuessSession("2026-12-01 06:10:02 UTC "), "");
  EXPECT_EQ(GuessSession("10.0.0.1 [local] ["), "");
  EXPECT_EQ(GuessSession(""), "");
}

}  // namespace
}  // namespace pgparsed::cli
