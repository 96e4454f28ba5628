#include "http/metrics.h"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "pgparsed/errors.h"
#include "service/conversion_counters.h"
#include "service/rpc_status.h"
#include "service/stats.h"

namespace pgparsed::http_door {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using service::ConversionCounters;
using Labels = std::vector<ClientMetric::Label>;

void Add(MetricFamily& family, Labels labels, double value) {
  ClientMetric& metric = family.metric.emplace_back();
  metric.label = std::move(labels);
  if (family.type == MetricType::Counter) {
    metric.counter.value = value;
  } else {
    metric.gauge.value = value;
  }
}

MetricFamily Family(const char* name, const char* help, MetricType type) {
  MetricFamily family;
  family.name = name;
  family.help = help;
  family.type = type;
  return family;
}

void AddConversions(const ConversionCounters& counters, std::vector<MetricFamily>& families) {
  MetricFamily trees =
      Family("pgparsed_conversions_total",
             "Trees that were written (parse) or read (deparse), by path", MetricType::Counter);
  MetricFamily seconds =
      Family("pgparsed_conversion_seconds_total",
             "Time of the conversion: writing trees for parse, printing SQL for deparse",
             MetricType::Counter);
  MetricFamily parse_seconds =
      Family("pgparsed_conversion_parse_seconds_total",
             "Time before it, of the same jobs: the raw parse, or reading the tree for deparse",
             MetricType::Counter);
  MetricFamily bytes =
      Family("pgparsed_conversion_bytes_total", "Bytes of the answers", MetricType::Counter);
  const std::pair<ConversionCounters::Operation, const char*> operations[] = {
      {ConversionCounters::kParse, "parse"}, {ConversionCounters::kDeparse, "deparse"}};
  const std::pair<channel::TreeFormat, const char*> formats[] = {
      {channel::TreeFormat::kJson, "json"},
      {channel::TreeFormat::kProtobuf, "protobuf"},
      {channel::TreeFormat::kColumnar, "columnar"}};
  const std::pair<ConversionCounters::Path, const char*> paths[] = {
      {ConversionCounters::kDirect, "direct"}, {ConversionCounters::kLibrary, "library"}};
  for (const uint32_t grammar : counters.grammars()) {
    for (const auto& [operation, operation_name] : operations) {
      for (const auto& [format, format_name] : formats) {
        for (const auto& [path, path_name] : paths) {
          const bool exists =
              format != channel::TreeFormat::kColumnar ||
              (path == ConversionCounters::kDirect && operation == ConversionCounters::kParse);
          if (!exists) continue;
          const Labels labels = {{"grammar", std::to_string(grammar)},
                                 {"operation", operation_name},
                                 {"format", format_name},
                                 {"path", path_name}};
          const ConversionCounters::Values& values = counters.Of(grammar, operation, format, path);
          Add(trees, labels, static_cast<double>(values.trees.load()));
          Add(seconds, labels, static_cast<double>(values.convert_ns.load()) / 1e9);
          Add(parse_seconds, labels, static_cast<double>(values.parse_ns.load()) / 1e9);
          Add(bytes, labels, static_cast<double>(values.bytes.load()));
        }
      }
    }
  }
  for (MetricFamily* family : {&trees, &seconds, &parse_seconds, &bytes}) {
    families.push_back(std::move(*family));
  }
}

void AddFailures(std::vector<MetricFamily>& families) {
  MetricFamily failed =
      Family("pgparsed_failed_calls_total",
             "Calls that failed, by the reason that the caller was told", MetricType::Counter);
  for (auto reason = Reason::kSqlSyntaxError; reason <= Reason::kUnavailable;
       reason = static_cast<Reason>(static_cast<uint32_t>(reason) + 1)) {
    Add(failed, {{"reason", std::string(ReasonName(reason))}},
        static_cast<double>(service::FailedCalls(reason)));
  }
  families.push_back(std::move(failed));
}

void AddPool(const pool::Pool& pool, std::vector<MetricFamily>& families) {
  const pool::PoolCounters counters = pool.Counters();
  const auto add = [&](const char* name, const char* help, MetricType type, double value) {
    Add(families.emplace_back(Family(name, help, type)), {}, value);
  };
  constexpr auto kCounter = MetricType::Counter;
  add("pgparsed_jobs_done_total", "Jobs that a worker answered", kCounter,
      static_cast<double>(counters.jobs_done));
  add("pgparsed_jobs_retried_total", "Jobs that were run again after their worker died", kCounter,
      static_cast<double>(counters.jobs_retried));
  add("pgparsed_jobs_refused_total",
      "Jobs that were refused: no room in the queue, draining, known to crash the parser", kCounter,
      static_cast<double>(counters.jobs_refused));
  add("pgparsed_workers_started_total", "Worker processes that were started", kCounter,
      static_cast<double>(counters.workers_started));
  add("pgparsed_workers_crashed_total", "Worker processes that died by themselves", kCounter,
      static_cast<double>(counters.workers_crashed));
  add("pgparsed_workers_killed_total",
      "Worker processes that were killed because a job's time was over", kCounter,
      static_cast<double>(counters.workers_killed_for_time));
  add("pgparsed_queue_length", "Jobs that wait for a worker", MetricType::Gauge,
      static_cast<double>(counters.queue_length));
  MetricFamily workers =
      Family("pgparsed_workers", "Workers that can take jobs, spares left out", MetricType::Gauge);
  for (const pool::GrammarStatus& grammar : pool.Grammars()) {
    Add(workers, {{"grammar", std::to_string(grammar.major)}}, grammar.workers);
  }
  families.push_back(std::move(workers));
}

void AddMemory(const pool::Pool& pool, std::vector<MetricFamily>& families) {
  const v1::GetStatsResponse stats = service::CollectStats(pool, absl::Now());
  MetricFamily front =
      Family("pgparsed_front_memory_bytes", "Memory of the front", MetricType::Gauge);
  Add(front, {{"kind", "rss"}}, static_cast<double>(stats.front_rss_bytes()));
  Add(front, {{"kind", "pss"}}, static_cast<double>(stats.front_pss_bytes()));
  families.push_back(std::move(front));

  // By grammar, not by process: a label for each process would make a new series at each restart.
  MetricFamily memory = Family("pgparsed_workers_memory_bytes",
                               "Memory of all workers of a grammar: resident, proportional; what "
                               "their allocator has in use, "
                               "holds and keeps without backing; and of their channels",
                               MetricType::Gauge);
  MetricFamily largest =
      Family("pgparsed_worker_memory_largest_bytes",
             "Resident memory of the largest worker of a grammar", MetricType::Gauge);
  MetricFamily processes =
      Family("pgparsed_worker_processes", "Worker processes, spares included", MetricType::Gauge);
  struct Sum {
    double rss = 0, pss = 0, allocated = 0, resident = 0, retained = 0, channel = 0, largest = 0;
    double processes = 0;
  };
  std::map<uint32_t, Sum> sums;
  for (const pool::GrammarStatus& grammar : pool.Grammars()) sums[grammar.major];
  for (const v1::WorkerStats& worker : stats.workers()) {
    Sum& sum = sums[worker.grammar()];
    sum.rss += static_cast<double>(worker.rss_bytes());
    sum.pss += static_cast<double>(worker.pss_bytes());
    sum.allocated += static_cast<double>(worker.allocated_bytes());
    sum.resident += static_cast<double>(worker.resident_bytes());
    sum.retained += static_cast<double>(worker.retained_bytes());
    sum.channel += static_cast<double>(worker.channel_bytes());
    sum.largest = std::max(sum.largest, static_cast<double>(worker.rss_bytes()));
    ++sum.processes;
  }
  for (const auto& [grammar, sum] : sums) {
    const std::string major = std::to_string(grammar);
    const std::pair<const char*, double> kinds[] = {
        {"rss", sum.rss},           {"pss", sum.pss},           {"allocated", sum.allocated},
        {"resident", sum.resident}, {"retained", sum.retained}, {"channel", sum.channel}};
    for (const auto& [kind, value] : kinds) {
      Add(memory, {{"grammar", major}, {"kind", kind}}, value);
    }
    Add(largest, {{"grammar", major}}, sum.largest);
    Add(processes, {{"grammar", major}}, sum.processes);
  }
  MetricFamily recycles =
      Family("pgparsed_worker_recycles_total",
             "Worker processes that were replaced or stopped, by reason", MetricType::Counter);
  for (const v1::RecycleCount& recycle : stats.recycles()) {
    Add(recycles, {{"grammar", std::to_string(recycle.grammar())}, {"reason", recycle.reason()}},
        static_cast<double>(recycle.count()));
  }
  for (MetricFamily* family : {&memory, &largest, &processes, &recycles}) {
    families.push_back(std::move(*family));
  }
}

}  // namespace

std::string MetricsText(const service::Backend& backend, const pool::Pool& pool) {
  std::vector<MetricFamily> families;
  AddConversions(backend.conversions(), families);
  AddFailures(families);
  AddPool(pool, families);
  AddMemory(pool, families);
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace pgparsed::http_door
