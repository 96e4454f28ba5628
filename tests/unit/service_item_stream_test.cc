// Streams of items over a pool of fixture workers (tests/fixtures/items.cc).
#include "service/item_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "pgparsed/v1/streams.pb.h"
#include "pool_harness.h"

namespace pgparsed::service {
namespace {

using pool::Eventually;
using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;

using Texts = std::vector<std::string>;

// The answer to a chunk.
struct Answered {
  int chunk = 0;
  Reason reason = Reason::kNone;  // of the stream
  Texts texts;
  std::vector<std::pair<uint32_t, std::string>> errors;  // item, reason
  uint64_t parse_ns = 0;
};

class ServiceItemStreamTest : public pool::PoolTest {
 protected:
  ~ServiceItemStreamTest() override {
    if (stream_ != nullptr) stream_->Cancel();
    pool_.reset();  // before what its callbacks refer to
  }

  void StartItems(uint32_t workers = 1) {
    pool::PoolOptions options = Options("items");
    options.workers = workers;
    Start(options);
    Open();
  }

  void Open(absl::Time deadline = absl::InfiniteFuture()) {
    ItemStream::Options options;
    options.grammar = 99;
    options.header.operations = channel::kOpNormalize;
    options.deadline = deadline;
    options.max_query_bytes = 100'000;
    stream_ = std::make_shared<ItemStream>(*pool_, options);
  }

  // Adds a chunk; `held` is kept as long as its callback.
  void Add(Texts texts, std::shared_ptr<void> held = nullptr) {
    auto owner = std::make_shared<Texts>(std::move(texts));
    std::vector<std::string_view> views(owner->begin(), owner->end());
    stream_->Add(std::move(views), owner,
                 [this, chunk = chunks_++, held](absl::StatusOr<ItemAnswer> answer) {
                   OnAnswer(chunk, answer);
                 });
  }

  void OnAnswer(int chunk, const absl::StatusOr<ItemAnswer>& answer) {
    Answered answered{.chunk = chunk, .reason = ReasonOf(answer.status())};
    if (answer.ok()) {
      std::string joined;
      for (const std::string& part : answer->columns) joined += part;
      v1::ResultColumns columns;
      EXPECT_TRUE(columns.ParseFromString(joined));
      answered.texts.assign(columns.normalized().begin(), columns.normalized().end());
      for (const v1::ItemError& error : columns.errors()) {
        answered.errors.emplace_back(error.item(), error.error().reason());
      }
      answered.parse_ns = answer->parse_ns;
    }
    const std::lock_guard lock(mutex_);
    answers_.push_back(std::move(answered));
  }

  std::vector<Answered> Answers() {
    const std::lock_guard lock(mutex_);
    return answers_;
  }

  // The answers when there are so many.
  std::vector<Answered> WaitForAnswers(size_t count) {
    EXPECT_TRUE(Eventually([&] { return Answers().size() >= count; }));
    std::vector<Answered> answers = Answers();
    EXPECT_EQ(answers.size(), count);
    answers.resize(count);
    return answers;
  }

  // The answer to one chunk.
  Answered RunChunk(Texts texts) {
    const size_t before = Answers().size();
    Add(std::move(texts));
    return WaitForAnswers(before + 1).back();
  }

