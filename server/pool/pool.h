// The worker pool: processes that parse, supervised, behind queues.
//
// For each grammar the pool has a worker executable (pgparsed-worker-<major>), a queue with two
// lanes and some worker processes, each with a shared-memory channel and a thread here that feeds
// it. A worker that dies is replaced; its job is run once more elsewhere, and a job that kills
// twice is answered with kParserCrashed and remembered for a while by a keyed hash.
//
// Thread-safety: all methods may be called from any thread. Submit never blocks on a worker.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "channel/worker_end.h"
#include "pool/job.h"

namespace pgparsed::pool {

struct PoolOptions {
  // The folder with the worker executables, pgparsed-worker-<major>.
  std::string worker_dir;
  // The grammar that starts at once. 0: the newest that is there.
  uint32_t default_grammar = 0;
  // Worker processes of a grammar. 0: one for each CPU that the cgroup's quota allows.
  uint32_t workers = 0;
  // Processes of a grammar beyond those, so that one is ready when a worker dies or is killed. One
  // takes 1.3 MB of its own (5 MB with its share of the executable).
  uint32_t spare_workers = 1;
  // A grammar other than the default stops after so long without a job.
  absl::Duration grammar_idle_timeout = absl::Minutes(10);
  // The longest time of one job in a worker.
  absl::Duration max_job_time = absl::Seconds(10);
  // How long a worker waits for a client that takes nothing of a tree in pieces.
  absl::Duration max_stall = absl::Seconds(30);
  // Jobs that may wait, for each grammar and lane; one more is kOverloaded.
  uint32_t max_queue_length = 1024;
  // The same in bytes of their texts. An empty lane takes a larger one.
  uint64_t max_queue_bytes = 256ull << 20;
  // The longest wait of a unary job; one that waited longer is kOverloaded. Stream jobs are held
  // back by their stream's flow control and wait until their deadline.
  absl::Duration max_queue_time = absl::Seconds(1);
  // Sizes of a channel's slots: the largest text (with comments) and the largest answer.
  uint64_t max_text_bytes = 17u << 20;
  // Address space; memory is taken for what an answer has.
  uint64_t max_answer_bytes = 257u << 20;
  // The allocator of each grammar's workers by the name in its executable's name: "system" (also
  // for grammars that are not here), "jemalloc", "mimalloc".
  std::map<uint32_t, std::string> allocators;
  std::string allocator = "system";  // of the others
  // A worker's address space for data may grow to this; then the job is kParserMemoryLimit. 0: 2
  // GiB, or less if three quarters of the cgroup's memory, divided among the default grammar's
  // workers and spares, are less.
  uint64_t worker_memory_limit = 0;
  // What a worker without a job may keep: one that has more, and after a purge still, is replaced.
  // 0: 64 MiB, or an eighth of the cgroup's memory, divided in the same way.
  uint64_t worker_memory_budget = 0;
  // For how long a query that crashed a worker twice is refused, and how many are remembered.
  absl::Duration crash_memory = absl::Minutes(10);
  uint32_t crash_memory_entries = 4096;
};

// What a worker said of its grammar, and the grammar's state.
struct GrammarStatus {
  uint32_t major = 0;
  std::string library_version;
  std::string postgres_version;
  uint32_t postgres_version_num = 0;
  std::string allocator;
  uint32_t features = 0;  // channel::Feature
  bool is_default = false;
  uint32_t workers = 0;  // that can take jobs at this moment; spares are not counted
};

// One worker process.
struct WorkerStatus {
  uint32_t grammar = 0;
  pid_t pid = 0;
  uint64_t jobs = 0;  // that it was given
  bool busy = false;
  absl::Duration age;
  std::string allocator;           // as it said itself
  channel::MemoryReport reported;  // what its allocator said when it last had a pause
  uint64_t channel_bytes = 0;      // of its channel, backed by memory
};

// Why processes were replaced.
enum class RecycleReason : uint8_t {
  kCrash,    // it died, or broke the channel's rules
  kMemory,   // it kept more than its budget
  kTime,     // its job's time was over
  kIdle,     // its grammar was not in use
  kRequest,  // an operator asked for it
};
inline constexpr size_t kRecycleReasons = 5;
std::string_view RecycleReasonName(RecycleReason reason);

struct RecycleCount {
  uint32_t grammar = 0;
  RecycleReason reason{};
  uint64_t count = 0;
};

struct PoolCounters {
  uint64_t jobs_done = 0;
  uint64_t jobs_retried = 0;
  uint64_t jobs_refused = 0;
  uint64_t workers_started = 0;
  uint64_t workers_crashed = 0;
  uint64_t workers_killed_for_time = 0;
  uint32_t queue_length = 0;
};

class Pool {
 public:
  // Finds the worker executables, starts one worker of each grammar to learn what it is, then the
  // default grammar's workers. Fails with a message for the operator: no worker executable in the
  // folder, one that does not start, no such default grammar. Blocks until the default grammar is
  // ready.
  static absl::StatusOr<std::unique_ptr<Pool>> Start(PoolOptions options);

  virtual ~Pool() = default;  // kills the workers; callers have drained

  // Queues a job, or calls `done` with the error before it returns (kOverloaded, kDraining,
  // kParserCrashed for a remembered query). The handle may be dropped.
  virtual std::shared_ptr<JobHandle> Submit(Job job) = 0;

  // Whether a job with this header, text and comments would be refused because it crashed the
  // parser before. Next to free while no such job is remembered.
  virtual bool Remembers(const channel::JobHeader& header, std::string_view text,
                         std::string_view comments) = 0;

  // The grammars, the default first, then the newest first.
  virtual std::vector<GrammarStatus> Grammars() const = 0;

  // Workers of a grammar that can run jobs at a time, spares left out.
  virtual uint32_t Workers() const = 0;

  // Whether the default grammar has a worker that can take jobs.
  virtual bool Ready() const = 0;

  virtual PoolCounters Counters() const = 0;

  // Every worker process that runs, spares included.
  virtual std::vector<WorkerStatus> WorkerStatuses() const = 0;
  // Every grammar and reason.
  virtual std::vector<RecycleCount> Recycles() const = 0;

  // Has every worker of a grammar (0: of all) replaced, one after the other, each when it has no
  // job and the others are ready. Returns how many.
  virtual uint32_t RecycleWorkers(uint32_t grammar) = 0;
  // Asks every worker of a grammar (0: of all) to give its free memory back when it has no job.
  virtual void PurgeMemory(uint32_t grammar) = 0;

  // Refuses new jobs (kDraining), waits until queued and running ones are answered or `deadline`
  // has passed, then stops the workers.
  virtual void Drain(absl::Time deadline) = 0;
};

}  // namespace pgparsed::pool
