// Both ends of a channel in one process: the worker's end on a thread of its own.
#include "channel/front_end.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "channel/channel_layout.h"
#include "channel/doorbell.h"
#include "channel/sections.h"
#include "channel/worker_end.h"

namespace pgparsed::channel {
namespace {

using Clock = FrontEnd::Clock;
using Outcome = FrontEnd::Outcome;

constexpr uint64_t kMaxText = 3u << 20;
constexpr uint64_t kMaxAnswer = 5u << 20;
constexpr auto kLong = std::chrono::seconds(30);

bool Never() { return false; }
bool Always() { return true; }

// A worker that answers every text with itself, on a thread. "stop" ends the thread after its
// answer; "big" is answered with kMaxAnswer / 2 bytes.
class EchoThread {
 public:
  explicit EchoThread(const FrontEnd& front)
      : end_(*WorkerEnd::Open(dup(front.fd()))), thread_([this] { Run(); }) {}
  ~EchoThread() { thread_.join(); }

 private:
  void Run() {
    bool stop = false;
    while (!stop) {
      const WorkerEnd::Job job = end_->NextJob();
      stop = job.text == "stop";
      AnswerWriter writer(job.answer, job.header.max_answer_bytes);
      if (job.text == "big") {
        writer.Add(SectionKind::kNormalized, std::string(kMaxAnswer / 2, 'x'));
      } else {
        writer.Add(SectionKind::kNormalized, job.text);
        writer.Add(SectionKind::kWarnings, job.comments);
      }
      end_->FinishJob(writer.Finish(0, 0));
    }
  }

  std::unique_ptr<WorkerEnd> end_;
  std::thread thread_;
};

class ChannelFrontEndTest : public ::testing::Test {
 protected:
  ChannelFrontEndTest() {
    auto front = FrontEnd::Create(
        {.slots = 3, .max_text_bytes = kMaxText, .max_answer_bytes = kMaxAnswer, .spin_ns = 1000});
    EXPECT_TRUE(front.ok()) << front.status();
    front_ = *std::move(front);
  }

  static JobHeader Header() {
    JobHeader header;
    header.operations = kOpNormalize;
    header.max_answer_bytes = kMaxAnswer;
    return header;
  }

  // Runs a job to its answer; the lease is the caller's.
  std::pair<Answer, std::shared_ptr<void>> Run(std::string_view text,
                                               std::string_view comments = "") {
    const auto slot = front_->TakeSlot(Never);
    auto lease = front_->Lease(*slot);
    EXPECT_TRUE(front_->PutJob(*slot, Header(), text, comments).ok());
    EXPECT_EQ(front_->WaitForAnswer(*slot, Clock::now() + kLong, Never), Outcome::kAnswered);
    auto answer = ReadAnswer(front_->AnswerIn(*slot));
    EXPECT_TRUE(answer.ok()) << answer.status();
    return {answer.ok() ? *answer : Answer{}, std::move(lease)};
  }

  // The channel as a hostile worker has it.
  ControlPage& Raw() {
    void* base = mmap(nullptr, kControlBytes, PROT_READ | PROT_WRITE, MAP_SHARED, front_->fd(), 0);
    EXPECT_NE(base, MAP_FAILED);
    return *static_cast<ControlPage*>(base);
  }

