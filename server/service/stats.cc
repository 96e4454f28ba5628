#include "service/stats.h"

#include <unistd.h>

#include <string>

#include "absl/time/clock.h"
#include "pool/process_memory.h"

namespace pgparsed::service {

v1::GetStatsResponse CollectStats(const pool::Pool& pool, absl::Time started) {
  v1::GetStatsResponse stats;
  for (const pool::WorkerStatus& status : pool.WorkerStatuses()) {
    const auto memory = pool::ReadProcessMemory(status.pid);
    if (!memory) continue;  // it ended meanwhile
    v1::WorkerStats* worker = stats.add_workers();
    worker->set_grammar(status.grammar);
    worker->set_pid(static_cast<uint32_t>(status.pid));
    worker->set_jobs(status.jobs);
    worker->set_rss_bytes(memory->rss);
    worker->set_pss_bytes(memory->pss);
    worker->set_allocated_bytes(status.reported.allocated);
    worker->set_resident_bytes(status.reported.resident);
    worker->set_retained_bytes(status.reported.retained);
    worker->set_channel_bytes(status.channel_bytes);
    worker->set_busy(status.busy);
    worker->set_age_ms(static_cast<uint64_t>(absl::ToInt64Milliseconds(status.age)));
    worker->set_allocator(status.allocator);
  }
  for (const pool::RecycleCount& recycle : pool.Recycles()) {
    v1::RecycleCount* count = stats.add_recycles();
    count->set_grammar(recycle.grammar);
    count->set_reason(std::string(pool::RecycleReasonName(recycle.reason)));
    count->set_count(recycle.count);
  }
  const pool::PoolCounters counters = pool.Counters();
  stats.set_queue_length(counters.queue_length);
  stats.set_jobs_done(counters.jobs_done);
  stats.set_jobs_retried(counters.jobs_retried);
  stats.set_jobs_refused(counters.jobs_refused);
  if (const auto front = pool::ReadProcessMemory(getpid())) {
    stats.set_front_rss_bytes(front->rss);
    stats.set_front_pss_bytes(front->pss);
  }
  stats.set_uptime_ms(static_cast<uint64_t>(absl::ToInt64Milliseconds(absl::Now() - started)));
  return stats;
}

}  // namespace pgparsed::service
