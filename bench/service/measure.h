// Measurements with their CPU time, and how they go into the book.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bench/service/accounting.h"
#include "bench/service/book.h"
#include "bench/service/in_process.h"
#include "bench/service/load.h"
#include "pgparsed/client.h"

namespace pgparsed::bench {

// Names of values.
inline constexpr char kCalls[] = "calls";
inline constexpr char kP50[] = "p50";
inline constexpr char kP95[] = "p95";
inline constexpr char kP99[] = "p99";
inline constexpr char kP999[] = "p99.9";
inline constexpr char kCpuFront[] = "cpu_front";
inline constexpr char kCpuWorkers[] = "cpu_workers";
inline constexpr char kCpuClient[] = "cpu_client";
inline constexpr char kOverEcho[] = "calls_over_echo";
inline constexpr char kQueries[] = "queries";
inline constexpr char kPerCore[] = "queries_per_core";
inline constexpr char kBusy[] = "cpus_busy";
inline constexpr char kRuns[] = "runs";
inline constexpr char kCpuThread[] = "cpu";

// A server, or what stands for one.
struct Target {
  std::string address;
  pid_t front = -1;
};

// What a value is of, but for its name and unit.
struct Subject {
  std::string grammar;
  std::string input;
  std::string variant;

  Key Value(std::string name, std::string unit) const {
    return {std::move(name), grammar, input, variant, std::move(unit)};
  }
};

struct UnaryResult {
  LoadResult load;
  CpuTimes cpu;

  double cpu_microseconds(double seconds) const {
    return seconds * 1e6 / static_cast<double>(load.latencies.size());
  }
};

// Warms up, then measures. The error says how many calls failed, if any did.
absl::StatusOr<UnaryResult> MeasureClosed(const Target& target, const Call& call, int in_flight,
                                          Seconds duration);
absl::StatusOr<UnaryResult> MeasureOpen(const Target& target, const Call& call, double per_second,
                                        Seconds duration);

struct StreamResult {
  uint64_t queries = 0;
  double seconds = 0;
  CpuTimes cpu;

  double per_second() const { return static_cast<double>(queries) / seconds; }
  // For each second of CPU time that anyone used.
  double per_core() const { return static_cast<double>(queries) / cpu.total(); }
};

// One Batch stream of a query, again and again, for so long. `take` looks at each answer.
using AnswerTaker = std::function<absl::Status(const v1::BatchResponse& answer)>;
absl::StatusOr<StreamResult> MeasureBatch(const Target& target, Client& client,
                                          const v1::StreamOptions& options,
                                          const std::string& query, Seconds duration,
                                          const AnswerTaker& take = nullptr);

void Add(Book& book, const Subject& subject, const UnaryResult& result);
void Add(Book& book, const Subject& subject, const StreamResult& result);
void Add(Book& book, const Subject& subject, const InProcess::Result& result);

}  // namespace pgparsed::bench
