#include "pool/grammar_group.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "pgparsed/errors.h"

namespace pgparsed::pool {

GrammarGroup::GrammarGroup(uint32_t grammar, std::string worker_path, uint32_t workers,
                           std::shared_ptr<JobQueue> job_queue)
    : major(grammar), path(std::move(worker_path)), queue(std::move(job_queue)), workers_(workers) {
  status_.major = grammar;
}

void GrammarGroup::OnStart(std::shared_ptr<WorkerProcess> process) {
  sync::MutexLock lock(mutex_);
  processes_.push_back(std::move(process));
}

bool GrammarGroup::OnReady(WorkerProcess& process, GrammarStatus description) {
  sync::MutexLock lock(mutex_);
  // OnDeath comes after dead() is set, so one of the two sees the other.
  if (process.dead()) return false;
  process.counted_ready = true;
  ++ready_;
  failures_in_a_row_ = 0;
  description.major = major;
  status_ = std::move(description);
  described_ = true;
  queue->SetUnavailable(std::nullopt);
  queue->SetWorkers(std::min(ready_, workers_));
  changed_.SignalAll();
  return true;
}

bool GrammarGroup::OnDeath(WorkerProcess& process) {
  sync::MutexLock lock(mutex_);
  std::erase_if(processes_, [&](const auto& other) { return other.get() == &process; });
  if (!process.counted_ready) return false;
  process.counted_ready = false;
  --ready_;
  queue->SetWorkers(std::min(ready_, workers_));
  changed_.SignalAll();
  return true;
}

void GrammarGroup::OnFailedStart(const std::string& why) {
  sync::MutexLock lock(mutex_);
  ++failures_in_a_row_;
  last_failure_ = why;
  if (failures_in_a_row_ >= kFailuresUntilUnavailable && ready_ == 0) {
    queue->SetUnavailable(MakeError(
        Reason::kUnavailable, absl::StrCat("no worker of grammar ", major, " can be started")));
  }
  changed_.SignalAll();
}

absl::Status GrammarGroup::WaitForFirstStart() {
  sync::MutexLock lock(mutex_);
  while (!described_ && failures_in_a_row_ == 0) changed_.Wait(mutex_);
  if (described_) return absl::OkStatus();
  return absl::UnavailableError(last_failure_);
}

bool GrammarGroup::WaitForReady(uint32_t workers, Clock::time_point deadline) {
  sync::MutexLock lock(mutex_);
  while (ready_ < workers) {
    if (failures_in_a_row_ > 0 || Clock::now() >= deadline) return false;
    changed_.WaitUntil(mutex_, deadline);
  }
  return true;
}

GrammarStatus GrammarGroup::status() const {
  sync::MutexLock lock(mutex_);
  GrammarStatus status = status_;
  status.workers = std::min(ready_, workers_);
  return status;
}

uint32_t GrammarGroup::ready_with_spares() const {
  sync::MutexLock lock(mutex_);
  return ready_;
}

std::vector<std::shared_ptr<WorkerProcess>> GrammarGroup::processes() const {
  sync::MutexLock lock(mutex_);
  return processes_;
}

uint32_t GrammarGroup::ready() const {
  sync::MutexLock lock(mutex_);
  return std::min(ready_, workers_);
}

}  // namespace pgparsed::pool
