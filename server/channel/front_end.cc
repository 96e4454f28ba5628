#include "channel/front_end.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "channel/channel_layout.h"
#include "channel/doorbell.h"
#include "sync/mutex.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

namespace pgparsed::channel {
namespace {

absl::Status SystemError(const char* what) {
  return absl::ResourceExhaustedError(std::string("cannot ") + what +
                                      " a worker's channel: " + std::strerror(errno));
}

int CreateMemfd() {
  constexpr unsigned kFlags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  const int fd = memfd_create("pgparsed-channel", kFlags | MFD_NOEXEC_SEAL);
  // Kernels before 6.3 do not know MFD_NOEXEC_SEAL.
  return fd >= 0 || errno != EINVAL ? fd : memfd_create("pgparsed-channel", kFlags);
}

}  // namespace

// The mapping and who owns which slot. Shared by the front end and the leases: unmapped when the
// last of them is gone. The geometry and `taken_` are the front's own, never read from the channel.
class FrontEnd::Memory {
 public:
  Memory(int fd, std::byte* base, const ChannelOptions& options, uint64_t text_region,
         uint64_t answer_region)
      : fd_(fd),
        base_(base),
        slot_count_(options.slots),
        text_region_(text_region),
        answer_region_(answer_region) {
    auto* control = new (base) ControlPage;
    control->slot_count = slot_count_;
    control->text_bytes = text_region;
    control->answer_bytes = answer_region;
    control->front_pid = getpid();
    control->worker_spin_ns = options.spin_ns;
  }

  ~Memory() {
    munmap(base_, size());
    close(fd_);
  }

  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  int fd() const { return fd_; }
  uint64_t size() const { return TextRegionOffset(text_region_, answer_region_, slot_count_); }
  uint64_t text_region() const { return text_region_; }
  uint64_t answer_region() const { return answer_region_; }
  ControlPage& control() const { return *reinterpret_cast<ControlPage*>(base_); }
  std::byte* text(uint32_t slot) const {
    return base_ + TextRegionOffset(text_region_, answer_region_, slot);
  }
  std::byte* answer(uint32_t slot) const {
    return base_ + AnswerRegionOffset(text_region_, answer_region_, slot);
  }

  std::optional<uint32_t> Take(absl::FunctionRef<bool()> give_up) ABSL_LOCKS_EXCLUDED(mutex_) {
    sync::MutexLock lock(mutex_);
    for (;;) {
      if (give_up()) return std::nullopt;
      for (uint32_t i = 0; i < slot_count_; ++i) {
        if (!taken_[i]) {
          taken_[i] = true;
          return i;
        }
      }
      changed_.Wait(mutex_);
    }
  }

  bool HasFree() ABSL_LOCKS_EXCLUDED(mutex_) {
    sync::MutexLock lock(mutex_);
    return std::find(taken_.begin(), taken_.begin() + slot_count_, false) !=
           taken_.begin() + slot_count_;
  }

  void GiveBack(uint32_t slot) ABSL_LOCKS_EXCLUDED(mutex_) {
    if (AllocatedBytes() > kMostKeptBytes) Punch(slot);
    control().slots[slot].state.store(kFree, std::memory_order_release);
    sync::MutexLock lock(mutex_);
    taken_[slot] = false;
    changed_.Signal();
  }

  // By the thread that takes slots, so those that are free stay so.
  void Trim(uint32_t own_slot) ABSL_LOCKS_EXCLUDED(mutex_) {
    if (AllocatedBytes() <= kKeptBytes) return;
    for (uint32_t slot = 0; slot < slot_count_; ++slot) {
      if (slot == own_slot || !IsTaken(slot)) Punch(slot);
    }
  }

  // No window of the slot is lent: its last lease is gone.
  void ResetPieces(uint32_t slot) {
    for (uint32_t window = 0; window < kPieceWindows; ++window) {
      control().slots[slot].piece_bytes[window].store(0, std::memory_order_relaxed);
    }
  }

  bool PieceIsLent(uint32_t slot, uint32_t window) ABSL_LOCKS_EXCLUDED(mutex_) {
    sync::MutexLock lock(mutex_);
    return lent_[slot][window];
  }

