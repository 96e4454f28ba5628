#include "bench/service/report.h"

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "bench/service/measure.h"

namespace pgparsed::bench {
namespace {

using nlohmann::json;

bool IsMet(const Bar& bar, double value) {
  return bar.kind == Bar::Kind::kAtLeast ? value >= bar.limit : value <= bar.limit;
}

void PrintBars(const Book& book) {
  if (book.bars().empty()) return;
  std::printf("\n%-72s %9s %7s  %-12s\n", "bars", "measured", "spread", "bar");
  for (const Bar& bar : book.bars()) {
    const Summary summary = book.Of(bar.key);
    std::printf("%-72s %9.2f %6.1f%%  %s %-8g %s\n", bar.title.c_str(), summary.median,
                summary.spread * 100, bar.kind == Bar::Kind::kAtLeast ? ">=" : "<=", bar.limit,
                IsMet(bar, summary.median) ? "met" : "MISSED");
  }
}

struct Column {
  const char* name;  // of the key
  const char* title;
};

// Values that are told of the same thing, as one line.
struct Table {
  const char* title;
  std::vector<Column> columns;  // the first one makes the line
};

const std::vector<Table>& Tables() {
  static const std::vector<Table> tables = {
      {"unary calls: a second; latency and CPU of each in µs",
       {{kCalls, "calls/s"},
        {kP50, "p50"},
        {kP95, "p95"},
        {kP99, "p99"},
        {kP999, "p99.9"},
        {kCpuFront, "front"},
        {kCpuWorkers, "workers"},
        {kCpuClient, "client"},
        {kOverEcho, "of echo"}}},
      {"streams: queries a second; CPU of each in µs, queries a second of CPU, CPUs busy",
       {{kQueries, "queries/s"},
        {kCpuFront, "front"},
        {kCpuWorkers, "workers"},
        {kCpuClient, "client"},
        {kPerCore, "per core"},
        {kBusy, "busy"}}},
      {"in-process, one thread: a second, CPU of each in µs",
       {{kRuns, "runs/s"}, {kCpuThread, "CPU"}}},
  };
  return tables;
}

// The value of another name of the same thing.
const Key* Find(const Book& book, const Key& of, const std::string& name) {
  for (const Key& key : book.keys()) {
    if (key.name == name && key.grammar == of.grammar && key.input == of.input &&
        key.variant == of.variant) {
      return &key;
    }
  }
  return nullptr;
}

void PrintTables(const Book& book) {
  std::set<Key> printed;
  for (const Bar& bar : book.bars()) printed.insert(bar.key);
  for (const Table& table : Tables()) {
    bool begun = false;
    for (const Key& key : book.keys()) {
      if (key.name != table.columns.front().name) continue;
      if (!std::exchange(begun, true)) {
        std::printf("\n%s\n%-2s %-14s %-30s", table.title, "", "input", "variant");
        for (const Column& column : table.columns) std::printf(" %10s", column.title);
        std::printf("  spread\n");
      }
      std::printf("%-2s %-14s %-30s", key.grammar.c_str(), key.input.c_str(), key.variant.c_str());
      for (const Column& column : table.columns) {
        const Key* const cell = Find(book, key, column.name);
        if (cell == nullptr) {
          std::printf(" %10s", "");
          continue;
        }
        std::printf(" %10.*f", book.Of(*cell).median < 100 ? 2 : 0, book.Of(*cell).median);
        printed.insert(*cell);
      }
      std::printf(" %6.1f%%\n", book.Of(key).spread * 100);
    }
  }
  bool begun = false;
  for (const Key& key : book.keys()) {
    if (printed.contains(key)) continue;
    if (!std::exchange(begun, true)) std::printf("\nthe rest\n");
    const Summary summary = book.Of(key);
    std::printf("%-2s %-14s %-30s %-34s %12.2f %-6s %5.1f%%\n", key.grammar.c_str(),
                key.input.c_str(), key.variant.c_str(), key.name.c_str(), summary.median,
                key.unit.c_str(), summary.spread * 100);
  }
}

json ToJson(const Key& key, double value) {
  return {{"name", key.name},       {"grammar", key.grammar}, {"input", key.input},
          {"variant", key.variant}, {"value", value},         {"unit", key.unit}};
}

}  // namespace

void PrintReport(const Book& book, const Options& options) {
  PrintTables(book);
  PrintBars(book);
  std::printf(
      "\n%u CPUs, %u workers, medians of %d rounds of %g s each; spread: standard deviation\n",
      std::thread::hardware_concurrency(), options.workers, options.rounds, options.seconds);
}

bool WriteRecords(const Book& book, const Options& options, const std::string& path) {
  json records = json::array();
  for (const Key& key : book.keys()) {
    const Summary summary = book.Of(key);
    json record = ToJson(key, summary.median);
    record["spread"] = summary.spread;
    record["rounds"] = summary.rounds;
    records.push_back(std::move(record));
  }
  json bars = json::array();
  for (const Bar& bar : book.bars()) {
    const double value = book.Of(bar.key).median;
    json record = ToJson(bar.key, value);
    record["title"] = bar.title;
    record["bar"] = {{bar.kind == Bar::Kind::kAtLeast ? "at_least" : "at_most", bar.limit}};
    record["met"] = IsMet(bar, value);
    bars.push_back(std::move(record));
  }
  const json context = {{"cpus", std::thread::hardware_concurrency()},
                        {"workers", options.workers},
                        {"rounds", options.rounds},
                        {"seconds", options.seconds},
                        {"dump_megabytes", options.dump_megabytes}};
  std::ofstream file(path);
  file << json{{"context", context}, {"bars", bars}, {"records", records}}.dump(1) << "\n";
  return file.good();
}

}  // namespace pgparsed::bench
