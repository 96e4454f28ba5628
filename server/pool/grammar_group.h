// What the pool knows of one grammar: its executable, its queue, what its workers said of it, and
// how many of them are ready.
//
// Thread-safe. Lock order in the pool: GrammarGroup::mutex_ before JobQueue's; WorkerHandle's,
// WorkerProcess's and the channel's are leaves. A job's `done` is called with none of them held.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "pool/job_queue.h"
#include "pool/pool.h"
#include "pool/worker_process.h"
#include "sync/mutex.h"

namespace pgparsed::pool {

class GrammarGroup {
 public:
  using Clock = std::chrono::steady_clock;

  // With so many failed starts in a row, and no worker that is ready, jobs are kUnavailable until
  // one succeeds.
  static constexpr uint32_t kFailuresUntilUnavailable = 3;

  // `workers` is how many run jobs at a time; those beyond are spares and not counted.
  GrammarGroup(uint32_t grammar, std::string worker_path, uint32_t workers,
               std::shared_ptr<JobQueue> job_queue);

  const uint32_t major;
  const std::string path;
  const std::shared_ptr<JobQueue> queue;

  // A process was started. Kept until its death.
  void OnStart(std::shared_ptr<WorkerProcess> process) ABSL_LOCKS_EXCLUDED(mutex_);

  // A worker introduced itself. False if it has died since.
  bool OnReady(WorkerProcess& process, GrammarStatus description) ABSL_LOCKS_EXCLUDED(mutex_);

  // A worker was reaped. True if it had been ready.
  bool OnDeath(WorkerProcess& process) ABSL_LOCKS_EXCLUDED(mutex_);

  // A worker could not be started, or died before it was ready.
  void OnFailedStart(const std::string& why) ABSL_LOCKS_EXCLUDED(mutex_);

  // Blocks until a worker has introduced itself (OK) or a start has failed (why).
  absl::Status WaitForFirstStart() ABSL_LOCKS_EXCLUDED(mutex_);

  // Blocks until so many workers are ready (true), or a start failed or the time was over (false).
  bool WaitForReady(uint32_t workers, Clock::time_point deadline) ABSL_LOCKS_EXCLUDED(mutex_);

  GrammarStatus status() const ABSL_LOCKS_EXCLUDED(mutex_);
  // Ready workers, spares left out.
  uint32_t ready() const ABSL_LOCKS_EXCLUDED(mutex_);
  // The same with spares.
  uint32_t ready_with_spares() const ABSL_LOCKS_EXCLUDED(mutex_);
  // Every process that runs, ready or not.
  std::vector<std::shared_ptr<WorkerProcess>> processes() const ABSL_LOCKS_EXCLUDED(mutex_);

  // How often a process was replaced or stopped, by RecycleReason.
  std::array<std::atomic<uint64_t>, kRecycleReasons> recycles{};

 private:
  const uint32_t workers_;
  mutable sync::Mutex mutex_;
  sync::CondVar changed_;
  GrammarStatus status_ ABSL_GUARDED_BY(mutex_);
  bool described_ ABSL_GUARDED_BY(mutex_) = false;
  uint32_t ready_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<std::shared_ptr<WorkerProcess>> processes_ ABSL_GUARDED_BY(mutex_);
  uint32_t failures_in_a_row_ ABSL_GUARDED_BY(mutex_) = 0;
  std::string last_failure_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace pgparsed::pool