  // Lends the piece in a window out and returns its size as the worker says it; 0 if there is none,
  // or if the window is lent already.
  uint32_t LendPiece(uint32_t slot, uint32_t window) ABSL_LOCKS_EXCLUDED(mutex_) {
    sync::MutexLock lock(mutex_);
    if (lent_[slot][window]) return 0;
    const uint32_t bytes =
        control().slots[slot].piece_bytes[window].load(std::memory_order_acquire);
    lent_[slot][window] = bytes != 0;
    return bytes;
  }

  // In one step for LendPiece: it never sees a free window with the size of the old piece, nor a
  // new piece in a window that still counts as lent.
  void TakeBackPiece(uint32_t slot, uint32_t window) ABSL_LOCKS_EXCLUDED(mutex_) {
    {
      sync::MutexLock lock(mutex_);
      control().slots[slot].piece_bytes[window].store(0, std::memory_order_release);
      lent_[slot][window] = false;
    }
    Ring(control().worker_bell);
  }

  void WakeTaker() ABSL_LOCKS_EXCLUDED(mutex_) {
    sync::MutexLock lock(mutex_);
    changed_.SignalAll();
  }

  // What the file really has, so that pages which a worker wrote and did not tell are seen too.
  uint64_t AllocatedBytes() const {
    struct stat info {};
    return fstat(fd_, &info) == 0 ? static_cast<uint64_t>(info.st_blocks) * 512 : 0;
  }

 private:
  bool IsTaken(uint32_t slot) ABSL_LOCKS_EXCLUDED(mutex_) {
    sync::MutexLock lock(mutex_);
    return taken_[slot];
  }

  void Punch(uint32_t slot) const {
    PunchRegion(TextRegionOffset(text_region_, answer_region_, slot), text_region_);
    PunchRegion(AnswerRegionOffset(text_region_, answer_region_, slot), answer_region_);
  }

  void PunchRegion(uint64_t offset, uint64_t bytes) const {
    if (bytes <= kKeptBytes) return;
    // Without memory for the call itself the pages stay until the slot's next release.
    (void)fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                    static_cast<off_t>(offset + kKeptBytes),
                    static_cast<off_t>(bytes - kKeptBytes));
  }

  const int fd_;
  std::byte* const base_;
  const uint32_t slot_count_;
  const uint64_t text_region_;
  const uint64_t answer_region_;

  sync::Mutex mutex_;
  sync::CondVar changed_ ABSL_GUARDED_BY(mutex_);
  std::array<bool, kMaxSlots> taken_ ABSL_GUARDED_BY(mutex_){};
  std::array<std::array<bool, kPieceWindows>, kMaxSlots> lent_ ABSL_GUARDED_BY(mutex_){};
};

class FrontEnd::SlotLease {
 public:
  SlotLease(std::shared_ptr<Memory> memory, uint32_t slot)
      : memory_(std::move(memory)), slot_(slot) {}
  ~SlotLease() { memory_->GiveBack(slot_); }
  SlotLease(const SlotLease&) = delete;
  SlotLease& operator=(const SlotLease&) = delete;

 private:
  const std::shared_ptr<Memory> memory_;
  const uint32_t slot_;
};

// Holds the slot, too: it is not taken again while one of its pieces is read.
class FrontEnd::PieceLease {
 public:
  PieceLease(std::shared_ptr<Memory> memory, std::shared_ptr<void> slot_lease, uint32_t slot,
             uint32_t window)
      : slot_lease_(std::move(slot_lease)),
        memory_(std::move(memory)),
        slot_(slot),
        window_(window) {}
  ~PieceLease() { memory_->TakeBackPiece(slot_, window_); }
  PieceLease(const PieceLease&) = delete;
  PieceLease& operator=(const PieceLease&) = delete;

 private:
  const std::shared_ptr<void> slot_lease_;
  const std::shared_ptr<Memory> memory_;
  const uint32_t slot_;
  const uint32_t window_;
};

// State of the one waiting thread.
struct FrontEnd::Waiter {
  explicit Waiter(uint32_t spin_ns) : spin(spin_ns) {}
  AdaptiveSpin spin;
  // What the worker said of each slot's answer, checked.
  std::array<uint64_t, kMaxSlots> answer_bytes{};
};

