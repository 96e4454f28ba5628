// One process of a worker executable, with its channel.
//
// Spawned and reaped by the supervisor's thread, fed by its worker's feeder thread, killed by
// either. The process has: stdin from /dev/null, stdout and stderr on the front's stderr, its
// channel on descriptor 3 and no other descriptor, a process group of its own (a terminal's Ctrl-C
// is for the front), default signal handling, and an environment of one variable.
//
// Thread-safe, but for channel(), which is the feeder's (front_end.h says what is not).
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "channel/front_end.h"
#include "pool/job_queue.h"
#include "sync/mutex.h"

namespace pgparsed::pool {

// Why the front killed a worker. The first reason stays.
enum class KillReason : uint8_t {
  kNone,       // it did not: the worker died by itself or by another's hand
  kStopped,    // the pool or the grammar stops
  kTime,       // its job's time was over, or its job was cancelled
  kBadAnswer,  // what it wrote into the channel breaks the rules
  kBadStart,   // it did not introduce itself in time or as it should
  kMemory,     // it kept more memory than its budget
  kRequest,    // an operator asked for its replacement
};

class WorkerProcess final : public JobRunner {
 public:
  using Clock = std::chrono::steady_clock;

  struct Options {
    std::string path;
    uint32_t grammar = 0;
    uint64_t memory_limit = 0;
    channel::ChannelOptions channel;
  };

  // Must be called on a thread that lives as long as the worker shall: the kernel kills the worker
  // when that thread ends (PDEATHSIG).
  static absl::StatusOr<std::shared_ptr<WorkerProcess>> Spawn(const Options& options);
  ~WorkerProcess() override;

  pid_t pid() const { return pid_; }
  int pidfd() const { return pidfd_; }
  uint32_t grammar() const { return grammar_; }
  Clock::time_point started() const { return started_; }
  channel::FrontEnd& channel() { return *channel_; }

  // SIGKILL. Returns at once; the supervisor reaps. Nothing happens if it is dead.
  void Kill(KillReason reason);
  KillReason kill_reason() const { return kill_reason_.load(std::memory_order_acquire); }

  // Reaps the process, which must have ended. By the supervisor, once.
  void Reap() ABSL_LOCKS_EXCLUDED(mutex_);

  // Asks its feeder to kill it when it has no job. Wake the grammar's queue next.
  void Retire(KillReason reason) {
    retire_reason_.store(reason, std::memory_order_release);
    WakeUp();
  }
  bool retiring() const { return retire_reason() != KillReason::kNone; }
  KillReason retire_reason() const { return retire_reason_.load(std::memory_order_acquire); }

  bool dead() const { return dead_.load(std::memory_order_acquire); }
  // "killed by signal 9 (Killed)", "exited with status 3"; once dead.
  std::string death() const ABSL_LOCKS_EXCLUDED(mutex_);
  // Once dead: SIGKILL that the front did not send. The kernel, short of memory, or an operator
  // did: a parser that crashes dies of another signal.
  bool killed_from_outside() const {
    return sigkill_.load(std::memory_order_acquire) && kill_reason() == KillReason::kNone;
  }

  // Why it is of no use, if the feeder found that out at the start.
  void set_start_error(std::string error) ABSL_LOCKS_EXCLUDED(mutex_);
  std::string start_error() const ABSL_LOCKS_EXCLUDED(mutex_);

  // Makes the feeder look at dead() and at its job.
  void WakeUp() override { channel_->WakeUp(); }

  // Jobs that it was given, the introduction left out.
  std::atomic<uint32_t> jobs_taken{0};
  // It runs one.
  std::atomic<bool> busy{false};
  // An operator asked for its replacement; the supervisor chooses the time.
  std::atomic<bool> replacement_wanted{false};

  // Whether it counts as one of its grammar's ready workers (GrammarGroup).
  bool counted_ready = false;  // guarded by the group's mutex

 private:
  WorkerProcess(pid_t pid, int pidfd, uint32_t grammar, std::unique_ptr<channel::FrontEnd> channel);

  const pid_t pid_;
  const int pidfd_;
  const uint32_t grammar_;
  const Clock::time_point started_;
  const std::unique_ptr<channel::FrontEnd> channel_;
  std::atomic<KillReason> kill_reason_{KillReason::kNone};
  std::atomic<KillReason> retire_reason_{KillReason::kNone};
  std::atomic<bool> dead_{false};
  std::atomic<bool> sigkill_{false};

  mutable sync::Mutex mutex_;
  std::string death_ ABSL_GUARDED_BY(mutex_);
  std::string start_error_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace pgparsed::pool
