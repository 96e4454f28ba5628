#include "cli/stats_table.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/units.h"
#include "cli/utf8_display.h"

namespace pgparsed::cli {
namespace {

// "3s", "12m", "5h", "4d".
std::string Age(uint64_t milliseconds) {
  const uint64_t seconds = milliseconds / 1000;
  if (seconds < 100) return absl::StrCat(seconds, "s");
  if (seconds < 100 * 60) return absl::StrCat(seconds / 60, "m");
  if (seconds < 100 * 3600) return absl::StrCat(seconds / 3600, "h");
  return absl::StrCat(seconds / 86400, "d");
}

std::string MiB(uint64_t bytes) {
  return absl::StrFormat("%.1f", static_cast<double>(bytes) / (1 << 20));
}

}  // namespace

std::string StatsTable(const v1::GetStatsResponse& stats) {
  std::string table =
      absl::StrFormat("%-8s %-15s %8s %8s %5s %9s %9s %9s %9s %9s\n", "process", "allocator", "pid",
                      "jobs", "age", "rss MiB", "pss", "allocated", "resident", "channel");
  absl::StrAppendFormat(&table, "%-8s %-15s %8s %8s %5s %9s %9s\n", "front", "", "",
                        absl::StrCat(stats.jobs_done()), Age(stats.uptime_ms()),
                        MiB(stats.front_rss_bytes()), MiB(stats.front_pss_bytes()));
  std::vector<const v1::WorkerStats*> workers;
  for (const v1::WorkerStats& worker : stats.workers()) workers.push_back(&worker);
  std::sort(workers.begin(), workers.end(), [](const auto* a, const auto* b) {
    return std::tuple(b->grammar(), a->pid()) < std::tuple(a->grammar(), b->pid());
  });
  uint64_t pss = stats.front_pss_bytes();
  for (const v1::WorkerStats* worker : workers) {
    pss += worker->pss_bytes();
    absl::StrAppendFormat(&table, "%-8s %-15s %8d %8d %5s %9s %9s %9s %9s %9s%s\n",
                          absl::StrCat("worker ", worker->grammar()),
                          Printable(worker->allocator()), worker->pid(), worker->jobs(),
                          Age(worker->age_ms()), MiB(worker->rss_bytes()), MiB(worker->pss_bytes()),
                          MiB(worker->allocated_bytes()), MiB(worker->resident_bytes()),
                          MiB(worker->channel_bytes()), worker->busy() ? " busy" : "");
  }
  absl::StrAppendFormat(&table, "all: %s MiB pss\n", MiB(pss));
  absl::StrAppend(&table, "queue ", stats.queue_length(), ", jobs done ", stats.jobs_done(),
                  ", run again ", stats.jobs_retried(), ", refused ", stats.jobs_refused(), "\n");
  std::map<std::string, uint64_t> recycles;
  for (const v1::RecycleCount& recycle : stats.recycles()) {
    recycles[recycle.reason()] += recycle.count();
  }
  absl::StrAppend(&table, "workers replaced or stopped:");
  for (const auto& [reason, count] : recycles) {
    absl::StrAppend(&table, " ", Printable(reason), " ", count);
  }
  absl::StrAppend(&table, "\n");
  return table;
}

}  // namespace pgparsed::cli
