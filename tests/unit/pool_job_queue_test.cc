#include "pool/job_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "pgparsed/errors.h"

namespace pgparsed::pool {
namespace {

using Clock = JobQueue::Clock;
using ::testing::ElementsAre;

class CountingRunner final : public JobRunner {
 public:
  void WakeUp() override { ++wakes; }
  std::atomic<int> wakes{0};
};

class PoolJobQueueTest : public ::testing::Test {
 protected:
  void Make(JobQueue::Limits limits = {}) {
    queue_ = std::make_shared<JobQueue>(limits, [this] { ++news_; });
    queue_->StayAwake();
  }

  JobQueue::JobPtr NewJob(std::string text, Lane lane = Lane::kUnary,
                          absl::Time deadline = absl::InfiniteFuture()) {
    Job job;
    job.lane = lane;
    job.text = std::move(text);
    job.deadline = deadline;
    job.done = [this](absl::StatusOr<JobAnswer> outcome) { ends_.push_back(outcome.status()); };
    return std::make_shared<QueuedJob>(std::move(job), queue_);
  }

  absl::Status Push(std::string text, Lane lane = Lane::kUnary) {
    return queue_->Push(NewJob(std::move(text), lane));
  }

  // The next job's text, or "-" if there is none that may run: then Pop sleeps, is woken and gives
  // up.
  std::string PopText() {
    std::atomic<bool> popped{false};
    std::thread waker([&] {
      while (!popped) {
        queue_->WakeAll();
        std::this_thread::yield();
      }
    });
    int asked = 0;
    JobQueue::JobPtr job = queue_->Pop(runner_, [&asked] { return ++asked > 1; }, [] {});
    popped = true;
    waker.join();
    if (job == nullptr) return "-";
    running_.push_back(job);
    return job->job.text;
  }

  // What a worker does after a job.
  void FinishAll() {
    for (const auto& job : std::exchange(running_, {})) queue_->Finish(job);
  }

  std::vector<std::string> PopAll() {
    std::vector<std::string> texts;
    for (;;) {
      std::string text = PopText();
      FinishAll();
      if (text == "-") return texts;
      texts.push_back(std::move(text));
    }
  }

  void EndEnded(Clock::time_point now) {
    for (auto& ended : queue_->TakeEnded(now)) ended.job->End(ended.why);
  }

  std::vector<Reason> EndReasons() const {
    std::vector<Reason> reasons;
    for (const absl::Status& end : ends_) reasons.push_back(ReasonOf(end));
    return reasons;
  }