  std::unique_ptr<FrontEnd> front_;
};

TEST_F(ChannelFrontEndTest, AnswersAreReadInPlace) {
  EchoThread worker(*front_);
  EXPECT_EQ(Run("SELECT 1").first.sections[0].payload, "SELECT 1");
  Run("stop");
}

TEST_F(ChannelFrontEndTest, AnEmptyTextIsAJob) {
  EchoThread worker(*front_);
  EXPECT_EQ(Run("").first.sections[0].payload, "");
  Run("stop");
}

TEST_F(ChannelFrontEndTest, TextAndCommentsFillTheSlotToTheLastByte) {
  EchoThread worker(*front_);
  const std::string text(kMaxText - 1000, 't');
  const std::string comments(1000, 'c');
  const auto [answer, lease] = Run(text, comments);
  EXPECT_EQ(answer.sections[0].payload, text);
  EXPECT_EQ(answer.sections[1].payload, comments);
  Run("stop");
}

TEST_F(ChannelFrontEndTest, ATextThatDoesNotFitIsRefusedAndTheSlotStillWorks) {
  EchoThread worker(*front_);
  const auto slot = front_->TakeSlot(Never);
  auto lease = front_->Lease(*slot);
  // The region is rounded up to whole pages: far beyond that nothing may be written.
  const std::string text(kMaxText + 2 * kRegionAlignment, 't');
  EXPECT_EQ(front_->PutJob(*slot, Header(), text, "").code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(front_->PutJob(*slot, Header(), "", text).code(), absl::StatusCode::kOutOfRange);
  EXPECT_TRUE(front_->PutJob(*slot, Header(), "small", "").ok());
  EXPECT_EQ(front_->WaitForAnswer(*slot, Clock::now() + kLong, Never), Outcome::kAnswered);
  lease.reset();
  Run("stop");
}

TEST_F(ChannelFrontEndTest, TheWorkerGoesOnWhileAnAnswerIsLeased) {
  EchoThread worker(*front_);
  const auto [first, first_lease] = Run("first");
  const auto [second, second_lease] = Run("second");
  EXPECT_EQ(first.sections[0].payload, "first");
  EXPECT_EQ(second.sections[0].payload, "second");
  Run("stop");
}

TEST_F(ChannelFrontEndTest, ASlotIsTakenUntilTheLastCopyOfItsLeaseIsGone) {
  std::vector<std::shared_ptr<void>> leases;
  for (int i = 0; i < 3; ++i) leases.push_back(front_->Lease(*front_->TakeSlot(Never)));
  std::atomic<bool> taken{false};
  std::thread taker([&] {
    const auto slot = front_->TakeSlot(Never);
    taken = true;
    auto lease = front_->Lease(*slot);
  });
  std::shared_ptr<void> copy = leases[1];
  leases[1].reset();
  EXPECT_FALSE(taken);
  copy.reset();
  taker.join();
  EXPECT_TRUE(taken);
}

TEST_F(ChannelFrontEndTest, WhoWaitsForASlotCanGiveUp) {
  std::vector<std::shared_ptr<void>> leases;
  for (int i = 0; i < 3; ++i) leases.push_back(front_->Lease(*front_->TakeSlot(Never)));
  std::atomic<bool> asked{false};
  std::atomic<bool> stop{false};
  std::thread taker([&] {
    EXPECT_FALSE(front_->TakeSlot([&] {
      asked = true;
      return stop.load();
    }));
  });
  while (!asked) std::this_thread::yield();
  stop = true;
  front_->WakeUp();
  taker.join();
}

TEST_F(ChannelFrontEndTest, ALeaseOutlivesTheFrontEnd) {
  std::shared_ptr<void> lease;
  std::string_view payload;
  {
    EchoThread worker(*front_);
    auto [answer, kept] = Run("still here");
    payload = answer.sections[0].payload;
    lease = std::move(kept);
    Run("stop");
  }
  front_.reset();
  EXPECT_EQ(payload, "still here");
}

TEST_F(ChannelFrontEndTest, PagesOfALargeAnswerGoBackWithItsLease) {
  EchoThread worker(*front_);
  auto [answer, lease] = Run("big");
  EXPECT_EQ(answer.sections[0].payload.size(), kMaxAnswer / 2);
  EXPECT_GT(front_->AllocatedBytes(), kMaxAnswer / 2);
  lease.reset();
  EXPECT_LE(front_->AllocatedBytes(), 2 * kKeptBytes + kControlBytes);
  Run("stop");
}

TEST_F(ChannelFrontEndTest, PagesOfALargeTextGoBackWithItsLease) {
  EchoThread worker(*front_);
  auto [answer, lease] = Run(std::string(kMaxText, 't'));
  EXPECT_GT(front_->AllocatedBytes(), kMaxText);
  lease.reset();
  EXPECT_LE(front_->AllocatedBytes(), 2 * kKeptBytes + kControlBytes);
  Run("stop");
}

TEST_F(ChannelFrontEndTest, PagesThatTheWorkerDidNotTellOfGoBackToo) {
  // An answer that grew too large was written and then taken back: its size says nothing.
  const auto slot = front_->TakeSlot(Never);
  auto lease = front_->Lease(*slot);
  ASSERT_TRUE(front_->PutJob(*slot, Header(), "", "").ok());
  const auto end = *WorkerEnd::Open(dup(front_->fd()));
  const WorkerEnd::Job job = end->NextJob();
  std::memset(job.answer.data(), 1, job.answer.size());
  AnswerWriter writer(job.answer, job.answer.size());
  end->FinishJob(writer.Finish(0, 0));
  ASSERT_EQ(front_->WaitForAnswer(*slot, Clock::now() + kLong, Never), Outcome::kAnswered);
  lease.reset();
  EXPECT_LE(front_->AllocatedBytes(), 2 * kKeptBytes + kControlBytes);
}

TEST_F(ChannelFrontEndTest, ANewChannelHasNextToNoMemory) {
  EXPECT_LE(front_->AllocatedBytes(), kControlBytes);
}

TEST_F(ChannelFrontEndTest, TheTimeEndsTheWait) {
  const auto slot = front_->TakeSlot(Never);
  auto lease = front_->Lease(*slot);
  ASSERT_TRUE(front_->PutJob(*slot, Header(), "", "").ok());
  EXPECT_FALSE(front_->WasTaken(*slot));
  EXPECT_EQ(front_->WaitForAnswer(*slot, Clock::now() + std::chrono::milliseconds(1), Never),
            Outcome::kTimeout);
}

TEST_F(ChannelFrontEndTest, WakeUpEndsTheWaitOfWhoGivesUp) {
  const auto slot = front_->TakeSlot(Never);
  auto lease = front_->Lease(*slot);
  ASSERT_TRUE(front_->PutJob(*slot, Header(), "", "").ok());
  std::atomic<bool> stop{false};
  std::thread waker([&] {
    stop = true;
    front_->WakeUp();
  });
  EXPECT_EQ(front_->WaitForAnswer(*slot, Clock::time_point::max(), [&] { return stop.load(); }),
            Outcome::kGaveUp);
  waker.join();
}

TEST_F(ChannelFrontEndTest, AnAnswerThatIsThereWinsOverGivingUp) {
  EchoThread worker(*front_);
  const auto slot = front_->TakeSlot(Never);
  {
    auto lease = front_->Lease(*slot);
    ASSERT_TRUE(front_->PutJob(*slot, Header(), "x", "").ok());
    ASSERT_EQ(front_->WaitForAnswer(*slot, Clock::now() + kLong, Never), Outcome::kAnswered);
    EXPECT_EQ(front_->WaitForAnswer(*slot, Clock::now() + kLong, Always), Outcome::kAnswered);
  }
  Run("stop");
}

TEST_F(ChannelFrontEndTest, AStateThatCannotBeIsBroken) {
  ControlPage& raw = Raw();
  for (const uint32_t state : {uint32_t{kFree}, 4u, 0xFFFFFFFFu}) {
    const auto slot = front_->TakeSlot(Never);
    auto lease = front_->Lease(*slot);
    ASSERT_TRUE(front_->PutJob(*slot, Header(), "", "").ok());
    raw.slots[*slot].state.store(state);
    EXPECT_EQ(front_->WaitForAnswer(*slot, Clock::now() + kLong, Never), Outcome::kBroken) << state;
  }
}

TEST_F(ChannelFrontEndTest, AnAnswerLargerThanItsRegionIsBroken) {
  ControlPage& raw = Raw();
  const auto slot = front_->TakeSlot(Never);
  auto lease = front_->Lease(*slot);
  ASSERT_TRUE(front_->PutJob(*slot, Header(), "", "").ok());
  raw.slots[*slot].answer_bytes.store(kMaxAnswer + kRegionAlignment);
  raw.slots[*slot].state.store(kAnswered);
  EXPECT_EQ(front_->WaitForAnswer(*slot, Clock::now() + kLong, Never), Outcome::kBroken);
}

TEST_F(ChannelFrontEndTest, AWakeUpIsHeardThoughTheWorkerClaimsThatNobodySleeps) {
  ControlPage& raw = Raw();
  const auto slot = front_->TakeSlot(Never);
  auto lease = front_->Lease(*slot);
  ASSERT_TRUE(front_->PutJob(*slot, Header(), "", "").ok());
  std::atomic<bool> stop{false};
  std::thread liar([&] {
    for (int i = 0; i < 1000; ++i) raw.front_bell.sleeping.store(0);
    stop = true;
    front_->WakeUp();
  });
  EXPECT_EQ(front_->WaitForAnswer(*slot, Clock::time_point::max(), [&] { return stop.load(); }),
            Outcome::kGaveUp);
  liar.join();
}

TEST_F(ChannelFrontEndTest, TheFileCannotBeResizedOrUnsealed) {
  EXPECT_NE(ftruncate(front_->fd(), 0), 0);
  EXPECT_NE(ftruncate(front_->fd(), 1ll << 40), 0);
  EXPECT_EQ(fcntl(front_->fd(), F_GET_SEALS) & (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL),
            F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
  EXPECT_NE(fcntl(front_->fd(), F_ADD_SEALS, F_SEAL_WRITE), 0);
  EXPECT_NE(fcntl(front_->fd(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST_F(ChannelFrontEndTest, LastWordsAreOneOfTheKnown) {
  EXPECT_EQ(front_->last_words(), LastWords::kNone);
  const auto end = *WorkerEnd::Open(dup(front_->fd()));
  end->SayLastWords(LastWords::kStackOverflow);
  EXPECT_EQ(front_->last_words(), LastWords::kStackOverflow);
  Raw().last_words.store(77);
  EXPECT_EQ(front_->last_words(), LastWords::kNone);
}

TEST_F(ChannelFrontEndTest, TheTextHasANulBehindIt) {
  const auto slot = front_->TakeSlot(Never);
  auto lease = front_->Lease(*slot);
  const auto end = *WorkerEnd::Open(dup(front_->fd()));
  for (const std::string_view text : {"a long text", "short", ""}) {
    ASSERT_TRUE(front_->PutJob(*slot, Header(), text, "comments").ok());
    const WorkerEnd::Job job = end->NextJob();
    EXPECT_EQ(std::string(job.text.data()), text);
    EXPECT_EQ(job.comments, "comments");
  }
}

TEST(ChannelWorkerEndTest, RefusesADescriptorThatIsNoChannel) {
  EXPECT_FALSE(WorkerEnd::Open(-1).ok());
  const int null = open("/dev/null", O_RDWR);
  EXPECT_FALSE(WorkerEnd::Open(null).ok());
  close(null);
  const int empty = memfd_create("empty", MFD_CLOEXEC);
  ASSERT_EQ(ftruncate(empty, 1 << 20), 0);
  EXPECT_FALSE(WorkerEnd::Open(empty).ok());
  close(empty);
}

TEST(ChannelWorkerEndTest, RefusesAChannelOfAnotherVersion) {
  const auto front = *FrontEnd::Create({});
  void* base = mmap(nullptr, kControlBytes, PROT_READ | PROT_WRITE, MAP_SHARED, front->fd(), 0);
  static_cast<ControlPage*>(base)->version += 1;
  EXPECT_FALSE(WorkerEnd::Open(front->fd()).ok());
  munmap(base, kControlBytes);
}

TEST(ChannelWorkerEndTest, RefusesAChannelWhoseFrontIsGone) {
  const auto front = *FrontEnd::Create({});
  void* base = mmap(nullptr, kControlBytes, PROT_READ | PROT_WRITE, MAP_SHARED, front->fd(), 0);
  static_cast<ControlPage*>(base)->front_pid = 1 << 30;
  EXPECT_FALSE(WorkerEnd::Open(front->fd()).ok());
  munmap(base, kControlBytes);
}

TEST(ChannelAdaptiveSpinTest, DoesNotSpinWithoutACpuToSpare) {
  AdaptiveSpin spin(0);
  int asked = 0;
  EXPECT_FALSE(spin.Until([&] { return ++asked > 0; }));
  EXPECT_EQ(asked, 0);
}

TEST(ChannelAdaptiveSpinTest, StopsSpinningWhereItIsOfNoUseAndTriesAgain) {
  AdaptiveSpin spin(10'000);
  int waits_with_spin = 0;
  for (int wait = 1; wait < 128; ++wait) {
    int asked = 0;
    EXPECT_FALSE(spin.Until([&] { return ++asked < 0; }));
    if (asked > 0) ++waits_with_spin;
  }
  EXPECT_LT(waits_with_spin, 16);
  EXPECT_GT(waits_with_spin, 4);  // the first ones, and some from the 64th on
}

}  // namespace
}  // namespace pgparsed::channel
