#include "bench/service/measure.h"

#include <algorithm>
#include <chrono>

#include "absl/strings/str_cat.h"

namespace pgparsed::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr Seconds kWarmUp{0.05};

absl::StatusOr<UnaryResult> Checked(UnaryResult result) {
  if (result.load.failed == 0 && !result.load.latencies.empty()) return result;
  return absl::InternalError(absl::StrCat(result.load.failed, " calls failed, ",
                                          result.load.latencies.size(), " succeeded"));
}

// How much of a query goes into a chunk: what pgparsed::InChunks would take.
int QueriesOfChunk(const std::string& query) {
  return static_cast<int>(
      std::clamp<size_t>(kBatchChunkBytes / (query.size() + 1), 1, kBatchChunkQueries));
}

}  // namespace

absl::StatusOr<UnaryResult> MeasureClosed(const Target& target, const Call& call, int in_flight,
                                          Seconds duration) {
  ClosedLoop(call, in_flight, kWarmUp);
  const CpuMeter meter(target.front);
  UnaryResult result{.load = ClosedLoop(call, in_flight, duration)};
  result.cpu = meter.Elapsed();
  return Checked(std::move(result));
}

absl::StatusOr<UnaryResult> MeasureOpen(const Target& target, const Call& call, double per_second,
                                        Seconds duration) {
  OpenLoop(call, per_second, kWarmUp);
  const CpuMeter meter(target.front);
  UnaryResult result{.load = OpenLoop(call, per_second, duration)};
  result.cpu = meter.Elapsed();
  return Checked(std::move(result));
}

absl::StatusOr<StreamResult> MeasureBatch(const Target& target, Client& client,
                                          const v1::StreamOptions& options,
                                          const std::string& query, Seconds duration,
                                          const AnswerTaker& take) {
  const int queries = QueriesOfChunk(query);
  StreamResult result;
  const CpuMeter meter(target.front);
  const Clock::time_point begin = Clock::now();
  const absl::Status status = client.Batch(
      options,
      [&](v1::BatchRequest::Chunk& chunk) -> absl::StatusOr<bool> {
        if (Clock::now() - begin >= duration) return false;
        for (int i = 0; i < queries; ++i) chunk.add_queries(query);
        return true;
      },
      [&](const v1::BatchResponse& answer) -> absl::Status {
        if (!answer.results().errors().empty()) {
          return absl::InternalError(answer.results().errors(0).error().message());
        }
        result.queries += answer.count();
        return take == nullptr ? absl::OkStatus() : take(answer);
      });
  result.seconds = Seconds(Clock::now() - begin).count();
  result.cpu = meter.Elapsed();
  if (!status.ok()) return status;
  return result;
}

void Add(Book& book, const Subject& subject, const UnaryResult& result) {
  book.Add(subject.Value(kCalls, "1/s"), result.load.per_second());
  book.Add(subject.Value(kP50, "us"), result.load.Quantile(0.5));
  book.Add(subject.Value(kP95, "us"), result.load.Quantile(0.95));
  book.Add(subject.Value(kP99, "us"), result.load.Quantile(0.99));
  book.Add(subject.Value(kP999, "us"), result.load.Quantile(0.999));
  book.Add(subject.Value(kCpuFront, "us"), result.cpu_microseconds(result.cpu.front));
  book.Add(subject.Value(kCpuWorkers, "us"), result.cpu_microseconds(result.cpu.workers));
  book.Add(subject.Value(kCpuClient, "us"), result.cpu_microseconds(result.cpu.client));
}

void Add(Book& book, const Subject& subject, const StreamResult& result) {
  const double microseconds = 1e6 / static_cast<double>(result.queries);
  book.Add(subject.Value(kQueries, "1/s"), result.per_second());
  book.Add(subject.Value(kCpuFront, "us"), result.cpu.front * microseconds);
  book.Add(subject.Value(kCpuWorkers, "us"), result.cpu.workers * microseconds);
  book.Add(subject.Value(kCpuClient, "us"), result.cpu.client * microseconds);
  book.Add(subject.Value(kPerCore, "1/s"), result.per_core());
  book.Add(subject.Value(kBusy, "ratio"), result.cpu.total() / result.seconds);
}

void Add(Book& book, const Subject& subject, const InProcess::Result& result) {
  book.Add(subject.Value(kRuns, "1/s"), result.per_second());
  book.Add(subject.Value(kCpuThread, "us"), result.cpu_microseconds());
}

}  // namespace pgparsed::bench
