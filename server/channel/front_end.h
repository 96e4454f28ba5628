// The front's end of a channel: one per worker process. Writes jobs, waits for answers, and lends
// answers out in place. Layout, state machine and security: channel_layout.h.
//
// Thread-safety: one thread (the worker's feeder) takes slots, puts jobs and waits. WakeUp and the
// release of leases may come from any thread. A lease may outlive the FrontEnd and the worker.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "channel/message.h"
#include "channel/sections.h"
#include "channel/worker_end.h"

namespace pgparsed::channel {

struct ChannelOptions {
  uint32_t slots = 4;
  uint64_t max_text_bytes = 17u << 20;  // text and comments of one job
  uint64_t max_answer_bytes = 65u << 20;
  uint32_t spin_ns = 0;  // the longest spin before sleeping, on both ends; 0: none
};

class FrontEnd {
 public:
  using Clock = std::chrono::steady_clock;

  // No sleep is longer, whatever the worker does to the doorbell.
  static constexpr std::chrono::milliseconds kLongestSleep{50};

  // Makes the memfd and maps it. Fails when the system has no memory or descriptors for it.
  static absl::StatusOr<std::unique_ptr<FrontEnd>> Create(const ChannelOptions& options);
  ~FrontEnd();

  FrontEnd(const FrontEnd&) = delete;
  FrontEnd& operator=(const FrontEnd&) = delete;

  // The memfd, for the worker to inherit. Owned here.
  int fd() const;

  // Blocks until a slot is free and takes it; nullopt when `give_up` says so (asked at first and
  // after each WakeUp). A slot that was taken is given back with the last copy of its lease.
  std::optional<uint32_t> TakeSlot(absl::FunctionRef<bool()> give_up);

  // Whether TakeSlot would not have to wait.
  bool HasFreeSlot() const;

  // The keeper of a taken slot: when the last copy is gone the slot is free and, if
  // the channel has too many, the pages that it need not keep go back to the system.
  std::shared_ptr<void> Lease(uint32_t slot);

  // Gives back what free slots need not keep, and `slot`, which is taken and without a job.
  void Trim(uint32_t slot);

  // Writes a job into a taken slot and rings. `header`'s sizes are set here. OUT_OF_RANGE for a
  // text that the slot cannot hold; the slot stays taken.
  absl::Status PutJob(uint32_t slot, JobHeader header, std::string_view text,
                      std::string_view comments);

  enum class Outcome {
    kAnswered,
    kTimeout,
    kGaveUp,
    kStalled,  // nobody took the pieces for too long
    kBroken,   // the worker wrote a state or a size that cannot be
  };

  // Takes a piece of the tree: a view, and the lease that keeps it. Must not block.
  using PieceTaker = absl::FunctionRef<void(std::string_view piece, std::shared_ptr<void> lease)>;

  // How long a job with pieces may take.
  struct PieceTimes {
    Clock::duration work;        // of the worker, without the time in which no window is free
    Clock::duration stall;       // at a time without a free window
    Clock::time_point deadline;  // in all
  };

  // Blocks until the job in `slot` is answered, the time is over or `give_up` says so (asked at
  // first and after each WakeUp). An answer that is there wins.
  Outcome WaitForAnswer(uint32_t slot, Clock::time_point deadline,
                        absl::FunctionRef<bool()> give_up);

  // The same for a job whose tree comes in pieces: each is handed to `take` in order before the
  // answer. `slot_lease` is the slot's, which every piece shares.
  Outcome WaitForPieces(uint32_t slot, const std::shared_ptr<void>& slot_lease,
                        const PieceTimes& times, absl::FunctionRef<bool()> give_up,
                        PieceTaker take);

  // The answer after kAnswered, for ReadAnswer. Its content is not checked.
  UnreadAnswer AnswerIn(uint32_t slot) const;

  // Whether the worker has taken the job up; what it says, so no more than a hint.
  bool WasTaken(uint32_t slot) const;

  // Makes the waiting thread ask its `give_up`.
  void WakeUp();

  // Asks the worker to give its free memory back, when it has no job, and to report again.
  void AskForPurge();

  // What the worker last reported: what it says.
  MemoryReport memory_report() const;

  // What the worker left before it died.
  LastWords last_words() const;

  // Bytes of memory that the channel's file has at this moment.
  uint64_t AllocatedBytes() const;

 private:
  class Memory;
  class SlotLease;
  class PieceLease;
  explicit FrontEnd(std::shared_ptr<Memory> memory, uint32_t spin_ns);

  // How the job in `slot` has ended, if it has.
  std::optional<Outcome> Look(uint32_t slot);
  // Until the worker rings, the job ends or the time is over; may come back early.
  void SleepUntilRung(uint32_t slot, uint32_t seen, Clock::duration longest);

  const std::shared_ptr<Memory> memory_;
  struct Waiter;
  const std::unique_ptr<Waiter> waiter_;
};

}  // namespace pgparsed::channel
