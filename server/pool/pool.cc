#include "pool/pool.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <optional>
#include <utility>

#include <spdlog/spdlog.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "pgparsed/errors.h"
#include "pool/cgroup_limits.h"
#include "pool/counters.h"
#include "pool/crash_memory.h"
#include "pool/grammar_group.h"
#include "pool/job_queue.h"
#include "pool/supervisor.h"
#include "pool/wake_signal.h"
#include "pool/worker_files.h"

namespace pgparsed::pool {
namespace {

using Clock = std::chrono::steady_clock;

// The longest spin before a side of a channel sleeps: about what a sleep and its wake-up cost.
constexpr uint32_t kSpinNanos = 20'000;

// Spinning pays only where every worker and its feeder have a CPU, and the callers one more. With
// fewer it took a tenth of the throughput and made no call faster (2 CPUs, 1 and 2 workers).
uint32_t SpinNanos(uint32_t cpus, uint32_t workers) { return cpus > 2 * workers ? kSpinNanos : 0; }

constexpr uint64_t kMostMemory = 2ull << 30;
constexpr uint64_t kMostKept = 64ull << 20;
constexpr uint64_t kLeastShare = 16ull << 20;

// `most`, or less in a cgroup: the part of its memory that one of `processes` may have.
uint64_t Share(uint64_t most, double part, uint32_t processes) {
  const std::optional<uint64_t> limit = AvailableMemory();
  if (!limit) return most;
  const double share = static_cast<double>(*limit) * part / processes;
  return std::clamp(static_cast<uint64_t>(share), kLeastShare, most);
}

// How long Start waits for the default grammar's workers after the first.
constexpr std::chrono::seconds kStartTimeout{15};

Clock::duration ToSteady(absl::Duration duration) {
  return std::min(duration, absl::Hours(24 * 365)) / absl::Nanoseconds(1) *
         std::chrono::nanoseconds(1);
}

// A handle for a job that has ended before it began.
class NoHandle final : public JobHandle {
 public:
  void Cancel() override {}
};

class WorkerPool final : public Pool {
 public:
  explicit WorkerPool(const PoolOptions& options)
      : options_(options),
        workers_(options.workers != 0 ? options.workers : AvailableCpus()),
        crashes_(options.crash_memory_entries, ToSteady(options.crash_memory)) {}

  ~WorkerPool() override { Drain(absl::InfinitePast()); }

  absl::Status Launch();

  std::shared_ptr<JobHandle> Submit(Job job) override;
  bool Remembers(const channel::JobHeader& header, std::string_view text,
                 std::string_view comments) override {
    return crashes_.Remembers(header, text, comments, Clock::now());
  }
  std::vector<GrammarStatus> Grammars() const override;
  uint32_t Workers() const override { return workers_; }
  bool Ready() const override { return groups_.at(default_grammar_)->ready() > 0; }
  PoolCounters Counters() const override;
  std::vector<WorkerStatus> WorkerStatuses() const override;
  std::vector<RecycleCount> Recycles() const override;
  uint32_t RecycleWorkers(uint32_t grammar) override;
  void PurgeMemory(uint32_t grammar) override;
  void Drain(absl::Time deadline) override;

 private:
  absl::Status ChooseDefault();
  std::shared_ptr<JobHandle> Refuse(Job& job, absl::Status why);

