// The queue of one grammar: jobs that wait for a worker, in two lanes, and the ones that run.
//
// Order. Unary jobs go first. So that streams do not starve, one stream job is taken after
// kUnaryInARow unary ones. While unary calls come (one within the last unary_memory) one of two or
// more workers is kept free of stream jobs, so that they do not wait behind a batch; else streams
// may have all, and a unary call that comes waits for the shortest of the running stream jobs,
// which their makers keep small. A job whose worker died goes to the head of its lane. Of the
// workers that are idle the one that was busy last goes first: it is warm, and the others, the
// spares among them, keep their memory small.
//
// Bounds. Each lane holds so many jobs, and so many bytes of text (a single job may be larger).
// A unary job waits no longer than max_wait, then it is kOverloaded; a stream job is held back by
// its stream's flow control instead and waits until its deadline. What was accepted is never given
// up for time in the queue once a worker died of it or under it: nothing that a query can do makes
// the answer UNAVAILABLE.
//
// The queue calls nobody's `done`. Jobs that ended without a worker (expired, cancelled, refused)
// are collected for the supervisor's thread (TakeEnded), which `news` tells about them; `news` is
// called without a lock held and must not block.
//
// Thread-safe. mutex_ is a leaf: nothing else is locked while it is held.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "pool/job.h"
#include "sync/mutex.h"

namespace pgparsed::pool {

class JobQueue;

// What runs a job: told when its job is cancelled.
class JobRunner {
 public:
  virtual ~JobRunner() = default;
  virtual void WakeUp() = 0;
};

// A job on its way through the pool.
class QueuedJob final : public JobHandle, public std::enable_shared_from_this<QueuedJob> {
 public:
  using Clock = std::chrono::steady_clock;

  // `queue` may be gone when Cancel is called; then the job has ended.
  QueuedJob(Job job, std::weak_ptr<JobQueue> queue);

  void Cancel() override;
  bool cancelled() const { return cancelled_.load(std::memory_order_acquire); }

  // Calls the caller's `done`, once in the job's life, and lets go of what the job held. Called by
  // whoever took the job from the queue, without a lock held.
  void End(absl::StatusOr<JobAnswer> outcome);

  // The caller's job. The text is there until End.
  Job job;
  const Clock::time_point submitted;
  const Clock::time_point deadline;  // the client's

  // Used by the feeder that runs the job.
  Clock::time_point started{};
  Clock::time_point first_started{};
  uint32_t deaths = 0;         // workers that died while they ran it
  uint32_t never_begun = 0;    // workers that died before they took it up
  uint32_t outside_kills = 0;  // of its workers
  uint64_t piece_bytes = 0;    // of the tree, handed out by all runs together

 private:
  friend class JobQueue;
  enum class Place : uint8_t { kOutside, kQueued, kRunning, kAnswered, kEnded };

  const std::weak_ptr<JobQueue> queue_;
  std::atomic<bool> cancelled_{false};

  // Guarded by the queue's mutex.
  Place place_ = Place::kOutside;
  std::list<std::shared_ptr<QueuedJob>>::iterator position_;
  std::multimap<Clock::time_point, QueuedJob*>::iterator expiry_;
  std::shared_ptr<JobRunner> runner_;
};

class JobQueue {
 public:
  using Clock = std::chrono::steady_clock;
  using JobPtr = std::shared_ptr<QueuedJob>;

  static constexpr uint32_t kUnaryInARow = 8;

  struct Limits {
    uint32_t max_length = 1024;         // of a lane
    uint64_t max_bytes = 256ull << 20;  // of a lane
    Clock::duration max_wait = std::chrono::seconds(1);
    uint32_t max_running = UINT32_MAX;  // jobs at a time; more workers than that are spares
    // For how long a unary call keeps a worker free of streams.
    Clock::duration unary_memory = std::chrono::seconds(1);
    Clock::duration idle_after = std::chrono::seconds(1);
  };

  struct Ended {
    JobPtr job;
    absl::Status why;
  };

  JobQueue(Limits limits, std::function<void()> news);

  // Accepts a job or says why not: kOverloaded, or what Close or SetUnavailable said.
  absl::Status Push(JobPtr job) ABSL_LOCKS_EXCLUDED(mutex_);

  // Takes a job from the running ones back to the head of its lane.
  void PushAgain(const JobPtr& job) ABSL_LOCKS_EXCLUDED(mutex_);

  // Blocks until there is a job for a worker, which then runs; null when `give_up` says so (asked
  // at first and after each WakeAll). Calls `tend` once, without a lock, when no job has come for
  // Limits::idle_after.
  JobPtr Pop(std::shared_ptr<JobRunner> runner, absl::FunctionRef<bool()> give_up,
             absl::FunctionRef<void()> tend) ABSL_LOCKS_EXCLUDED(mutex_);

