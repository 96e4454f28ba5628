// Both ends of a channel in one process: the worker's end on a thread of its own.
#include "channel/front_end.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <future>
#include <mutex>
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
constexpr uint64_t kMaxAnswer = 20u << 20;  // half of it is more than a channel keeps
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

TEST_F(ChannelFrontEndTest, PagesOfALargeTextGoBackWhenTheChannelIsTrimmed) {
  EchoThread worker(*front_);
  auto [answer, lease] = Run(std::string(kMaxText, 't'));
  const auto own = front_->TakeSlot(Never);
  const std::shared_ptr<void> own_lease = front_->Lease(*own);
  front_->Trim(*own);
  EXPECT_GT(front_->AllocatedBytes(), kMaxText);
  EXPECT_EQ(answer.sections[0].payload, std::string(kMaxText, 't')) << "it is lent";
  lease.reset();
  EXPECT_GT(front_->AllocatedBytes(), kMaxText) << "kept for the next one";
  front_->Trim(*own);
  EXPECT_LE(front_->AllocatedBytes(), 2 * kKeptBytes + kControlBytes);
  Run("stop");
}

TEST_F(ChannelFrontEndTest, TheFeedersOwnSlotIsTrimmedToo) {
  EchoThread worker(*front_);
  Run(std::string(kMaxText, 't'));
  const auto own = front_->TakeSlot(Never);
  const std::shared_ptr<void> own_lease = front_->Lease(*own);
  ASSERT_GT(front_->AllocatedBytes(), kMaxText) << "it is the slot of that text";
  front_->Trim(*own);
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

// Pieces of a tree: the worker's end on a thread of its own, the waiting one on another.
class ChannelPiecesTest : public ChannelFrontEndTest {
 protected:
  static constexpr FrontEnd::PieceTimes kLongTimes{
      .work = kLong, .stall = kLong, .deadline = Clock::time_point::max()};

  ~ChannelPiecesTest() override {
    leases_.clear();  // the worker may wait for a window
    if (worker_.joinable()) worker_.join();
  }

  void PutPieceJob() {
    slot_ = *front_->TakeSlot(Never);
    slot_lease_ = front_->Lease(slot_);
    JobHeader header = Header();
    header.flags = kFlagTreeInPieces;
    ASSERT_TRUE(front_->PutJob(slot_, header, "", "").ok());
  }

  // A worker that writes the pieces and answers.
  void StartWorker(std::vector<std::string> pieces) {
    auto end = WorkerEnd::Open(dup(front_->fd()));
    ASSERT_TRUE(end.ok()) << end.status();
    worker_ = std::thread([this, end = *std::move(end), pieces = std::move(pieces)] {
      const WorkerEnd::Job job = end->NextJob();
      size_t used = 0;
      for (const std::string& piece : pieces) {
        const std::span<std::byte> window = end->NextPiece(used);
        EXPECT_EQ(window.size(), kPieceBytes);
        std::memcpy(window.data(), piece.data(), piece.size());
        used = piece.size();
        ++begun_;
      }
      end->FinishPieces(used);
      end->FinishJob(AnswerWriter(job.answer, job.answer.size()).Finish(0, 0));
    });
  }

  // Keeps what comes, and its lease.
  FrontEnd::PieceTaker Keep() { return keep_; }

  std::future<Outcome> WaitElsewhere(const FrontEnd::PieceTimes& times = kLongTimes) {
    return std::async(std::launch::async, [this, times] {
      return front_->WaitForPieces(slot_, slot_lease_, times, Never, Keep());
    });
  }

  std::vector<std::string> Kept() {
    const std::lock_guard lock(mutex_);
    return pieces_;
  }

  // Waits for so many pieces in all; false after kLong.
  bool WaitForKept(size_t count) {
    const auto end = Clock::now() + kLong;
    while (Kept().size() < count) {
      if (Clock::now() > end) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return Kept().size() == count;
  }

  void Release(size_t piece) {
    std::shared_ptr<void> lease;
    const std::lock_guard lock(mutex_);
    lease = std::move(leases_[piece]);
  }

  uint32_t slot_ = 0;
  std::shared_ptr<void> slot_lease_;
  std::thread worker_;
  std::atomic<size_t> begun_{0};  // windows that the worker was given
  std::mutex mutex_;
  std::vector<std::string> pieces_;
  std::vector<std::shared_ptr<void>> leases_;
  std::function<void(std::string_view, std::shared_ptr<void>)> keep_ =
      [this](std::string_view piece, std::shared_ptr<void> lease) {
        const std::lock_guard lock(mutex_);
        pieces_.emplace_back(piece);
        leases_.push_back(std::move(lease));
      };
};

TEST_F(ChannelPiecesTest, ComeInOrderBeforeTheAnswer) {
  std::vector<std::string> pieces;
  for (char c = 'a'; c <= 'z'; ++c) {
    pieces.emplace_back(c == 'm' ? kPieceBytes : static_cast<size_t>(c), c);
  }
  PutPieceJob();
  StartWorker(pieces);
  const auto take = [&](std::string_view piece, std::shared_ptr<void>) {
    pieces_.emplace_back(piece);
  };
  EXPECT_EQ(front_->WaitForPieces(slot_, slot_lease_, kLongTimes, Never, take),
            Outcome::kAnswered);
  EXPECT_EQ(pieces_, pieces);
  EXPECT_TRUE(ReadAnswer(front_->AnswerIn(slot_)).ok());
}

TEST_F(ChannelPiecesTest, ATreeWithoutBytesHasNone) {
  PutPieceJob();
  StartWorker({});
  EXPECT_EQ(front_->WaitForPieces(slot_, slot_lease_, kLongTimes, Never, Keep()),
            Outcome::kAnswered);
  EXPECT_TRUE(pieces_.empty());
}

TEST_F(ChannelPiecesTest, TheWorkerWaitsWhileAllWindowsAreLentAndGoesOnWhenOneIsBack) {
  PutPieceJob();
  StartWorker({"a", "b", "c", "d", "e", "f"});
  auto outcome = WaitElsewhere();
  ASSERT_TRUE(WaitForKept(kPieceWindows));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // it would be wrong by now
  EXPECT_EQ(begun_, kPieceWindows);
  Release(0);
  ASSERT_TRUE(WaitForKept(kPieceWindows + 1));
  EXPECT_EQ(begun_, kPieceWindows + 1);
  Release(1);
  EXPECT_EQ(outcome.get(), Outcome::kAnswered);
  EXPECT_THAT(pieces_, testing::ElementsAre("a", "b", "c", "d", "e", "f"));
}

TEST_F(ChannelPiecesTest, WindowsMayComeBackInAnyOrder) {
  PutPieceJob();
  StartWorker({"a", "b", "c", "d", "e", "f", "g", "h"});
  auto outcome = WaitElsewhere();
  ASSERT_TRUE(WaitForKept(4));
  Release(2);
  Release(3);
  Release(1);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(Kept().size(), 4u) << "the first window is next";
  Release(0);
  EXPECT_EQ(outcome.get(), Outcome::kAnswered);
  EXPECT_THAT(pieces_, testing::ElementsAre("a", "b", "c", "d", "e", "f", "g", "h"));
}

TEST_F(ChannelPiecesTest, NoneIsLostOrSeenTwiceWhileLeasesEndOnAnotherThread) {
  constexpr int kPieces = 5000;
  std::vector<std::string> pieces;
  for (int i = 0; i < kPieces; ++i) pieces.push_back(std::to_string(i));
  PutPieceJob();
  StartWorker(pieces);
  std::atomic<bool> over{false};
  std::thread releaser([&] {
    for (bool last = false; !last;) {
      last = over;
      std::vector<std::shared_ptr<void>> leases;
      const std::lock_guard lock(mutex_);
      leases.swap(leases_);
    }
  });
  EXPECT_EQ(front_->WaitForPieces(slot_, slot_lease_, kLongTimes, Never, Keep()),
            Outcome::kAnswered);
  over = true;
  releaser.join();
  EXPECT_EQ(pieces_, pieces);
}

TEST_F(ChannelPiecesTest, AreBelowTheAnswer) {
  // The answer region without its windows is the worker's while pieces are lent.
  PutPieceJob();
  StartWorker({"a", "b", "c", "d"});
  EXPECT_EQ(front_->WaitForPieces(slot_, slot_lease_, kLongTimes, Never, Keep()),
            Outcome::kAnswered);
  const std::span<const std::byte> region = front_->AnswerIn(slot_).region;
  EXPECT_EQ(PieceOffset(region.size(), 0), region.size() - kPiecesBytes);
  for (uint32_t i = 0; i < kPieceWindows; ++i) {
    EXPECT_EQ(region[PieceOffset(region.size(), i)], std::byte(pieces_[i][0]));
  }
}

TEST_F(ChannelPiecesTest, WhoTakesNothingForTooLongHasStalled) {
  PutPieceJob();
  StartWorker({"a", "b", "c", "d", "e"});
  const FrontEnd::PieceTimes times{.work = kLong,
                                   .stall = std::chrono::milliseconds(30),
                                   .deadline = Clock::time_point::max()};
  EXPECT_EQ(front_->WaitForPieces(slot_, slot_lease_, times, Never, Keep()), Outcome::kStalled);
  EXPECT_EQ(pieces_.size(), 4u);
  leases_.clear();  // so that the worker ends
}

TEST_F(ChannelPiecesTest, TheWorkersTimeDoesNotRunWhileNobodyTakesItsPieces) {
  // Many short waits for the client, longer together than the worker may work.
  constexpr int kPieces = 50;
  PutPieceJob();
  StartWorker(std::vector<std::string>(kPieces, "x"));
  auto outcome = WaitElsewhere({.work = std::chrono::milliseconds(1500),
                                .stall = kLong,
                                .deadline = Clock::time_point::max()});
  for (size_t i = 0; i < kPieces; ++i) {
    while (Kept().size() <= i) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(40));
    Release(i);
  }
  EXPECT_EQ(outcome.get(), Outcome::kAnswered);
}

TEST_F(ChannelPiecesTest, TheTimeOfWorkTheDeadlineAndGivingUpEndTheWait) {
  PutPieceJob();
  const auto wait = [&](const FrontEnd::PieceTimes& times, bool (*give_up)()) {
    return front_->WaitForPieces(slot_, slot_lease_, times, give_up, Keep());
  };
  FrontEnd::PieceTimes times = kLongTimes;
  times.work = std::chrono::milliseconds(5);
  EXPECT_EQ(wait(times, Never), Outcome::kTimeout);
  times = kLongTimes;
  times.deadline = Clock::now() + std::chrono::milliseconds(5);
  EXPECT_EQ(wait(times, Never), Outcome::kTimeout);
  EXPECT_EQ(wait(kLongTimes, Always), Outcome::kGaveUp);
}

TEST_F(ChannelPiecesTest, GivingUpIsHeardWhileAllWindowsAreLent) {
  PutPieceJob();
  StartWorker({"a", "b", "c", "d", "e"});
  std::atomic<bool> stop{false};
  std::thread waker([&] {
    EXPECT_TRUE(WaitForKept(4));
    stop = true;
    front_->WakeUp();
  });
  EXPECT_EQ(
      front_->WaitForPieces(slot_, slot_lease_, kLongTimes, [&] { return stop.load(); }, Keep()),
      Outcome::kGaveUp);
  waker.join();
  leases_.clear();
}

TEST_F(ChannelPiecesTest, ASlotIsTakenWhileAPieceOfItIsLent) {
  PutPieceJob();
  StartWorker({"a", "b"});
  EXPECT_EQ(front_->WaitForPieces(slot_, slot_lease_, kLongTimes, Never, Keep()),
            Outcome::kAnswered);
  const auto other = front_->Lease(*front_->TakeSlot(Never));
  const auto third = front_->Lease(*front_->TakeSlot(Never));
  slot_lease_.reset();
  Release(0);
  EXPECT_FALSE(front_->HasFreeSlot());
  Release(1);
  EXPECT_TRUE(front_->HasFreeSlot());
}

TEST_F(ChannelPiecesTest, ALeaseOfAPieceOutlivesTheFrontEnd) {
  PutPieceJob();
  StartWorker({"still here"});
  std::string_view view;
  const auto take = [&](std::string_view piece, std::shared_ptr<void> lease) {
    view = piece;
    leases_.push_back(std::move(lease));
  };
  EXPECT_EQ(front_->WaitForPieces(slot_, slot_lease_, kLongTimes, Never, take),
            Outcome::kAnswered);
  worker_.join();
  slot_lease_.reset();
  front_.reset();
  EXPECT_EQ(view, "still here");
}

TEST_F(ChannelPiecesTest, TheNextJobOfASlotBeginsWithEmptyWindows) {
  // What a job left that was given up: pieces that nobody took.
  PutPieceJob();
  Raw().slots[slot_].piece_bytes[0].store(7);
  slot_lease_.reset();
  PutPieceJob();
  StartWorker({"new"});
  EXPECT_EQ(front_->WaitForPieces(slot_, slot_lease_, kLongTimes, Never, Keep()),
            Outcome::kAnswered);
  EXPECT_THAT(pieces_, testing::ElementsAre("new"));
}

TEST_F(ChannelPiecesTest, APieceLargerThanItsWindowIsBroken) {
  for (const uint32_t bytes : {static_cast<uint32_t>(kPieceBytes) + 1, 0xFFFFFFFFu}) {
    PutPieceJob();
    Raw().slots[slot_].piece_bytes[0].store(bytes);
    EXPECT_EQ(front_->WaitForPieces(slot_, slot_lease_, kLongTimes, Never, Keep()),
              Outcome::kBroken);
    EXPECT_TRUE(pieces_.empty());
  }
}

TEST_F(ChannelPiecesTest, AWindowThatIsLentIsNotReadAgainThoughTheWorkerFillsIt) {
  SlotControl& control = Raw().slots[0];
  PutPieceJob();
  ASSERT_EQ(slot_, 0u);
  control.piece_bytes[0].store(5);
  const auto take = [&](std::string_view piece, std::shared_ptr<void> lease) {
    keep_(piece, std::move(lease));
    control.piece_bytes[0].store(50);
    control.answer_bytes.store(0);
    control.state.store(kAnswered);
  };
  EXPECT_EQ(front_->WaitForPieces(slot_, slot_lease_, kLongTimes, Never, take),
            Outcome::kAnswered);
  ASSERT_EQ(pieces_.size(), 1u);
  EXPECT_EQ(pieces_[0].size(), 5u);
  leases_.clear();
  EXPECT_EQ(control.piece_bytes[0].load(), 0u) << "it is free again, whatever the worker wrote";
}

TEST_F(ChannelPiecesTest, AWorkerThatFillsWindowsWithoutEndIsStoppedByItsTime) {
  SlotControl& control = Raw().slots[0];
  PutPieceJob();
  ASSERT_EQ(slot_, 0u);
  control.piece_bytes[0].store(1);
  uint64_t taken = 0;
  const auto take = [&](std::string_view, std::shared_ptr<void> lease) {
    lease.reset();
    if (++taken > 50'000'000) return;  // instead of hanging
    for (auto& bytes : control.piece_bytes) bytes.store(1);
  };
  const FrontEnd::PieceTimes times{.work = std::chrono::milliseconds(50),
                                   .stall = kLong,
                                   .deadline = Clock::time_point::max()};
  EXPECT_EQ(front_->WaitForPieces(slot_, slot_lease_, times, Never, take), Outcome::kTimeout);
  EXPECT_LT(taken, 50'000'000u);
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