absl::StatusOr<std::unique_ptr<FrontEnd>> FrontEnd::Create(const ChannelOptions& options) {
  if (options.slots == 0 || options.slots > kMaxSlots) {
    return absl::InvalidArgumentError("a channel has 1 to 8 slots");
  }
  const uint64_t text_region =
      RoundUp(CommentsOffset(options.max_text_bytes) + 8, kRegionAlignment);
  // The windows for pieces are a part of it.
  const uint64_t answer_region =
      RoundUp(std::max(options.max_answer_bytes, 2 * kPiecesBytes), kRegionAlignment);
  const uint64_t size = TextRegionOffset(text_region, answer_region, options.slots);

  const int fd = CreateMemfd();
  if (fd < 0) return SystemError("create");
  if (ftruncate(fd, static_cast<off_t>(size)) != 0 ||
      fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    absl::Status error = SystemError("size and seal");
    close(fd);
    return error;
  }
  void* base = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (base == MAP_FAILED) {
    absl::Status error = SystemError("map");
    close(fd);
    return error;
  }
  auto memory = std::make_shared<Memory>(fd, static_cast<std::byte*>(base), options, text_region,
                                         answer_region);
  return std::unique_ptr<FrontEnd>(new FrontEnd(std::move(memory), options.spin_ns));
}

FrontEnd::FrontEnd(std::shared_ptr<Memory> memory, uint32_t spin_ns)
    : memory_(std::move(memory)), waiter_(std::make_unique<Waiter>(spin_ns)) {}

FrontEnd::~FrontEnd() = default;

int FrontEnd::fd() const { return memory_->fd(); }

std::optional<uint32_t> FrontEnd::TakeSlot(absl::FunctionRef<bool()> give_up) {
  return memory_->Take(give_up);
}

bool FrontEnd::HasFreeSlot() const { return memory_->HasFree(); }

std::shared_ptr<void> FrontEnd::Lease(uint32_t slot) {
  return std::make_shared<SlotLease>(memory_, slot);
}

void FrontEnd::Trim(uint32_t slot) { memory_->Trim(slot); }

absl::Status FrontEnd::PutJob(uint32_t slot, JobHeader header, std::string_view text,
                              std::string_view comments) {
  const uint64_t region = memory_->text_region();
  if (text.size() >= region || comments.size() >= region ||
      CommentsOffset(text.size()) + comments.size() > region) {
    return absl::OutOfRangeError("the text does not fit into the channel");
  }
  header.text_bytes = text.size();
  header.comments_bytes = comments.size();
  std::byte* to = memory_->text(slot);
  std::memcpy(to, &header, sizeof(header));
  if (!text.empty()) std::memcpy(to + kTextOffset, text.data(), text.size());
  to[kTextOffset + text.size()] = std::byte{0};
  if (!comments.empty()) {
    std::memcpy(to + CommentsOffset(text.size()), comments.data(), comments.size());
  }
  ControlPage& control = memory_->control();
  // So that an answer claimed too early has no size from the last one.
  control.slots[slot].answer_bytes.store(0, std::memory_order_relaxed);
  memory_->ResetPieces(slot);
  control.slots[slot].state.store(kRequested, std::memory_order_release);
  Ring(control.worker_bell);
  return absl::OkStatus();
}

std::optional<FrontEnd::Outcome> FrontEnd::Look(uint32_t slot) {
  const SlotControl& control = memory_->control().slots[slot];
  const uint32_t state = control.state.load(std::memory_order_acquire);
  if (state == kRequested || state == kRunning) return std::nullopt;
  if (state != kAnswered) return Outcome::kBroken;
  const uint64_t bytes = control.answer_bytes.load(std::memory_order_relaxed);
  if (bytes > memory_->answer_region()) return Outcome::kBroken;
  waiter_->answer_bytes[slot] = bytes;
  return Outcome::kAnswered;
}

void FrontEnd::SleepUntilRung(uint32_t slot, uint32_t seen, Clock::duration longest) {
  ControlPage& control = memory_->control();
  const auto rung = [&] {
    const uint32_t state = control.slots[slot].state.load(std::memory_order_acquire);
    return control.front_bell.rings.load(std::memory_order_relaxed) != seen ||
           (state != kRequested && state != kRunning);
  };
  if (waiter_->spin.Until(rung)) return;
  const auto sleep = std::min<std::chrono::nanoseconds>(longest, kLongestSleep);
  SleepOn(control.front_bell, seen, static_cast<uint64_t>(sleep.count()));
}