  const PoolOptions options_;
  const uint32_t workers_;
  CrashMemory crashes_;
  pool::Counters counters_;
  uint32_t default_grammar_ = 0;                              // const after Launch
  std::map<uint32_t, std::unique_ptr<GrammarGroup>> groups_;  // const after Launch
  std::unique_ptr<Supervisor> supervisor_;
};

absl::Status WorkerPool::ChooseDefault() {
  default_grammar_ =
      options_.default_grammar != 0 ? options_.default_grammar : groups_.rbegin()->first;
  if (groups_.contains(default_grammar_)) return absl::OkStatus();
  const std::string there = absl::StrJoin(groups_, ", ", [](std::string* out, const auto& group) {
    absl::StrAppend(out, group.first);
  });
  return absl::NotFoundError(absl::StrCat("the default grammar is ", default_grammar_, ", but '",
                                          options_.worker_dir,
                                          "' has workers for these only: ", there));
}

absl::Status WorkerPool::Launch() {
  auto files = FindWorkerFiles(options_.worker_dir, [this](uint32_t major) {
    const auto chosen = options_.allocators.find(major);
    return chosen != options_.allocators.end() ? chosen->second : options_.allocator;
  });
  if (!files.ok()) return files.status();
  auto signal = WakeSignal::Create();
  if (!signal.ok()) return signal.status();

  const uint32_t cpus = AvailableCpus();
  const uint32_t workers = workers_;
  const uint32_t processes = workers + options_.spare_workers;
  const JobQueue::Limits limits{.max_length = options_.max_queue_length,
                                .max_bytes = options_.max_queue_bytes,
                                .max_wait = ToSteady(options_.max_queue_time),
                                .max_running = workers};
  std::vector<GrammarGroup*> groups;
  for (const auto& [major, path] : *files) {
    auto queue = std::make_shared<JobQueue>(limits, [wake = *signal] { wake->Set(); });
    groups.push_back(
        groups_.emplace(major, std::make_unique<GrammarGroup>(major, path, workers, queue))
            .first->second.get());
  }
  if (absl::Status chosen = ChooseDefault(); !chosen.ok()) return chosen;

  supervisor_ = std::make_unique<Supervisor>(
      Supervisor::Options{.default_grammar = default_grammar_,
                          .workers = workers,
                          .spares = options_.spare_workers,
                          .grammar_idle_timeout = ToSteady(options_.grammar_idle_timeout),
                          .max_job_time = ToSteady(options_.max_job_time),
                          .max_stall = ToSteady(options_.max_stall),
                          .worker_memory_limit = options_.worker_memory_limit != 0
                                                     ? options_.worker_memory_limit
                                                     : Share(kMostMemory, 0.75, processes),
                          .worker_memory_budget = options_.worker_memory_budget != 0
                                                      ? options_.worker_memory_budget
                                                      : Share(kMostKept, 0.125, processes),
                          .channel = {.max_text_bytes = options_.max_text_bytes,
                                      .max_answer_bytes = options_.max_answer_bytes,
                                      .spin_ns = SpinNanos(cpus, workers)}},
      groups, crashes_, counters_, *std::move(signal));
  if (absl::Status started = supervisor_->Start(); !started.ok()) return started;

  // All at once: the default grammar's workers, and one of each other grammar to introduce itself.
  GrammarGroup& main = *groups_.at(default_grammar_);
  main.queue->StayAwake();
  for (const GrammarGroup* group : groups) {
    supervisor_->SetWanted(group->major, group == &main ? workers + options_.spare_workers : 1);
  }
  for (GrammarGroup* group : groups) {
    if (absl::Status started = group->WaitForFirstStart(); !started.ok()) return started;
    if (group != &main) supervisor_->SetWanted(group->major, 0);
  }
  if (!main.WaitForReady(workers, Clock::now() + kStartTimeout)) {
    return absl::UnavailableError(absl::StrCat("only ", main.ready(), " of ", workers,
                                               " workers of grammar ", default_grammar_,
                                               " could be started; the log says why"));
  }
  spdlog::info("pool ready: grammar {}, {} workers, {} CPUs; other grammars start on first use",
               default_grammar_, workers, cpus);
  return absl::OkStatus();
}

std::shared_ptr<JobHandle> WorkerPool::Refuse(Job& job, absl::Status why) {
  Counters::Add(counters_.jobs_refused);
  std::exchange(job.done, nullptr)(std::move(why));
  return std::make_shared<NoHandle>();
}

std::shared_ptr<JobHandle> WorkerPool::Submit(Job job) {
  const auto group = groups_.find(job.grammar);
  if (group == groups_.end()) {
    return Refuse(job, MakeError(Reason::kUnsupportedGrammar,
                                 absl::StrCat("there is no grammar ", job.grammar, " here")));
  }
  if (job.text.size() + job.comments.size() > options_.max_text_bytes) {
    return Refuse(
        job, MakeError(Reason::kQueryTooLarge, absl::StrCat("the query is larger than ",
                                                            options_.max_text_bytes, " bytes")));
  }
  if (crashes_.Remembers(job.header, job.text, job.comments, Clock::now())) {
    return Refuse(job, MakeError(Reason::kParserCrashed,
                                 "the query crashed the parser before; it is refused for a while"));
  }
  const std::shared_ptr<JobQueue>& queue = group->second->queue;
  auto queued = std::make_shared<QueuedJob>(std::move(job), queue);
  if (absl::Status refused = queue->Push(queued); !refused.ok()) {
    return Refuse(queued->job, std::move(refused));
  }
  return queued;
}

std::vector<GrammarStatus> WorkerPool::Grammars() const {
  std::vector<GrammarStatus> grammars;
  for (auto it = groups_.rbegin(); it != groups_.rend(); ++it) {
    GrammarStatus status = it->second->status();
    status.is_default = it->first == default_grammar_;
    grammars.insert(status.is_default ? grammars.begin() : grammars.end(), std::move(status));
  }
  return grammars;
}

PoolCounters WorkerPool::Counters() const {
  PoolCounters counters{.jobs_done = counters_.jobs_done,
                        .jobs_retried = counters_.jobs_retried,
                        .jobs_refused = counters_.jobs_refused,
                        .workers_started = counters_.workers_started,
                        .workers_crashed = counters_.workers_crashed,
                        .workers_killed_for_time = counters_.workers_killed_for_time};
  for (const auto& [major, group] : groups_) counters.queue_length += group->queue->length();
  return counters;
}

std::vector<WorkerStatus> WorkerPool::WorkerStatuses() const {
  std::vector<WorkerStatus> workers;
  for (const auto& [major, group] : groups_) {
    const std::string allocator = group->status().allocator;
    for (const auto& process : group->processes()) {
      workers.push_back({.grammar = major,
                         .pid = process->pid(),
                         .jobs = process->jobs_taken.load(std::memory_order_relaxed),
                         .busy = process->busy.load(std::memory_order_relaxed),
                         .age = absl::FromChrono(Clock::now() - process->started()),
                         .allocator = allocator,
                         .reported = process->channel().memory_report(),
                         .channel_bytes = process->channel().AllocatedBytes()});
    }
  }
  return workers;
}

std::vector<RecycleCount> WorkerPool::Recycles() const {
  std::vector<RecycleCount> counts;
  for (const auto& [major, group] : groups_) {
    for (size_t i = 0; i < kRecycleReasons; ++i) {
      counts.push_back({.grammar = major,
                        .reason = static_cast<RecycleReason>(i),
                        .count = group->recycles[i].load(std::memory_order_relaxed)});
    }
  }
  return counts;
}

uint32_t WorkerPool::RecycleWorkers(uint32_t grammar) {
  uint32_t count = 0;
  for (const auto& [major, group] : groups_) {
    if (grammar != 0 && grammar != major) continue;
    for (const auto& process : group->processes()) {
      process->replacement_wanted.store(true, std::memory_order_release);
      ++count;
    }
  }
  supervisor_->LookAround();
  return count;
}

void WorkerPool::PurgeMemory(uint32_t grammar) {
  for (const auto& [major, group] : groups_) {
    if (grammar != 0 && grammar != major) continue;
    for (const auto& process : group->processes()) process->channel().AskForPurge();
  }
}

void WorkerPool::Drain(absl::Time deadline) {
  for (const auto& [major, group] : groups_) {
    group->queue->Close(
        MakeError(Reason::kDraining, "the server is shutting down; try another one"));
  }
  const absl::Duration left = std::max(deadline - absl::Now(), absl::ZeroDuration());
  const Clock::time_point until = Clock::now() + ToSteady(left);
  for (const auto& [major, group] : groups_) group->queue->WaitUntilEmpty(until);
  for (const auto& [major, group] : groups_) group->queue->Abandon();
  if (supervisor_ != nullptr) supervisor_->Stop();
}

}  // namespace

std::string_view RecycleReasonName(RecycleReason reason) {
  switch (reason) {
    case RecycleReason::kCrash:
      return "crash";
    case RecycleReason::kMemory:
      return "memory";
    case RecycleReason::kTime:
      return "time";
    case RecycleReason::kIdle:
      return "idle";
    case RecycleReason::kRequest:
      return "request";
  }
  return "";
}

absl::StatusOr<std::unique_ptr<Pool>> Pool::Start(PoolOptions options) {
  auto pool = std::make_unique<WorkerPool>(options);
  if (absl::Status launched = pool->Launch(); !launched.ok()) return launched;
  return pool;
}

}  // namespace pgparsed::pool
