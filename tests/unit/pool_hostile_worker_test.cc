// The pool over workers that misbehave: it survives each, says what happened, and answers others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "pool_harness.h"

namespace pgparsed::pool {
namespace {

class PoolHostileWorkerTest : public PoolTest {
 protected:
  // A job that no worker survives: tried twice, then refused.
  void ExpectCrash(const std::string& text, uint64_t deaths = 2) {
    const PoolCounters before = pool_->Counters();
    EXPECT_EQ(Run(text).reason, Reason::kParserCrashed) << text;
    EXPECT_TRUE(Eventually([&] {
      return pool_->Counters().workers_crashed == before.workers_crashed + deaths;
    })) << text;
    EXPECT_EQ(pool_->Counters().jobs_retried, before.jobs_retried + deaths - 1) << text;
  }
};

TEST_F(PoolHostileWorkerTest, OneThatAborts) {
  Start("aborts");
  ExpectCrash("SELECT 1");
  ExpectCrash("SELECT 2");
}

TEST_F(PoolHostileWorkerTest, OneThatExitsAsIfAllWereWell) {
  Start("exits_zero");
  ExpectCrash("SELECT 1");
}

TEST_F(PoolHostileWorkerTest, OneThatSleeps) {
  PoolOptions options = Options("sleeps");
  options.max_job_time = absl::Milliseconds(30);
  Start(options);
  for (uint64_t i = 1; i <= 3; ++i) {
    EXPECT_EQ(Run("SELECT 1").reason, Reason::kParserTimeLimit);
    EXPECT_TRUE(Eventually([&] { return pool_->Counters().workers_killed_for_time == i; }));
  }
}

#ifndef PGPARSED_SANITIZED  // there is no sandbox then
TEST_F(PoolHostileWorkerTest, OneThatTriesToLeaveTheSandbox) {
  const WorkerFolder folder;
  const std::string file = folder.path() + "/made";
  Start("breaks_out");
  EXPECT_EQ(Run("nothing").text, "did it");
  for (const std::string& what :
       {"open " + file, std::string("read"), std::string("socket"), std::string("fork"),
        std::string("clone"), std::string("exec"), std::string("kill"), std::string("ptrace"),
        std::string("code"), std::string("limits"), std::string("memory-file")}) {
    ExpectCrash(what);
  }
  EXPECT_FALSE(std::filesystem::exists(file));
  EXPECT_EQ(Run("nothing").text, "did it");
}
#endif

TEST_F(PoolHostileWorkerTest, OneThatScribblesOverItsChannel) {
  PoolOptions options = Options("scribbles");
  options.max_text_bytes = 1u << 20;
  options.max_answer_bytes = 1u << 20;
  Start(options);
  ExpectCrash("ones");
  ExpectCrash("zeros");
}

TEST_F(PoolHostileWorkerTest, OneThatEatsMemory) {
  Start("eats_memory");
  EXPECT_EQ(Run("SELECT 1").reason, Reason::kParserMemoryLimit);
  EXPECT_EQ(pool_->Counters().jobs_retried, 0u);
  // SIGKILL from outside, as the kernel sends it: tried more often.
  ExpectCrash("silent", 34);
}

TEST_F(PoolHostileWorkerTest, OneThatWritesStatesThatCannotBe) {
  Start("lies");
  for (const char* text : {"state 0", "state 4", "state 77", "state -1"}) {
    ExpectCrash(text);
    EXPECT_EQ(Run("SELECT 1").text, "SELECT 1") << text;
  }
}

TEST_F(PoolHostileWorkerTest, OneThatAnswersBeforeItWasAskedTo) {
  // The state says "answered", the answer is what the slot held before: nothing.
  Start("lies");
  ExpectCrash("state 3");
  EXPECT_EQ(Run("SELECT 1").text, "SELECT 1");
}

TEST_F(PoolHostileWorkerTest, OneThatLiesAboutLengthsAndCounts) {
  Start("lies");
  for (const char* text : {"answer-bytes", "no-answer", "total-bytes", "version", "section-count",
                           "section-bytes", "last-section"}) {
    ExpectCrash(text);
    EXPECT_EQ(Run("SELECT 1").text, "SELECT 1") << text;
  }
}

TEST_F(PoolHostileWorkerTest, OneWithLastWordsThatDoNotExist) {
  Start("lies");
  ExpectCrash("last-words");
}

TEST_F(PoolHostileWorkerTest, OneThatChangesTheGeometryHarmsNobody) {
  Start("lies");
  for (int i = 0; i < 8; ++i) EXPECT_EQ(Run("geometry").text, "geometry");
  EXPECT_EQ(pool_->Counters().workers_crashed, 0u);
}

TEST_F(PoolHostileWorkerTest, OneThatDoesNotRingIsHeardAllTheSame) {
  Start("lies");
  EXPECT_EQ(Run("no-ring").text, "no-ring");
  EXPECT_EQ(pool_->Counters().workers_crashed, 0u);
}

TEST_F(PoolHostileWorkerTest, OneThatRingsWithoutEndIsKilledAtTheTimeLimit) {
  PoolOptions options = Options("lies");
  options.max_job_time = absl::Milliseconds(50);
  Start(options);
  EXPECT_EQ(Run("rings").reason, Reason::kParserTimeLimit);
  EXPECT_EQ(Run("SELECT 1").text, "SELECT 1");
}

TEST_F(PoolHostileWorkerTest, OneThatMovesTheSleeperToAnotherFutexCannotKeepIt) {
  PoolOptions options = Options("lies");
  options.max_job_time = absl::Hours(1);  // it would be found out at the time limit anyway
  Start(options);
  PendingJob job = Submit("requeue");
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  job.handle->Cancel();
  EXPECT_EQ(job.Get().reason, Reason::kCancelled);
  EXPECT_EQ(Run("SELECT 1").text, "SELECT 1");
}

}  // namespace
}  // namespace pgparsed::pool