FrontEnd::Outcome FrontEnd::WaitForAnswer(uint32_t slot, Clock::time_point deadline,
                                          absl::FunctionRef<bool()> give_up) {
  const Doorbell& bell = memory_->control().front_bell;
  for (;;) {
    const uint32_t seen = bell.rings.load(std::memory_order_seq_cst);
    if (const auto outcome = Look(slot)) return *outcome;
    if (give_up()) return Outcome::kGaveUp;
    const auto left = deadline - Clock::now();
    if (left <= Clock::duration::zero()) return Outcome::kTimeout;
    SleepUntilRung(slot, seen, left);
  }
}

FrontEnd::Outcome FrontEnd::WaitForPieces(uint32_t slot, const std::shared_ptr<void>& slot_lease,
                                          const PieceTimes& times,
                                          absl::FunctionRef<bool()> give_up, PieceTaker take) {
  const Doorbell& bell = memory_->control().front_bell;
  Clock::duration work_left = times.work;
  Clock::duration stall_left = times.stall;
  Clock::time_point before = Clock::now();
  uint32_t window = 0;   // the next one
  bool stalled = false;  // from `before` on
  for (;;) {
    const uint32_t seen = bell.rings.load(std::memory_order_seq_cst);
    // Before the pieces: those that came before the answer are seen then.
    const auto outcome = Look(slot);
    // As many as there are windows, then the time is looked at: a hostile worker may fill one as
    // fast as another is emptied.
    bool took = false;
    for (uint32_t i = 0; i < kPieceWindows; ++i) {
      const uint32_t bytes = memory_->LendPiece(slot, window);
      if (bytes == 0) break;
      auto lease = std::make_shared<PieceLease>(memory_, slot_lease, slot, window);
      if (bytes > kPieceBytes) return Outcome::kBroken;
      const std::byte* piece =
          memory_->answer(slot) + PieceOffset(memory_->answer_region(), window);
      take({reinterpret_cast<const char*>(piece), bytes}, std::move(lease));
      window = (window + 1) % kPieceWindows;
      took = true;
    }
    if (outcome && !took) return *outcome;
    if (give_up()) return Outcome::kGaveUp;
    const Clock::time_point now = Clock::now();
    (stalled ? stall_left : work_left) -= now - before;
    before = now;
    if (work_left <= Clock::duration::zero()) return Outcome::kTimeout;
    if (times.deadline <= now) return Outcome::kTimeout;
    if (took) stall_left = times.stall;
    if (stall_left <= Clock::duration::zero()) return Outcome::kStalled;
    stalled = memory_->PieceIsLent(slot, window);
    if (took) continue;
    SleepUntilRung(slot, seen, std::min(stalled ? stall_left : work_left, times.deadline - now));
  }
}

UnreadAnswer FrontEnd::AnswerIn(uint32_t slot) const {
  return {.region = {memory_->answer(slot), memory_->answer_region()},
          .bytes = waiter_->answer_bytes[slot]};
}

bool FrontEnd::WasTaken(uint32_t slot) const {
  return memory_->control().slots[slot].state.load(std::memory_order_acquire) != kRequested;
}

void FrontEnd::WakeUp() {
  RingAlways(memory_->control().front_bell);
  memory_->WakeTaker();
}

void FrontEnd::AskForPurge() {
  ControlPage& control = memory_->control();
  control.purge_wanted.store(1, std::memory_order_release);
  Ring(control.worker_bell);
}

MemoryReport FrontEnd::memory_report() const {
  const ControlPage& control = memory_->control();
  return {.allocated = control.allocated_bytes.load(std::memory_order_relaxed),
          .resident = control.resident_bytes.load(std::memory_order_relaxed),
          .retained = control.retained_bytes.load(std::memory_order_relaxed)};
}

LastWords FrontEnd::last_words() const {
  const uint32_t words = memory_->control().last_words.load(std::memory_order_acquire);
  switch (words) {
    case static_cast<uint32_t>(LastWords::kStackOverflow):
    case static_cast<uint32_t>(LastWords::kMemoryLimit):
    case static_cast<uint32_t>(LastWords::kFatalSignal):
      return static_cast<LastWords>(words);
    default:
      return LastWords::kNone;
  }
}

uint64_t FrontEnd::AllocatedBytes() const { return memory_->AllocatedBytes(); }

}  // namespace pgparsed::channel
