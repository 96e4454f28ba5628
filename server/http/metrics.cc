#include "http/metrics.h"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <utility>
#include <vector>

#include "service/conversion_counters.h"

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
  MetricFamily trees = Family("pgparsed_conversions_total",
                              "Trees that were written (parse) or read (deparse), by path",
                              MetricType::Counter);
  MetricFamily seconds = Family(
      "pgparsed_conversion_seconds_total",
      "Time of the conversion: writing trees for parse, printing SQL for deparse",
      MetricType::Counter);
  MetricFamily parse_seconds = Family(
      "pgparsed_conversion_parse_seconds_total",
      "Time before it, of the same jobs: the raw parse, or reading the tree for deparse",
      MetricType::Counter);
  MetricFamily bytes = Family("pgparsed_conversion_bytes_total", "Bytes of the answers",
                              MetricType::Counter);
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
          const bool exists = format != channel::TreeFormat::kColumnar ||
                              (path == ConversionCounters::kDirect &&
                               operation == ConversionCounters::kParse);
          if (!exists) continue;
          const Labels labels = {{"grammar", std::to_string(grammar)},
                                 {"operation", operation_name},
                                 {"format", format_name},
                                 {"path", path_name}};
          const ConversionCounters::Values& values =
              counters.Of(grammar, operation, format, path);
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

}  // namespace

std::string MetricsText(const service::Backend& backend, const pool::Pool& pool) {
  std::vector<MetricFamily> families;
  AddConversions(backend.conversions(), families);
  AddPool(pool, families);
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace pgparsed::http_door
