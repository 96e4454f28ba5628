#include "pool/crash_memory.h"

#include <gtest/gtest.h>

#include <string>

namespace pgparsed::pool {
namespace {

using Clock = CrashMemory::Clock;
using std::chrono::minutes;

const Clock::time_point kNow = Clock::now();

TEST(PoolCrashMemoryTest, RemembersTheQueryAndNoOther) {
  CrashMemory memory(16, minutes(10));
  EXPECT_FALSE(memory.Remembers({}, "SELECT 1", "", kNow));
  memory.Remember({}, "SELECT 1", "", kNow);
  EXPECT_TRUE(memory.Remembers({}, "SELECT 1", "", kNow));
  EXPECT_FALSE(memory.Remembers({}, "SELECT 2", "", kNow));
  EXPECT_FALSE(memory.Remembers({}, "SELECT 1", "comment", kNow));
}

TEST(PoolCrashMemoryTest, TheSameTextWithAnotherOperationIsAnotherQuery) {
  CrashMemory memory(16, minutes(10));
  channel::JobHeader parse;
  parse.operations = channel::kOpParse;
  channel::JobHeader scan;
  scan.operations = channel::kOpScan;
  memory.Remember(parse, "SELECT 1", "", kNow);
  EXPECT_TRUE(memory.Remembers(parse, "SELECT 1", "", kNow));
  EXPECT_FALSE(memory.Remembers(scan, "SELECT 1", "", kNow));
}

TEST(PoolCrashMemoryTest, TextAndCommentsAreNotRunTogether) {
  CrashMemory memory(16, minutes(10));
  memory.Remember({}, "ab", "c", kNow);
  EXPECT_FALSE(memory.Remembers({}, "a", "bc", kNow));
}

TEST(PoolCrashMemoryTest, ForgetsAfterAWhile) {
  CrashMemory memory(16, minutes(10));
  memory.Remember({}, "SELECT 1", "", kNow);
  EXPECT_TRUE(memory.Remembers({}, "SELECT 1", "", kNow + minutes(9)));
  EXPECT_FALSE(memory.Remembers({}, "SELECT 1", "", kNow + minutes(10)));
  EXPECT_EQ(memory.size(), 0u);
}

TEST(PoolCrashMemoryTest, RememberingAgainStartsTheWhileAnew) {
  CrashMemory memory(16, minutes(10));
  memory.Remember({}, "SELECT 1", "", kNow);
  memory.Remember({}, "SELECT 1", "", kNow + minutes(5));
  EXPECT_TRUE(memory.Remembers({}, "SELECT 1", "", kNow + minutes(14)));
  EXPECT_FALSE(memory.Remembers({}, "SELECT 1", "", kNow + minutes(15)));
}

TEST(PoolCrashMemoryTest, TheOldestGivesWayWhenItIsFull) {
  CrashMemory memory(3, minutes(10));
  for (const char* text : {"1", "2", "3", "4"}) memory.Remember({}, text, "", kNow);
  EXPECT_EQ(memory.size(), 3u);
  EXPECT_FALSE(memory.Remembers({}, "1", "", kNow));
  for (const char* text : {"2", "3", "4"}) EXPECT_TRUE(memory.Remembers({}, text, "", kNow));
}

TEST(PoolCrashMemoryTest, WithoutRoomNothingIsRemembered) {
  CrashMemory memory(0, minutes(10));
  memory.Remember({}, "SELECT 1", "", kNow);
  EXPECT_FALSE(memory.Remembers({}, "SELECT 1", "", kNow));
}

}  // namespace
}  // namespace pgparsed::pool