  std::shared_ptr<ItemStream> stream_;
  int chunks_ = 0;
  std::mutex mutex_;
  std::vector<Answered> answers_;
};

TEST_F(ServiceItemStreamTest, AnswersAChunk) {
  StartItems();
  const Answered answer = RunChunk({"a", "", "error", "b"});
  EXPECT_THAT(answer.texts, ElementsAre("a", "", "", "b"));
  EXPECT_THAT(answer.errors, ElementsAre(std::pair(2u, std::string("SQL_SYNTAX_ERROR"))));
  EXPECT_EQ(answer.parse_ns, 10u);
}

TEST_F(ServiceItemStreamTest, AnswersComeInTheOrderOfTheChunks) {
  StartItems(3);
  constexpr int kChunks = 40;
  // The first is the slowest, and chunks of many jobs stand between small ones.
  Add({"sleep 100"});
  for (int i = 1; i < kChunks; ++i) {
    Texts texts(i % 7 == 0 ? 300 : 1 + i % 3, std::to_string(i));
    texts.back() = i % 2 == 0 ? "sleep 5" : "sleep 1";
    Add(std::move(texts));
  }
  const std::vector<Answered> answers = WaitForAnswers(kChunks);
  for (int i = 0; i < kChunks; ++i) {
    EXPECT_EQ(answers[i].chunk, i);
    EXPECT_EQ(answers[i].texts.size(), i == 0 ? 1u : i % 7 == 0 ? 300u : 1u + i % 3);
    if (answers[i].texts.size() > 1) {
      EXPECT_EQ(answers[i].texts[0], std::to_string(i));
    }
  }
}

TEST_F(ServiceItemStreamTest, AChunkIsCutIntoJobsOfFewItemsAndBytes) {
  StartItems();
  Texts counts = RunChunk(Texts(600, "count")).texts;
  ASSERT_EQ(counts.size(), 600u);
  EXPECT_EQ(counts.front(), "256");
  EXPECT_EQ(counts.back(), "88");
  Texts large(5, std::string(15'000, 'x'));
  large.insert(large.begin() + 2, "count");
  large.push_back("count");
  counts = RunChunk(large).texts;
  EXPECT_EQ(counts[2], "3") << "two large ones and itself";
  EXPECT_EQ(counts.back(), "2");
  EXPECT_EQ(RunChunk({std::string(90'000, 'x'), "count", "count"}).texts[1], "2")
      << "a text over the bytes of a job has one of its own";
}

TEST_F(ServiceItemStreamTest, AnItemThatKillsItsWorkerCostsOnlyItself) {
  StartItems(2);
  const Answered answer = RunChunk({"a", "b", "crash", "c"});
  EXPECT_THAT(answer.texts, ElementsAre("a", "b", "", "c"));
  EXPECT_THAT(answer.errors, ElementsAre(std::pair(2u, std::string("PARSER_CRASHED"))));
  EXPECT_EQ(pool_->Counters().workers_crashed, 3u) << "once with the others, twice alone";
}

TEST_F(ServiceItemStreamTest, RememberedItemsRunAlone) {
  StartItems();
  RunChunk({"crash"});
  const uint64_t crashed = pool_->Counters().workers_crashed;
  const Answered answer = RunChunk({"count", "count", "crash", "count"});
  EXPECT_THAT(answer.texts, ElementsAre("2", "2", "", "1"));
  EXPECT_THAT(answer.errors, ElementsAre(std::pair(2u, std::string("PARSER_CRASHED"))));
  EXPECT_EQ(pool_->Counters().workers_crashed, crashed);
}

TEST_F(ServiceItemStreamTest, ATimeLimitCostsOnlyTheItem) {
  pool::PoolOptions options = Options("items");
  options.max_job_time = absl::Seconds(1);
  Start(options);
  Open();
  const Answered answer = RunChunk({"a", "hang", "b"});
  EXPECT_THAT(answer.texts, ElementsAre("a", "", "b"));
  EXPECT_THAT(answer.errors, ElementsAre(std::pair(1u, std::string("PARSER_TIME_LIMIT"))));
}

TEST_F(ServiceItemStreamTest, AMemoryLimitCostsOnlyTheItem) {
  StartItems();
  const Answered answer = RunChunk({"a", "memory", "b"});
  EXPECT_THAT(answer.texts, ElementsAre("a", "", "b"));
  EXPECT_THAT(answer.errors, ElementsAre(std::pair(1u, std::string("PARSER_MEMORY_LIMIT"))));
}

TEST_F(ServiceItemStreamTest, NonsenseOfAWorkerCostsOnlyTheItem) {
  StartItems();
  const Answered answer = RunChunk({"a", "malformed", "b"});
  EXPECT_THAT(answer.texts, ElementsAre("a", "", "b"));
  EXPECT_THAT(answer.errors, ElementsAre(std::pair(1u, std::string("INTERNAL"))));
}

TEST_F(ServiceItemStreamTest, TextsThatCannotBeAreRefusedAlone) {
  StartItems();
  const std::string nul("a\0b", 3);
  const Answered answer =
      RunChunk({"count", "\xff", "count", nul, std::string(100'001, 'x'), "count"});
  EXPECT_THAT(answer.texts, ElementsAre("1", "", "1", "", "", "1"));
  EXPECT_THAT(answer.errors, ElementsAre(std::pair(1u, std::string("INVALID_QUERY_TEXT")),
                                         std::pair(3u, std::string("INVALID_QUERY_TEXT")),
                                         std::pair(4u, std::string("QUERY_TOO_LARGE"))));
  EXPECT_EQ(RunChunk({"\xff"}).errors.size(), 1u) << "without any job";
}

TEST_F(ServiceItemStreamTest, AChunkWithoutItemsIsAnsweredInItsTurn) {
  StartItems();
  Add({"sleep 30"});
  Add({});
  Add({"a"});
  const std::vector<Answered> answers = WaitForAnswers(3);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(answers[i].chunk, i);
  EXPECT_THAT(answers[1].texts, IsEmpty());
}

TEST_F(ServiceItemStreamTest, WithoutOperationsThereIsNothingToDo) {
  Start("items");
  stream_ = std::make_shared<ItemStream>(
      *pool_, ItemStream::Options{.grammar = 99, .header = {}, .max_query_bytes = 10});
  const Answered answer = RunChunk({"crash", "too long for this stream"});
  EXPECT_THAT(answer.texts, IsEmpty());
  EXPECT_THAT(answer.errors, ElementsAre(std::pair(1u, std::string("QUERY_TOO_LARGE"))));
  EXPECT_EQ(pool_->Counters().jobs_done, 0u);
}

TEST_F(ServiceItemStreamTest, AFullQueueIsWaitedForWhileTheStreamHasJobs) {
  pool::PoolOptions options = Options("items");
  options.max_queue_length = 1;
  Start(options);
  Open();
  for (int i = 0; i < 10; ++i) Add(Texts(400, std::to_string(i)));
  const std::vector<Answered> answers = WaitForAnswers(10);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(answers[i].reason, Reason::kNone);
    EXPECT_EQ(answers[i].texts, Texts(400, std::to_string(i)));
  }
  EXPECT_GT(pool_->Counters().jobs_refused, 0u) << "the queue was never full";
}

TEST_F(ServiceItemStreamTest, AQueueThatOthersFillEndsTheStream) {
  pool::PoolOptions options = Options("items");
  options.max_queue_length = 1;
  Start(options);
  Open();
  pool::PendingJob running = Submit("hang", {.lane = pool::Lane::kStream});
  ASSERT_TRUE(Eventually([&] { return pool_->Counters().queue_length == 0; }));
  pool::PendingJob waiting = Submit("hang", {.lane = pool::Lane::kStream});
  EXPECT_EQ(RunChunk({"a"}).reason, Reason::kOverloaded);
  waiting.handle->Cancel();
  running.handle->Cancel();
  EXPECT_EQ(running.Get().reason, Reason::kCancelled);
}

TEST_F(ServiceItemStreamTest, AFailureOfTheStreamIsToldOnceAndIsItsEnd) {
  StartItems(2);
  Open(absl::Now() + absl::Milliseconds(100));
  auto held = std::make_shared<int>(0);
  for (int i = 0; i < 5; ++i) Add(Texts(3, "hang"), held);
  const Answered answer = WaitForAnswers(1)[0];
  EXPECT_EQ(answer.chunk, 0);
  EXPECT_EQ(answer.reason, Reason::kDeadline);
  Add({"a"});
  stream_->Cancel();
  EXPECT_TRUE(Eventually([&] { return held.use_count() == 1; })) << "the other callbacks are kept";
  Open();
  EXPECT_THAT(RunChunk({"b"}).texts, ElementsAre("b"));
  EXPECT_EQ(Answers().size(), 2u);
}

TEST_F(ServiceItemStreamTest, ADrainEndsTheStream) {
  StartItems();
  RunChunk({"a"});
  pool_->Drain(absl::Now());
  Add({"b"});
  Add({"c"});
  const std::vector<Answered> answers = WaitForAnswers(2);
  EXPECT_EQ(answers[1].reason, Reason::kDraining);
}

TEST_F(ServiceItemStreamTest, CancellingFreesTheWorkerAndLetsGoOfEverything) {
  StartItems();
  auto held = std::make_shared<int>(0);
  for (int i = 0; i < 4; ++i) Add(Texts(100, "hang"), held);
  stream_->Cancel();
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_EQ(Run("x").text, "x") << "the worker is free, or another took its place";
  Add({"a"}, held);
  EXPECT_EQ(held.use_count(), 1);
  const std::weak_ptr<ItemStream> gone = std::exchange(stream_, nullptr);
  EXPECT_TRUE(Eventually([&] { return gone.expired(); }));
  EXPECT_THAT(Answers(), IsEmpty());
}

TEST_F(ServiceItemStreamTest, CallbacksMayHoldTheStreamAndCancelIt) {
  StartItems(2);
  struct Holder {
    std::shared_ptr<ItemStream> stream;
  };
  std::weak_ptr<Holder> gone;
  {
    auto holder = std::make_shared<Holder>();
    gone = holder;
    holder->stream = stream_;
    static const std::string kText = "a";
    for (int i = 0; i < 20; ++i) {
      stream_->Add({kText}, nullptr,
                   [holder](const absl::StatusOr<ItemAnswer>&) { holder->stream->Cancel(); });
    }
  }
  stream_ = nullptr;
  EXPECT_TRUE(Eventually([&] { return gone.expired(); }));
}

TEST_F(ServiceItemStreamTest, CancellingAtAnyTimeIsSafe) {
  StartItems(2);
  for (int round = 0; round < 60; ++round) {
    Open();
    std::thread canceller([stream = stream_, round] {
      std::this_thread::sleep_for(std::chrono::microseconds(round * 50));
      stream->Cancel();
    });
    for (int i = 0; i < 5; ++i) Add(Texts(70, std::to_string(i)));
    canceller.join();
  }
  EXPECT_EQ(Run("x").text, "x");
}

}  // namespace
}  // namespace pgparsed::service
