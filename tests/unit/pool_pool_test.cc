// The pool over good workers (tests/fixtures/echo.cc), some of which are made to die.
#include "pool/pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

#include "pool_harness.h"

namespace pgparsed::pool {
namespace {

using ::testing::HasSubstr;

std::string StartError(const PoolOptions& options) {
  auto pool = Pool::Start(options);
  return pool.ok() ? "" : std::string(pool.status().message());
}

// The value of a fact of the echo worker ("pid", "group", ...).
std::string Fact(const std::string& facts, const std::string& name) {
  const size_t at = facts.find(name + "=");
  if (at == std::string::npos) return "";
  const size_t from = at + name.size() + 1;
  return facts.substr(from, facts.find(' ', from) - from);
}

bool Exists(pid_t pid) { return kill(pid, 0) == 0; }

TEST_F(PoolTest, AnswersJobs) {
  Start("echo");
  EXPECT_EQ(Run("SELECT 1").text, "SELECT 1");
  EXPECT_EQ(Run("").text, "");
  EXPECT_EQ(Run("comments", {.comments = "-- x"}).text, "-- x");
  EXPECT_EQ(Run("nul").text, "yes");
  EXPECT_EQ(pool_->Counters().jobs_done, 4u);
  EXPECT_TRUE(pool_->Ready());
}

TEST_F(PoolTest, TextsAndAnswersOfManyMebibytesGoThrough) {
  Start("echo");
  const std::string text(16u << 20, 'q');
  EXPECT_EQ(Run(text).text, text);
  EXPECT_EQ(Run("answer 60000000").text.size(), 60'000'000u);
}

TEST_F(PoolTest, ATextOverTheLimitIsRefused) {
  PoolOptions options = Options("echo");
  options.max_text_bytes = 1000;
  Start(options);
  EXPECT_EQ(Run(std::string(1000, 'x')).text.size(), 1000u);
  EXPECT_EQ(Run(std::string(1001, 'x')).reason, Reason::kQueryTooLarge);
  EXPECT_EQ(Run(std::string(999, 'x'), {.comments = "--"}).reason, Reason::kQueryTooLarge);
}

TEST_F(PoolTest, AGrammarThatIsNotThereIsRefused) {
  Start("echo");
  EXPECT_EQ(Run("SELECT 1", {.grammar = 12}).reason, Reason::kUnsupportedGrammar);
}

TEST_F(PoolTest, AWorkerInheritsNothingButItsChannel) {
  Start("echo");
  const std::string facts = Run("process").text;
  EXPECT_EQ(Fact(facts, "fds"), "0,1,2,") << facts;  // the channel is closed once it is mapped
  EXPECT_EQ(Fact(facts, "stdin"), "/dev/null");
  EXPECT_EQ(Fact(facts, "group"), Fact(facts, "pid")) << "Ctrl-C must not reach it";
  EXPECT_EQ(Fact(facts, "parent"), std::to_string(getpid()));
  EXPECT_EQ(Fact(facts, "deathsig"), std::to_string(SIGKILL));
  EXPECT_EQ(Fact(facts, "env"), "LANG=C.UTF-8;");
}

TEST_F(PoolTest, WorkersDieWithAFrontThatIsKilled) {
  FILE* front = popen((FixtureDir("front") + "/front " + FixtureDir("echo")).c_str(), "r");
  ASSERT_NE(front, nullptr);
  int front_pid = 0;
  int worker_pid = 0;
  ASSERT_EQ(fscanf(front, "%d %d", &front_pid, &worker_pid), 2);
  EXPECT_TRUE(Exists(worker_pid));
  kill(front_pid, SIGKILL);
  pclose(front);
  EXPECT_TRUE(Eventually([&] { return !Exists(worker_pid); }));
}

TEST_F(PoolTest, AJobWhoseWorkerDiedIsRunOnceMore) {
  WorkerFolder folder;
  Start("echo");
  const std::string text = "crash-once " + folder.path() + "/crashed";
  EXPECT_EQ(Run(text).text, text);
  EXPECT_EQ(pool_->Counters().jobs_retried, 1u);
  EXPECT_EQ(pool_->Counters().workers_crashed, 1u);
}

TEST_F(PoolTest, AnIdleWorkerThatDiedIsReplacedBeforeTheNextJob) {
  Start("echo");
  kill(std::stoi(Fact(Run("process").text, "pid")), SIGKILL);
  EXPECT_TRUE(Eventually([&] { return pool_->Counters().workers_started == 2; }));
  EXPECT_TRUE(Eventually([&] { return pool_->Ready(); }));
  EXPECT_EQ(Run("SELECT 1").text, "SELECT 1");
  EXPECT_EQ(pool_->Counters().jobs_retried, 0u);
}

TEST_F(PoolTest, ASpareTakesTheDeadWorkersPlace) {
  WorkerFolder folder;
  folder.Add("echo", 99);
  PoolOptions options = Options("echo");
  options.worker_dir = folder.path();
  options.spare_workers = 1;
  Start(options);
  ASSERT_TRUE(Eventually([&] { return pool_->Counters().workers_started == 2; }));
  folder.Remove(99);  // no replacement can be started
  EXPECT_EQ(Run("memory").reason, Reason::kParserMemoryLimit);
  EXPECT_EQ(Run("SELECT 1").text, "SELECT 1");
  EXPECT_TRUE(pool_->Ready());
}

TEST_F(PoolTest, ASpareDoesNotRunJobsBesidesTheWorkers) {
  PoolOptions options = Options("echo");
  options.spare_workers = 1;
  Start(options);
  ASSERT_TRUE(Eventually([&] { return pool_->Counters().workers_started == 2; }));
  PendingJob first = Submit("sleep");
  ASSERT_TRUE(Eventually([&] { return pool_->Counters().queue_length == 0; }));
  PendingJob second = Submit("sleep");
  EXPECT_EQ(Run("x", {.deadline = absl::Now() + absl::Milliseconds(50)}).reason, Reason::kDeadline);
  EXPECT_EQ(pool_->Counters().queue_length, 1u);
  EXPECT_EQ(pool_->Grammars()[0].workers, 1u);
}

TEST_F(PoolTest, ASpareGoesOnWhenTheWorkersSlotsAreAllLeased) {
  PoolOptions options = Options("echo");
  options.spare_workers = 1;
  Start(options);
  ASSERT_TRUE(Eventually([&] { return pool_->Counters().workers_started == 2; }));
  std::vector<Outcome> kept;
  for (int i = 0; i < 8; ++i) {
    kept.push_back(Run(std::to_string(i), {.keep_lease = true}));
    EXPECT_EQ(kept.back().text, std::to_string(i));
  }
}

TEST_F(PoolTest, ASpareTakesTheJobThatWaitsForAWorkerWithoutAFreeSlot) {
  PoolOptions options = Options("echo");
  options.spare_workers = 1;
  Start(options);
  ASSERT_TRUE(Eventually([&] { return pool_->Counters().workers_started == 2; }));
  std::vector<Outcome> kept;
  for (int i = 0; i < 3; ++i) {
    kept.push_back(Run("kept", {.keep_lease = true}));
    // The worker is idle again by then, and gets the next job too.
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  PendingJob last_slot = Submit("sleep 50", {.keep_lease = true});
  ASSERT_TRUE(Eventually([&] { return pool_->Counters().queue_length == 0; }));
  EXPECT_EQ(Run("waits").text, "waits");
  EXPECT_TRUE(last_slot.ended());
}

TEST_F(PoolTest, AGrammarThatStartsOnFirstUseHasASpareToo) {
  WorkerFolder folder;
  folder.Add("echo", 98);
  folder.Add("echo", 99);
  PoolOptions options = Options("echo");
  options.worker_dir = folder.path();
  options.default_grammar = 98;
  options.spare_workers = 1;
  Start(options);
  ASSERT_TRUE(Eventually(
      [&] { return pool_->Counters().workers_started == 3 && pool_->Grammars()[1].workers == 0; }));
  EXPECT_EQ(Run("SELECT 1", {.grammar = 99}).text, "SELECT 1");
  EXPECT_TRUE(Eventually([&] { return pool_->Counters().workers_started == 5; }));
}

TEST_F(PoolTest, AJobIsNotBlamedForAWorkerThatDiedBeforeItTookItUp) {
  WorkerFolder folder;
  Start("echo");
  const pid_t worker = std::stoi(Fact(Run("process").text, "pid"));
  ASSERT_EQ(kill(worker, SIGSTOP), 0);
  const std::string text = "crash-once " + folder.path() + "/crashed";
  PendingJob job = Submit(text);
  ASSERT_TRUE(Eventually([&] { return pool_->Counters().queue_length == 0; }));
  ASSERT_EQ(kill(worker, SIGKILL), 0);
  EXPECT_EQ(job.Get().text, text) << "the first death was held against it";
  EXPECT_EQ(pool_->Counters().workers_crashed, 2u);
}

TEST_F(PoolTest, AJobWhoseWorkersAreKilledFromOutsideGoesOn) {
  Start("echo");
  PendingJob job = Submit("sleep 300");
  for (int i = 0; i < 3; ++i) {
    const uint64_t taken = pool_->Counters().workers_crashed;
    ASSERT_TRUE(Eventually([&] {
      for (const WorkerStatus& worker : pool_->WorkerStatuses()) {
        if (worker.busy) return kill(worker.pid, SIGKILL) == 0;
      }
      return false;
    }));
    ASSERT_TRUE(Eventually([&] { return pool_->Counters().workers_crashed > taken; }));
  }
  EXPECT_TRUE(job.Get().ok);
  EXPECT_EQ(pool_->Counters().jobs_retried, 3u);
}

TEST_F(PoolTest, AJobThatKillsTwiceIsRefusedFromThenOn) {
  Start("echo");
  for (const char* text : {"crash", "segv", "exit0"}) {
    const uint64_t crashed = pool_->Counters().workers_crashed;
    EXPECT_EQ(Run(text).reason, Reason::kParserCrashed) << text;
    EXPECT_EQ(pool_->Counters().workers_crashed, crashed + 2);
    EXPECT_EQ(Run(text).reason, Reason::kParserCrashed);
    EXPECT_EQ(pool_->Counters().workers_crashed, crashed + 2) << "it reached a worker again";
    EXPECT_EQ(Run("SELECT 1").text, "SELECT 1");
  }
}

TEST_F(PoolTest, ARefusalIsForgottenAfterAWhile) {
  PoolOptions options = Options("echo");
  options.crash_memory = absl::ZeroDuration();
  Start(options);
  EXPECT_EQ(Run("crash").reason, Reason::kParserCrashed);
  EXPECT_EQ(Run("crash").reason, Reason::kParserCrashed);
  EXPECT_EQ(pool_->Counters().workers_crashed, 4u);
}

TEST_F(PoolTest, LastWordsNameTheReasonAndNothingIsRetried) {
  Start("echo");
  EXPECT_EQ(Run("stack").reason, Reason::kNestingTooDeep);
  EXPECT_EQ(Run("memory").reason, Reason::kParserMemoryLimit);
  EXPECT_EQ(pool_->Counters().jobs_retried, 0u);
  EXPECT_EQ(pool_->Counters().workers_crashed, 2u);
  EXPECT_EQ(Run("SELECT 1").text, "SELECT 1");
}

TEST_F(PoolTest, TheServersTimeLimitKillsTheWorker) {
  PoolOptions options = Options("echo");
  options.max_job_time = absl::Milliseconds(50);
  Start(options);
  EXPECT_EQ(Run("sleep").reason, Reason::kParserTimeLimit);
  EXPECT_EQ(Run("SELECT 1").text, "SELECT 1");
  EXPECT_EQ(pool_->Counters().workers_killed_for_time, 1u);
  EXPECT_EQ(pool_->Counters().jobs_retried, 0u);
  EXPECT_EQ(pool_->Counters().workers_crashed, 0u);
}

TEST_F(PoolTest, ADeadlineEndsARunningJobAndItsWorker) {
  Start("echo");
  EXPECT_EQ(Run("sleep", {.deadline = absl::Now() + absl::Milliseconds(50)}).reason,
            Reason::kDeadline);
  EXPECT_EQ(Run("SELECT 1").text, "SELECT 1");
  EXPECT_EQ(pool_->Counters().workers_killed_for_time, 1u);
}

TEST_F(PoolTest, ADeadlineEndsAQueuedJobThoughNoWorkerIsFree) {
  Start("echo");
  PendingJob running = Submit("sleep");
  EXPECT_EQ(Run("SELECT 1", {.deadline = absl::Now() + absl::Milliseconds(50)}).reason,
            Reason::kDeadline);
  EXPECT_FALSE(running.ended());
  EXPECT_EQ(pool_->Counters().workers_killed_for_time, 0u);
}

TEST_F(PoolTest, CancellingARunningJobKillsItsWorker) {
  Start("echo");
  PendingJob job = Submit("sleep");
  job.handle->Cancel();
  EXPECT_EQ(job.Get().reason, Reason::kCancelled);
  EXPECT_EQ(Run("SELECT 1").text, "SELECT 1");
}

TEST_F(PoolTest, CancellingAQueuedJobLeavesTheOthersAlone) {
  Start("echo");
  PendingJob running = Submit("sleep");
  ASSERT_TRUE(Eventually([&] { return pool_->Counters().queue_length == 0; }));
  PendingJob queued = Submit("SELECT 1");
  queued.handle->Cancel();
  EXPECT_EQ(queued.Get().reason, Reason::kCancelled);
  EXPECT_FALSE(running.ended());
}

TEST_F(PoolTest, CancellingTooLateDoesNothing) {
  Start("echo");
  PendingJob job = Submit("SELECT 1");
  EXPECT_EQ(job.Get().text, "SELECT 1");
  job.handle->Cancel();
  EXPECT_EQ(Run("SELECT 2").text, "SELECT 2");
  EXPECT_EQ(pool_->Counters().workers_started, 1u);
}

TEST_F(PoolTest, AFullQueueRefuses) {
  PoolOptions options = Options("echo");
  options.max_queue_length = 1;
  Start(options);
  PendingJob running = Submit("sleep");
  ASSERT_TRUE(Eventually([&] { return pool_->Counters().queue_length == 0; }));
  PendingJob queued = Submit("SELECT 1");
  EXPECT_EQ(Run("SELECT 2").reason, Reason::kOverloaded);
  EXPECT_EQ(pool_->Counters().jobs_refused, 1u);
  running.handle->Cancel();
  EXPECT_EQ(queued.Get().text, "SELECT 1");
}

TEST_F(PoolTest, AJobThatWaitsTooLongIsOverload) {
  PoolOptions options = Options("echo");
  options.max_queue_time = absl::Milliseconds(20);
  Start(options);
  PendingJob running = Submit("sleep");
  ASSERT_TRUE(Eventually([&] { return pool_->Counters().queue_length == 0; }));
  EXPECT_EQ(Run("SELECT 1").reason, Reason::kOverloaded);
}

TEST_F(PoolTest, UnaryJobsDoNotWaitBehindStreams) {
  PoolOptions options = Options("echo");
  options.workers = 2;
  Start(options);
  Run("SELECT 1");  // unary calls come, so streams leave a worker to them
  std::vector<PendingJob> streams;
  for (int i = 0; i < 4; ++i) streams.push_back(Submit("sleep", {.lane = Lane::kStream}));
  for (int i = 0; i < 4; ++i) EXPECT_EQ(Run("SELECT 1").text, "SELECT 1");
  for (const PendingJob& stream : streams) EXPECT_FALSE(stream.ended());
}

TEST_F(PoolTest, AWorkerWhoseSlotsAreAllLeasedWaitsForOne) {
  Start("echo");
  std::vector<Outcome> kept;
  for (int i = 0; i < 4; ++i) kept.push_back(Run(std::to_string(i), {.keep_lease = true}));
  PendingJob fifth = Submit("fifth");
  EXPECT_EQ(pool_->Counters().queue_length, 1u);
  EXPECT_FALSE(fifth.ended());
  kept.pop_back();
  EXPECT_EQ(fifth.Get().text, "fifth");
}

TEST_F(PoolTest, ALeaseOutlivesItsWorkerAndThePool) {
  Start("echo");
  Outcome kept = Run("kept", {.keep_lease = true});
  EXPECT_EQ(Run("crash").reason, Reason::kParserCrashed);
  pool_.reset();
  kept.lease.reset();
}

TEST_F(PoolTest, OtherGrammarsStartOnFirstUseAndStopWhenIdle) {
  WorkerFolder folder;
  folder.Add("echo", 97);
  folder.Add("echo", 98);
  folder.Add("echo", 99);
  PoolOptions options = Options("echo");
  options.worker_dir = folder.path();
  options.default_grammar = 98;
  options.workers = 2;
  options.grammar_idle_timeout = absl::Milliseconds(50);
  Start(options);

  const auto workers = [&](size_t index) { return pool_->Grammars()[index].workers; };
  std::vector<GrammarStatus> grammars = pool_->Grammars();
  ASSERT_EQ(grammars.size(), 3u);
  EXPECT_EQ(grammars[0].major, 98u);
  EXPECT_TRUE(grammars[0].is_default);
  EXPECT_EQ(grammars[0].workers, 2u);
  EXPECT_EQ(grammars[1].major, 99u);
  EXPECT_EQ(grammars[1].library_version, "fixture-1");
  EXPECT_EQ(grammars[1].postgres_version, "99.1");
  EXPECT_EQ(grammars[1].postgres_version_num, 990001u);
  EXPECT_EQ(grammars[1].allocator, "system");
  EXPECT_EQ(grammars[1].features, channel::kFeatureParserOptions);
  EXPECT_FALSE(grammars[1].is_default);
  EXPECT_EQ(grammars[2].major, 97u);
  EXPECT_TRUE(Eventually([&] { return workers(1) == 0 && workers(2) == 0; }));

  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(Run("SELECT 1", {.grammar = 99}).text, "SELECT 1");
    EXPECT_TRUE(Eventually([&] { return workers(1) == 0; }));
  }
  EXPECT_EQ(workers(0), 2u) << "the default grammar does not stop";
}

TEST_F(PoolTest, TheNewestGrammarIsTheDefault) {
  WorkerFolder folder;
  folder.Add("echo", 9);
  folder.Add("echo", 10);
  PoolOptions options = Options("echo");
  options.worker_dir = folder.path();
  Start(options);
  EXPECT_EQ(pool_->Grammars()[0].major, 10u);
}

TEST_F(PoolTest, ADefaultGrammarThatIsNotThereIsNamedWithThoseThatAre) {
  WorkerFolder folder;
  folder.Add("echo", 15);
  folder.Add("echo", 17);
  PoolOptions options = Options("echo");
  options.worker_dir = folder.path();
  options.default_grammar = 18;
  EXPECT_THAT(StartError(options), HasSubstr("18"));
  EXPECT_THAT(StartError(options), HasSubstr("15, 17"));
}

TEST_F(PoolTest, AWorkerThatDiesAtItsStartIsNamedWithItsStatus) {
  EXPECT_THAT(StartError(Options("dies_at_start")), HasSubstr("dies_at_start/pgparsed-worker-99"));
  EXPECT_THAT(StartError(Options("dies_at_start")), HasSubstr("exited with status 3"));
}

TEST_F(PoolTest, AWorkerOfAnotherGrammarThanItsNameIsNamed) {
  EXPECT_THAT(StartError(Options("impostor")), HasSubstr("impostor/pgparsed-worker-99"));
  EXPECT_THAT(StartError(Options("impostor")), HasSubstr("it has grammar 7"));
}

TEST_F(PoolTest, AFileThatIsNoProgramIsNamed) {
  WorkerFolder folder;
  std::ofstream(folder.File(18)) << "not a program";
  std::filesystem::permissions(folder.File(18), std::filesystem::perms(0755));
  PoolOptions options = Options("echo");
  options.worker_dir = folder.path();
  EXPECT_THAT(StartError(options), HasSubstr("cannot start '" + folder.File(18)));
}

TEST_F(PoolTest, AFolderThatIsMissingIsNamed) {
  EXPECT_THAT(StartError(Options("no_such_fixture")), HasSubstr("no_such_fixture"));
}

TEST_F(PoolTest, WhenNoWorkerCanBeStartedJobsAreUnavailableUntilOneCan) {
  WorkerFolder folder;
  folder.Add("echo", 99);
  PoolOptions options = Options("echo");
  options.worker_dir = folder.path();
  Start(options);
  folder.Remove(99);
  const pid_t worker = std::stoi(Fact(Run("process").text, "pid"));
  kill(worker, SIGKILL);
  EXPECT_TRUE(Eventually([&] { return Run("SELECT 1").reason == Reason::kUnavailable; }));
  EXPECT_FALSE(pool_->Ready());
  folder.Add("echo", 99);
  EXPECT_TRUE(Eventually([&] { return pool_->Ready(); }));
  EXPECT_EQ(Run("SELECT 1").text, "SELECT 1");
}

TEST_F(PoolTest, DrainingFinishesWhatItHasAndRefusesTheRest) {
  Start("echo");
  PendingJob running = Submit("sleep 20");
  PendingJob queued = Submit("SELECT 1");
  pool_->Drain(absl::Now() + absl::Minutes(1));
  EXPECT_EQ(running.Get().text, "sleep 20");
  EXPECT_EQ(queued.Get().text, "SELECT 1");
  EXPECT_EQ(Run("SELECT 2").reason, Reason::kDraining);
  EXPECT_FALSE(pool_->Ready());
}

TEST_F(PoolTest, DrainingEndsWhatIsLeftAtItsDeadline) {
  Start("echo");
  PendingJob running = Submit("sleep");
  PendingJob queued = Submit("SELECT 1");
  pool_->Drain(absl::Now() + absl::Milliseconds(20));
  EXPECT_EQ(running.Get().reason, Reason::kDraining);
  EXPECT_EQ(queued.Get().reason, Reason::kDraining);
}

TEST_F(PoolTest, APoolThatIsDestroyedEndsEveryJobAndWorker) {
  PoolOptions options = Options("echo");
  options.workers = 2;
  Start(options);
  const pid_t worker = std::stoi(Fact(Run("process").text, "pid"));
  std::vector<PendingJob> jobs;
  for (int i = 0; i < 8; ++i) jobs.push_back(Submit("sleep"));
  pool_.reset();
  for (PendingJob& job : jobs) {
    EXPECT_TRUE(job.ended());
    EXPECT_EQ(job.Get().reason, Reason::kDraining);
    job.handle->Cancel();
  }
  EXPECT_FALSE(Exists(worker));
}

TEST_F(PoolTest, EveryCallIsAnsweredRightlyWhileWorkersAreKilled) {
  PoolOptions options = Options("echo");
  options.workers = 2;
  Start(options);
  std::atomic<bool> stop{false};
  std::atomic<int> kills{0};
  // The killer asks a worker for its process id, as the callers ask for theirs.
  std::thread killer([&] {
    while (!stop) {
      const Outcome facts = Run("process");
      if (facts.ok && kill(std::stoi(Fact(facts.text, "pid")), SIGKILL) == 0) ++kills;
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
  });
  constexpr int kCallers = 4;
  constexpr int kCalls = 2500;
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < kCallers; ++caller) {
    callers.emplace_back([&, caller] {
      for (int call = 0; call < kCalls || kills < 3; ++call) {
        const std::string text = absl::StrCat("caller ", caller, " call ", call);
        const Outcome outcome = Run(text);
        if (!outcome.ok || outcome.text != text) {
          ++wrong;
          ADD_FAILURE() << text << ": " << outcome.message;
        }
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  stop = true;
  killer.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_GE(kills, 3);
}

}  // namespace
}  // namespace pgparsed::pool
