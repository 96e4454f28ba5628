// One worker's place in the pool, whichever process fills it: the thread that feeds it.
//
// The feeder takes a free slot of the worker's channel, then a job from the grammar's queue, runs
// it and calls the job's `done`. It decides what a job's end means: answered, over its time, its
// worker dead (once more, or never again). It never spawns and never reaps: when its process is
// dead or of no more use it waits for the supervisor to give it the next one.
//
// Time that is over. A job that outlives the client's deadline, or is cancelled, is answered at
// once. Its worker then has kGrace to finish, about what a new process costs, and is killed if it
// does not: so clients with short deadlines cannot make the pool do nothing but start workers. At
// the server's own limit the worker is killed at once.
//
// Thread-safe.
#pragma once

#include <chrono>
#include <memory>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "pool/counters.h"
#include "pool/crash_memory.h"
#include "pool/grammar_group.h"
#include "pool/job_queue.h"
#include "pool/worker_process.h"
#include "sync/mutex.h"

namespace pgparsed::pool {

class WorkerHandle {
 public:
  using Clock = std::chrono::steady_clock;

  static constexpr std::chrono::milliseconds kGrace{5};
  // From the spawn to the introduction.
  static constexpr std::chrono::seconds kStartTimeout{10};
  // A job whose worker died before it took the job up is not to blame; but as the taking is what
  // the worker says, only so often.
  static constexpr uint32_t kMostNeverBegun = 8;
  // So often, and only for max_job_time, is a job run again whose worker was killed from outside: it
  // may be the reason all the same, if it was the kernel for want of memory.
  static constexpr uint32_t kMostOutsideKills = 32;

  // What the feeder shares with the others. All must outlive it.
  struct Shared {
    GrammarGroup& group;
    CrashMemory& crashes;
    Counters& counters;
    Clock::duration max_job_time;
    Clock::duration max_stall;
  };

  explicit WorkerHandle(Shared shared);
  // The process must be dead, or the feeder may block on it.
  ~WorkerHandle();

  WorkerHandle(const WorkerHandle&) = delete;
  WorkerHandle& operator=(const WorkerHandle&) = delete;

  // The process to feed from now on.
  void Give(std::shared_ptr<WorkerProcess> process) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void Feed();
  std::shared_ptr<WorkerProcess> NextProcess() ABSL_LOCKS_EXCLUDED(mutex_);
  bool Introduce(WorkerProcess& process);

  // A slot of the worker's channel, and the job that was put into it, if there is one.
  struct Assignment {
    uint32_t slot = 0;
    std::shared_ptr<void> lease;  // null: no slot either
    JobQueue::JobPtr job;
  };

  void Serve(const std::shared_ptr<WorkerProcess>& process);
  void Begin(WorkerProcess& process, Assignment& assignment);
  void BeginNext(const std::shared_ptr<WorkerProcess>& process, const JobQueue::JobPtr& answered,
                 Assignment& next);
  bool Run(const std::shared_ptr<WorkerProcess>& worker, Assignment current, Assignment& next);
  channel::FrontEnd::Outcome Wait(WorkerProcess& process, uint32_t slot,
                                  const std::shared_ptr<void>& lease, QueuedJob& job);
  bool GiveGrace(WorkerProcess& process, uint32_t slot);
  void AfterDeath(WorkerProcess& process, uint32_t slot, const JobQueue::JobPtr& job);
  void Answer(const JobQueue::JobPtr& job, absl::StatusOr<JobAnswer> outcome);

  const Shared shared_;
  sync::Mutex mutex_;
  sync::CondVar changed_;
  std::shared_ptr<WorkerProcess> next_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread feeder_;
};

}  // namespace pgparsed::pool
