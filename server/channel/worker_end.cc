#include "channel/worker_end.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "channel/channel_layout.h"
#include "channel/doorbell.h"

namespace pgparsed::channel {
namespace {

constexpr uint64_t kForever = 3600ull * 1'000'000'000u;

absl::Status NotAChannel(int fd) {
  return absl::FailedPreconditionError(
      "descriptor " + std::to_string(fd) +
      " is not a channel of this version: workers are started by pgparsed, from the same build");
}

class MappedWorkerEnd final : public WorkerEnd {
 public:
  explicit MappedWorkerEnd(std::byte* base)
      : base_(base),
        control_(*reinterpret_cast<ControlPage*>(base)),
        slot_count_(control_.slot_count),
        text_region_(control_.text_bytes),
        answer_region_(control_.answer_bytes),
        spin_(control_.worker_spin_ns) {}

  Job NextJob(absl::FunctionRef<void()> tend) override {
    bool tended = false;
    for (;;) {
      const uint32_t seen = control_.worker_bell.rings.load(std::memory_order_seq_cst);
      if (const auto slot = TakeRequested()) return JobIn(*slot);
      if (control_.purge_wanted.exchange(0, std::memory_order_acquire) != 0) {
        tend();
        continue;
      }
      const auto rung = [&] {
        return control_.worker_bell.rings.load(std::memory_order_acquire) != seen;
      };
      if (spin_.Until(rung)) continue;
      SleepOn(control_.worker_bell, seen, tended ? kForever : kIdleAfterNs);
      if (!tended && !rung()) {
        tend();
        tended = true;
      }
    }
  }

  void Report(const MemoryReport& report) override {
    control_.allocated_bytes.store(report.allocated, std::memory_order_relaxed);
    control_.resident_bytes.store(report.resident, std::memory_order_relaxed);
    control_.retained_bytes.store(report.retained, std::memory_order_relaxed);
  }

  std::span<std::byte> NextPiece(size_t used) override {
    FinishPieces(used);
    const std::atomic<uint32_t>& bytes = control_.slots[current_].piece_bytes[window_];
    for (;;) {
      const uint32_t seen = control_.worker_bell.rings.load(std::memory_order_seq_cst);
      if (bytes.load(std::memory_order_acquire) == 0) break;
      SleepOn(control_.worker_bell, seen, kForever);
    }
    return {base_ + AnswerRegionOffset(text_region_, answer_region_, current_) +
                PieceOffset(answer_region_, window_),
            kPieceBytes};
  }

  void FinishPieces(size_t used) override {
    if (used == 0) return;
    control_.slots[current_].piece_bytes[window_].store(static_cast<uint32_t>(used),
                                                        std::memory_order_release);
    Ring(control_.front_bell);
    window_ = (window_ + 1) % kPieceWindows;
  }

  void FinishJob(uint64_t answer_bytes) override {
    SlotControl& slot = control_.slots[current_];
    slot.answer_bytes.store(answer_bytes, std::memory_order_relaxed);
    slot.state.store(kAnswered, std::memory_order_release);
    Ring(control_.front_bell);
  }

  void SayLastWords(LastWords words) override {
    control_.last_words.store(static_cast<uint32_t>(words), std::memory_order_release);
  }

 private:
  std::optional<uint32_t> TakeRequested() {
    for (uint32_t i = 0; i < slot_count_; ++i) {
      if (control_.slots[i].state.load(std::memory_order_acquire) == kRequested) {
        control_.slots[i].state.store(kRunning, std::memory_order_relaxed);
        return i;
      }
    }
    return std::nullopt;
  }

  Job JobIn(uint32_t slot) {
    current_ = slot;
    window_ = 0;
    const std::byte* text_region = base_ + TextRegionOffset(text_region_, answer_region_, slot);
    Job job;
    std::memcpy(&job.header, text_region, sizeof(job.header));
    const auto* chars = reinterpret_cast<const char*>(text_region);
    job.text = {chars + kTextOffset, job.header.text_bytes};
    job.comments = {chars + CommentsOffset(job.header.text_bytes), job.header.comments_bytes};
    job.answer = {base_ + AnswerRegionOffset(text_region_, answer_region_, slot), answer_region_};
    return job;
  }

  std::byte* const base_;
  ControlPage& control_;
  const uint32_t slot_count_;
  const uint64_t text_region_;
  const uint64_t answer_region_;
  AdaptiveSpin spin_;
  uint32_t current_ = 0;
  uint32_t window_ = 0;  // the next one for a piece
};

// Ties this process to the thread of the front that spawned it. Between exec and here the front
// may already have died: then the parent is another process.
absl::Status DieWithFront(int32_t front_pid) {
  if (getpid() == front_pid) return absl::OkStatus();  // both ends in one process
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != front_pid) {
    return absl::FailedPreconditionError("the front that started this worker is gone");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<WorkerEnd>> WorkerEnd::Open(int fd) {
  struct stat info {};
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) ||
      info.st_size < static_cast<off_t>(kControlBytes)) {
    return NotAChannel(fd);
  }
  const auto size = static_cast<uint64_t>(info.st_size);
  void* base = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (base == MAP_FAILED) {
    return absl::InternalError(std::string("cannot map the channel: ") + strerror(errno));
  }
  const auto& control = *static_cast<const ControlPage*>(base);
  if (control.magic != kChannelMagic || control.version != kProtocolVersion ||
      control.slot_count == 0 || control.slot_count > kMaxSlots ||
      size != TextRegionOffset(control.text_bytes, control.answer_bytes, control.slot_count)) {
    munmap(base, size);
    return NotAChannel(fd);
  }
  if (absl::Status tied = DieWithFront(control.front_pid); !tied.ok()) {
    munmap(base, size);
    return tied;
  }
  close(fd);
  return std::make_unique<MappedWorkerEnd>(static_cast<std::byte*>(base));
}

}  // namespace pgparsed::channel