  std::shared_ptr<JobQueue> queue_;
  std::shared_ptr<CountingRunner> runner_ = std::make_shared<CountingRunner>();
  std::vector<JobQueue::JobPtr> running_;
  std::vector<absl::Status> ends_;
  std::atomic<int> news_{0};
};

TEST_F(PoolJobQueueTest, JobsOfALaneComeInOrder) {
  Make();
  for (const char* text : {"a", "b", "c"}) ASSERT_TRUE(Push(text).ok());
  EXPECT_THAT(PopAll(), ElementsAre("a", "b", "c"));
}

TEST_F(PoolJobQueueTest, UnaryGoesFirst) {
  Make();
  ASSERT_TRUE(Push("stream", Lane::kStream).ok());
  ASSERT_TRUE(Push("unary").ok());
  EXPECT_THAT(PopAll(), ElementsAre("unary", "stream"));
}

TEST_F(PoolJobQueueTest, AStreamJobIsNotStarvedByUnaryOnes) {
  Make();
  ASSERT_TRUE(Push("stream", Lane::kStream).ok());
  ASSERT_TRUE(Push("stream 2", Lane::kStream).ok());
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(Push(std::to_string(i)).ok());
  std::vector<std::string> expected;
  for (int i = 0; i < 8; ++i) expected.push_back(std::to_string(i));
  expected.push_back("stream");
  for (int i = 8; i < 16; ++i) expected.push_back(std::to_string(i));
  expected.push_back("stream 2");
  for (int i = 16; i < 20; ++i) expected.push_back(std::to_string(i));
  EXPECT_EQ(PopAll(), expected);
}

TEST_F(PoolJobQueueTest, OneOfSeveralWorkersIsKeptFreeOfStreamsWhileUnaryCallsCome) {
  Make({.unary_memory = std::chrono::hours(1)});
  queue_->SetWorkers(3);
  ASSERT_TRUE(Push("unary 1").ok());
  EXPECT_EQ(PopText(), "unary 1");
  FinishAll();
  for (const char* text : {"s1", "s2", "s3"}) ASSERT_TRUE(Push(text, Lane::kStream).ok());
  EXPECT_EQ(PopText(), "s1");
  EXPECT_EQ(PopText(), "s2");
  EXPECT_EQ(PopText(), "-");
  ASSERT_TRUE(Push("unary 2").ok());
  EXPECT_EQ(PopText(), "unary 2");
  FinishAll();
  EXPECT_EQ(PopText(), "s3");
  FinishAll();
}

TEST_F(PoolJobQueueTest, StreamsMayHaveAllWorkersWhenNoUnaryCallCame) {
  Make({.unary_memory = std::chrono::hours(1)});
  queue_->SetWorkers(2);
  for (const char* text : {"s1", "s2", "s3"}) ASSERT_TRUE(Push(text, Lane::kStream).ok());
  EXPECT_EQ(PopText(), "s1");
  EXPECT_EQ(PopText(), "s2");
  EXPECT_EQ(PopText(), "-") << "as many as there are workers";
  FinishAll();
}

TEST_F(PoolJobQueueTest, AnIdleWorkerTakesAStreamJobOnceUnaryCallsAreForgotten) {
  Make({.unary_memory = std::chrono::milliseconds(50)});
  queue_->SetWorkers(2);
  ASSERT_TRUE(Push("unary").ok());
  EXPECT_EQ(PopText(), "unary");
  FinishAll();
  for (const char* text : {"s1", "s2"}) ASSERT_TRUE(Push(text, Lane::kStream).ok());
  EXPECT_EQ(PopText(), "s1");
  // Nobody wakes this one: s1 runs on.
  const JobQueue::JobPtr job = queue_->Pop(runner_, [] { return false; }, [] {});
  ASSERT_NE(job, nullptr);
  EXPECT_EQ(job->job.text, "s2");
  queue_->Finish(job);
  FinishAll();
}

TEST_F(PoolJobQueueTest, AJobThatHasEndedHoldsNothingOfItsCaller) {
  Make();
  auto held = std::make_shared<int>(0);
  auto job = NewJob("a");
  job->job.on_piece = [held](std::string_view, std::shared_ptr<void>) {};
  ASSERT_TRUE(queue_->Push(job).ok());
  job->Cancel();
  EndEnded(Clock::now());
  EXPECT_EQ(held.use_count(), 1) << "the handle may be kept by what the caller's functions hold";
}

TEST_F(PoolJobQueueTest, ASingleWorkerRunsStreamsToo) {
  Make();
  queue_->SetWorkers(1);
  ASSERT_TRUE(Push("s1", Lane::kStream).ok());
  EXPECT_EQ(PopText(), "s1");
  FinishAll();
}

TEST_F(PoolJobQueueTest, NoMoreJobsRunAtATimeThanMay) {
  Make({.max_running = 2});
  for (const char* text : {"a", "b", "c"}) ASSERT_TRUE(Push(text).ok());
  EXPECT_EQ(PopText(), "a");
  EXPECT_EQ(PopText(), "b");
  EXPECT_EQ(PopText(), "-");
  FinishAll();
  EXPECT_EQ(PopText(), "c");
  FinishAll();
}

TEST_F(PoolJobQueueTest, AJobThatComesBackIsNext) {
  Make();
  ASSERT_TRUE(Push("a").ok());
  ASSERT_TRUE(Push("b").ok());
  EXPECT_EQ(PopText(), "a");
  queue_->PushAgain(running_[0]);
  running_.clear();
  EXPECT_THAT(PopAll(), ElementsAre("a", "b"));
}

TEST_F(PoolJobQueueTest, ALaneThatIsFullRefuses) {
  Make({.max_length = 2});
  ASSERT_TRUE(Push("a").ok());
  ASSERT_TRUE(Push("b").ok());
  EXPECT_EQ(ReasonOf(Push("c")), Reason::kOverloaded);
  EXPECT_TRUE(Push("stream", Lane::kStream).ok()) << "the lanes have their own bounds";
  EXPECT_EQ(queue_->length(), 3u);
  EXPECT_EQ(PopText(), "a");
  EXPECT_TRUE(Push("c").ok());
  FinishAll();
}

TEST_F(PoolJobQueueTest, ALaneRefusesMoreBytesThanItsBoundUnlessItIsEmpty) {
  Make({.max_bytes = 10});
  EXPECT_TRUE(Push("more than ten bytes").ok());
  EXPECT_EQ(ReasonOf(Push("x")), Reason::kOverloaded);
  EXPECT_EQ(PopText(), "more than ten bytes");
  EXPECT_TRUE(Push("12345").ok());
  EXPECT_TRUE(Push("67890").ok());
  EXPECT_EQ(ReasonOf(Push("x")), Reason::kOverloaded);
  FinishAll();
}

TEST_F(PoolJobQueueTest, AUnaryJobWaitsNoLongerThanTheLongestWait) {
  Make({.max_wait = std::chrono::seconds(1)});
  ASSERT_TRUE(Push("a").ok());
  ASSERT_TRUE(Push("stream", Lane::kStream).ok());
  EndEnded(Clock::now());
  EXPECT_TRUE(ends_.empty());
  EndEnded(Clock::now() + std::chrono::seconds(2));
  EXPECT_THAT(EndReasons(), ElementsAre(Reason::kOverloaded));
  EXPECT_THAT(PopAll(), ElementsAre("stream"));
}

TEST_F(PoolJobQueueTest, ADeadlineEndsAJobInEitherLane) {
  Make({.max_wait = std::chrono::hours(2)});
  const absl::Time deadline = absl::Now() + absl::Hours(1);
  ASSERT_TRUE(queue_->Push(NewJob("a", Lane::kUnary, deadline)).ok());
  ASSERT_TRUE(queue_->Push(NewJob("b", Lane::kStream, deadline)).ok());
  EndEnded(Clock::now() + std::chrono::minutes(59));
  EXPECT_TRUE(ends_.empty());
  EndEnded(Clock::now() + std::chrono::minutes(61));
  EXPECT_THAT(EndReasons(), ElementsAre(Reason::kDeadline, Reason::kDeadline));
  EXPECT_THAT(PopAll(), ElementsAre());
}

TEST_F(PoolJobQueueTest, ADeadlineInThePastEndsTheJobAtOnce) {
  Make();
  ASSERT_TRUE(queue_->Push(NewJob("a", Lane::kUnary, absl::InfinitePast())).ok());
  EndEnded(Clock::now());
  EXPECT_THAT(EndReasons(), ElementsAre(Reason::kDeadline));
}

TEST_F(PoolJobQueueTest, AJobThatComesBackIsNotGivenUpForWaiting) {
  Make({.max_wait = std::chrono::seconds(1)});
  ASSERT_TRUE(Push("a").ok());
  EXPECT_EQ(PopText(), "a");
  queue_->PushAgain(running_[0]);
  running_.clear();
  EndEnded(Clock::now() + std::chrono::hours(1));
  EXPECT_TRUE(ends_.empty());
  EXPECT_THAT(PopAll(), ElementsAre("a"));
}

TEST_F(PoolJobQueueTest, TellsOfATimeEarlierThanTheOneWaitedFor) {
  Make({.max_wait = std::chrono::seconds(10)});
  ASSERT_TRUE(Push("a").ok());
  EXPECT_EQ(news_, 1);
  ASSERT_TRUE(Push("later").ok());
  EXPECT_EQ(news_, 1) << "its time is after the one that is waited for";
  ASSERT_TRUE(queue_->Push(NewJob("soon", Lane::kUnary, absl::Now() + absl::Milliseconds(5))).ok());
  EXPECT_EQ(news_, 2);
  EXPECT_LT(queue_->next_expiry(), Clock::now() + std::chrono::seconds(5));
}

TEST_F(PoolJobQueueTest, JobsThatAreTakenAtOnceTellOfTheFirstTimeOnly) {
  Make({.max_wait = std::chrono::seconds(10)});
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(Push("a").ok());
    EXPECT_EQ(PopText(), "a");
    FinishAll();
    EndEnded(Clock::now());
  }
  EXPECT_EQ(news_, 1);
  EndEnded(Clock::now() + std::chrono::seconds(20));
  EXPECT_EQ(queue_->next_expiry(), Clock::time_point::max());
  ASSERT_TRUE(Push("b").ok());
  EXPECT_EQ(news_, 2) << "no time is waited for any more";
}

TEST_F(PoolJobQueueTest, AnIdleWorkerTendsOnce) {
  Make({.idle_after = std::chrono::milliseconds(1)});
  std::atomic<int> tended{0};
  JobQueue::JobPtr job;
  std::thread worker([&] {
    job = queue_->Pop(runner_, [] { return false; }, [&] { ++tended; });
  });
  while (tended == 0) std::this_thread::yield();
  queue_->WakeAll();
  ASSERT_TRUE(Push("a").ok());
  worker.join();
  EXPECT_EQ(tended, 1);
  EXPECT_EQ(job->job.text, "a");
  queue_->Finish(job);
}

TEST_F(PoolJobQueueTest, AWorkerTakesItsNextJobBeforeTheAnswerIsGiven) {
  Make({.max_running = 1});
  for (const char* text : {"a", "b"}) ASSERT_TRUE(Push(text).ok());
  EXPECT_EQ(PopText(), "a");
  const auto a = running_[0];
  const auto b = queue_->TakeNext(a, runner_);
  ASSERT_NE(b, nullptr);
  EXPECT_EQ(b->job.text, "b");
  EXPECT_EQ(queue_->TakeNext(b, runner_), nullptr) << "nothing waits";
  queue_->Finish(b);
  EXPECT_FALSE(queue_->WaitUntilEmpty(Clock::now())) << "the caller of a has no answer";
  queue_->Finish(a);
  EXPECT_TRUE(queue_->WaitUntilEmpty(Clock::now()));
  running_.clear();
}

TEST_F(PoolJobQueueTest, CancellingTheJobThatWasTakenNextWakesItsRunner) {
  Make();
  for (const char* text : {"a", "b"}) ASSERT_TRUE(Push(text).ok());
  EXPECT_EQ(PopText(), "a");
  const auto b = queue_->TakeNext(running_[0], runner_);
  running_[0]->Cancel();
  EXPECT_EQ(runner_->wakes, 0) << "a is answered";
  b->Cancel();
  EXPECT_EQ(runner_->wakes, 1);
  queue_->Finish(b);
  FinishAll();
}

TEST_F(PoolJobQueueTest, ACancelledJobLeavesTheQueue) {
  Make();
  const auto a = NewJob("a");
  ASSERT_TRUE(queue_->Push(a).ok());
  ASSERT_TRUE(Push("b").ok());
  a->Cancel();
  a->Cancel();
  EndEnded(Clock::now());
  EXPECT_THAT(EndReasons(), ElementsAre(Reason::kCancelled));
  EXPECT_THAT(PopAll(), ElementsAre("b"));
}

TEST_F(PoolJobQueueTest, CancellingARunningJobWakesItsRunner) {
  Make();
  ASSERT_TRUE(Push("a").ok());
  EXPECT_EQ(PopText(), "a");
  EXPECT_FALSE(running_[0]->cancelled());
  running_[0]->Cancel();
  EXPECT_TRUE(running_[0]->cancelled());
  EXPECT_EQ(runner_->wakes, 1);
  const auto job = running_[0];
  FinishAll();
  job->Cancel();
  EXPECT_EQ(runner_->wakes, 1) << "the runner has another job by now";
}

TEST_F(PoolJobQueueTest, AJobCancelledWhileItsWorkerDiesIsNotRunAgain) {
  Make();
  ASSERT_TRUE(Push("a").ok());
  EXPECT_EQ(PopText(), "a");
  running_[0]->Cancel();
  queue_->PushAgain(running_[0]);
  running_.clear();
  EndEnded(Clock::now());
  EXPECT_THAT(EndReasons(), ElementsAre(Reason::kCancelled));
  EXPECT_EQ(queue_->length(), 0u);
}

TEST_F(PoolJobQueueTest, AHandleMayOutliveTheQueue) {
  Make();
  const auto job = NewJob("a");
  queue_.reset();
  job->Cancel();
}

TEST_F(PoolJobQueueTest, AClosedQueueRefusesAndKeepsWhatItHas) {
  Make();
  ASSERT_TRUE(Push("a").ok());
  queue_->Close(MakeError(Reason::kDraining, "shutting down"));
  EXPECT_EQ(ReasonOf(Push("b")), Reason::kDraining);
  EXPECT_THAT(PopAll(), ElementsAre("a"));
}

TEST_F(PoolJobQueueTest, AnAbandonedQueueEndsWhatItHasAndWhatComesBack) {
  Make();
  ASSERT_TRUE(Push("a").ok());
  EXPECT_EQ(PopText(), "a");
  ASSERT_TRUE(Push("b").ok());
  queue_->Close(MakeError(Reason::kDraining, "shutting down"));
  queue_->Abandon();
  queue_->PushAgain(running_[0]);
  running_.clear();
  EndEnded(Clock::now());
  EXPECT_THAT(EndReasons(), ElementsAre(Reason::kDraining, Reason::kDraining));
  EXPECT_TRUE(queue_->WaitUntilEmpty(Clock::now()));
}

TEST_F(PoolJobQueueTest, WithoutWorkersJobsAreUnavailableUntilThereIsOne) {
  Make();
  ASSERT_TRUE(Push("a").ok());
  queue_->SetUnavailable(MakeError(Reason::kUnavailable, "no worker"));
  EndEnded(Clock::now());
  EXPECT_THAT(EndReasons(), ElementsAre(Reason::kUnavailable));
  EXPECT_EQ(ReasonOf(Push("b")), Reason::kUnavailable);
  queue_->SetUnavailable(std::nullopt);
  EXPECT_TRUE(Push("c").ok());
}

TEST_F(PoolJobQueueTest, AJobThatAWorkerDiedOfIsNeverUnavailable) {
  Make();
  ASSERT_TRUE(Push("a").ok());
  EXPECT_EQ(PopText(), "a");
  running_[0]->deaths = 1;
  queue_->PushAgain(running_[0]);
  running_.clear();
  queue_->SetUnavailable(MakeError(Reason::kUnavailable, "no worker"));
  EndEnded(Clock::now());
  EXPECT_THAT(EndReasons(), ElementsAre(Reason::kParserCrashed));
}

TEST_F(PoolJobQueueTest, ASleepingQueueAsksOnceToBeStarted) {
  queue_ = std::make_shared<JobQueue>(JobQueue::Limits{}, [this] { ++news_; });
  EXPECT_FALSE(queue_->TakeStartRequest());
  ASSERT_TRUE(Push("a").ok());
  ASSERT_TRUE(Push("b").ok());
  EXPECT_TRUE(queue_->TakeStartRequest());
  EXPECT_FALSE(queue_->TakeStartRequest());
}

TEST_F(PoolJobQueueTest, FallsAsleepOnlyWhenItIsEmptyAndIdle) {
  Make();
  ASSERT_TRUE(Push("a").ok());
  const auto later = [] { return Clock::now() + std::chrono::hours(1); };
  EXPECT_FALSE(queue_->SleepIfIdle(later())) << "a job waits";
  EXPECT_EQ(PopText(), "a");
  EXPECT_FALSE(queue_->SleepIfIdle(later())) << "a job runs";
  FinishAll();
  EXPECT_FALSE(queue_->SleepIfIdle(Clock::now() - std::chrono::hours(1))) << "it was used lately";
  EXPECT_TRUE(queue_->SleepIfIdle(later()));
  EXPECT_FALSE(queue_->SleepIfIdle(later())) << "it sleeps already";
}

TEST_F(PoolJobQueueTest, IsNotEmptyBeforeTheLastJobHasEnded) {
  Make();
  ASSERT_TRUE(Push("a").ok());
  EXPECT_FALSE(queue_->WaitUntilEmpty(Clock::now()));
  EXPECT_EQ(PopText(), "a");
  EXPECT_FALSE(queue_->WaitUntilEmpty(Clock::now()));
  std::thread worker([this] { FinishAll(); });
  EXPECT_TRUE(queue_->WaitUntilEmpty(Clock::time_point::max()));
  worker.join();
}

TEST_F(PoolJobQueueTest, ManyThreadsLoseNoJob) {
  Make({.max_length = 100'000});
  constexpr int kJobs = 4000;
  std::atomic<int> ran{0};
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  queue_->SetWorkers(3);
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (auto job = queue_->Pop(runner_, [&] { return stop.load(); }, [] {})) {
        // Every tenth comes back once, as if its worker had died.
        if (std::stoi(job->job.text) % 10 == 0 && job->deaths++ == 0) {
          queue_->PushAgain(job);
          continue;
        }
        ++ran;
        queue_->Finish(job);
      }
    });
  }
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&, i] {
      for (int n = 0; n < kJobs; ++n) {
        EXPECT_TRUE(Push(std::to_string(n), i == 0 ? Lane::kUnary : Lane::kStream).ok());
      }
    });
  }
  threads[3].join();
  threads[4].join();
  threads.resize(3);
  EXPECT_TRUE(queue_->WaitUntilEmpty(Clock::now() + std::chrono::seconds(60)));
  stop = true;
  queue_->WakeAll();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ran, 2 * kJobs);
}

}  // namespace
}  // namespace pgparsed::pool
