// What a report says about a number of calls, whichever they are: counts, sums, extremes, the
// distribution of durations, places in the log. Adding and merging is exact and does not depend on
// the order; what would overflow stays at its largest value.
//
// Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include "absl/numeric/int128.h"
#include "absl/status/statusor.h"
#include "pgparsed/v1/streams.pb.h"
#include "service/workload/quantile_sketch.h"

namespace pgparsed::service {

class Aggregate {
 public:
  // Adds `weight` (at least 1) equal calls. The duration, in microseconds, and the rows are those
  // of one.
  void Add(std::optional<uint64_t> duration_us, std::optional<uint64_t> rows, uint64_t weight,
           uint64_t index);
  void Merge(const Aggregate& other);

  uint64_t calls() const { return calls_; }
  uint64_t timed_calls() const { return timed_calls_; }
  absl::uint128 total_duration_us() const { return total_duration_us_; }
  uint64_t max_duration_us() const { return max_duration_us_; }
  absl::uint128 total_rows() const { return total_rows_; }
  uint64_t first_index() const { return first_index_; }

  // What it takes on the heap.
  size_t MemoryBytes() const { return sketch_.MemoryBytes(); }

  // Fills in all of `group` but keys and text. Quantiles lie between the shortest and the longest
  // duration.
  void ToProto(std::span<const double> quantiles, v1::WorkloadGroup& group) const;

  // Reads what ToProto wrote. The message may come from anybody: INVALID_ARGUMENT when it is not
  // what any calls could have given (as far as that can be told). What follows from the rest
  // (quantiles, mean) is not read.
  static absl::StatusOr<Aggregate> FromProto(const v1::WorkloadGroup& group);

 private:
  uint64_t calls_ = 0;
  uint64_t timed_calls_ = 0;
  absl::uint128 total_duration_us_ = 0;
  uint64_t min_duration_us_ = std::numeric_limits<uint64_t>::max();  // without timed calls
  uint64_t max_duration_us_ = 0;
  absl::uint128 total_rows_ = 0;
  uint64_t first_index_ = std::numeric_limits<uint64_t>::max();  // without calls
  uint64_t last_index_ = 0;
  QuantileSketch sketch_;
};

// Whether the mean duration of `a` is longer than that of `b`, exactly. Without durations it is 0.
bool LongerMean(const Aggregate& a, const Aggregate& b);

}  // namespace pgparsed::service