  // The worker has answered a running job, which its caller does not know yet. Takes the job that
  // the worker runs next, if there is one that may run.
  JobPtr TakeNext(const JobPtr& answered, std::shared_ptr<JobRunner> runner)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // The caller of a running job, or of one given to TakeNext, has its answer.
  void Finish(const JobPtr& job) ABSL_LOCKS_EXCLUDED(mutex_);

  // Makes every idle worker look again: one of them died, or one that could take a job will not.
  void WakeAll() ABSL_LOCKS_EXCLUDED(mutex_);

  // How many workers can take jobs; the share of stream jobs follows it.
  void SetWorkers(uint32_t workers) ABSL_LOCKS_EXCLUDED(mutex_);

  // Jobs that ended without a worker until now. The caller Ends them.
  std::vector<Ended> TakeEnded(Clock::time_point now) ABSL_LOCKS_EXCLUDED(mutex_);

  // When TakeEnded has something to do next, as of its last call; `news` tells of an earlier time.
  Clock::time_point next_expiry() const ABSL_LOCKS_EXCLUDED(mutex_);

  // No worker can be started: jobs that wait and those that come end with `why`. nullopt: again.
  void SetUnavailable(std::optional<absl::Status> why) ABSL_LOCKS_EXCLUDED(mutex_);

  // Jobs that come are refused with `why` from now on. Those that wait stay.
  void Close(absl::Status why) ABSL_LOCKS_EXCLUDED(mutex_);

  // Ends every job that waits, and each that comes back, with the reason given to Close.
  void Abandon() ABSL_LOCKS_EXCLUDED(mutex_);

  // True, once, if the queue was asleep and a job came.
  bool TakeStartRequest() ABSL_LOCKS_EXCLUDED(mutex_);

  // Falls asleep if no job waits or runs and none came since `before`. A queue is asleep at first
  // and wakes with the next job.
  bool SleepIfIdle(Clock::time_point before) ABSL_LOCKS_EXCLUDED(mutex_);

  // Wakes without a job: the workers are started anyway.
  void StayAwake() ABSL_LOCKS_EXCLUDED(mutex_);

  // Blocks until no job waits, runs or has yet to be taken by TakeEnded. False after `deadline`.
  bool WaitUntilEmpty(Clock::time_point deadline) ABSL_LOCKS_EXCLUDED(mutex_);

  uint32_t length() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  friend class QueuedJob;

  struct LaneState {
    std::list<JobPtr> jobs;
    uint64_t bytes = 0;
  };

  // QueuedJob::Cancel.
  void Cancel(const JobPtr& job) ABSL_LOCKS_EXCLUDED(mutex_);

  LaneState& LaneOf(const QueuedJob& job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Enter(const JobPtr& job, bool at_head, Clock::time_point expiry)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Leave(QueuedJob& job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void EndQueued(const JobPtr& job, absl::Status why) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void EndAllQueued(const absl::Status& why) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  JobPtr NextJob() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void LeaveWorker(QueuedJob& job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void StopRunning(QueuedJob& job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool EmptyLocked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void WakeOne() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool MayRunStream() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // From when on streams may have all workers, if no unary call comes.
  Clock::time_point LastWorkerIsForStreams() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Limits limits_;
  const std::function<void()> news_;

  mutable sync::Mutex mutex_;
  sync::CondVar emptied_;
  std::vector<sync::CondVar*> idle_ ABSL_GUARDED_BY(mutex_);  // each sleeps in Pop; the last first
  LaneState unary_ ABSL_GUARDED_BY(mutex_);
  LaneState stream_ ABSL_GUARDED_BY(mutex_);
  std::multimap<Clock::time_point, QueuedJob*> expiries_ ABSL_GUARDED_BY(mutex_);
  std::vector<Ended> ended_ ABSL_GUARDED_BY(mutex_);
  // TakeEnded will be called at this time at the latest.
  Clock::time_point armed_for_ ABSL_GUARDED_BY(mutex_) = Clock::time_point::max();
  uint32_t running_ ABSL_GUARDED_BY(mutex_) = 0;
  uint32_t running_streams_ ABSL_GUARDED_BY(mutex_) = 0;
  uint32_t answered_ ABSL_GUARDED_BY(mutex_) = 0;  // by TakeNext, and not finished
  uint32_t unary_in_a_row_ ABSL_GUARDED_BY(mutex_) = 0;
  uint32_t workers_ ABSL_GUARDED_BY(mutex_) = 1;
  std::optional<Clock::time_point> last_unary_ ABSL_GUARDED_BY(mutex_);
  Clock::time_point last_job_ ABSL_GUARDED_BY(mutex_) = Clock::now();
  bool asleep_ ABSL_GUARDED_BY(mutex_) = true;
  bool start_requested_ ABSL_GUARDED_BY(mutex_) = false;
  std::optional<absl::Status> unavailable_ ABSL_GUARDED_BY(mutex_);
  std::optional<absl::Status> closed_ ABSL_GUARDED_BY(mutex_);
  bool abandoned_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace pgparsed::pool
