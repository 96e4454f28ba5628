#include "service/workload/aggregate.h"

#include <algorithm>
#include <utility>

#include "pgparsed/errors.h"
#include "service/workload/saturating.h"

namespace pgparsed::service {
namespace {

constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();

void Set(absl::uint128 value, v1::Sum128& sum) {
  sum.set_high(absl::Uint128High64(value));
  sum.set_low(absl::Uint128Low64(value));
}

absl::uint128 Get(const v1::Sum128& sum) { return absl::MakeUint128(sum.high(), sum.low()); }

absl::Status Invalid(std::string_view why) { return MakeError(Reason::kInvalidRequest, why); }

absl::uint128 Times(uint64_t a, uint64_t b) { return absl::uint128(a) * b; }

}  // namespace

void Aggregate::Add(std::optional<uint64_t> duration_us, std::optional<uint64_t> rows,
                    uint64_t weight, uint64_t index) {
  calls_ = SaturatingAdd(calls_, weight);
  if (duration_us.has_value()) {
    timed_calls_ = SaturatingAdd(timed_calls_, weight);
    total_duration_us_ = SaturatingAdd(total_duration_us_, Times(*duration_us, weight));
    min_duration_us_ = std::min(min_duration_us_, *duration_us);
    max_duration_us_ = std::max(max_duration_us_, *duration_us);
    sketch_.Add(*duration_us, weight);
  }
  if (rows.has_value()) total_rows_ = SaturatingAdd(total_rows_, Times(*rows, weight));
  first_index_ = std::min(first_index_, index);
  last_index_ = std::max(last_index_, index);
}

void Aggregate::Merge(const Aggregate& other) {
  calls_ = SaturatingAdd(calls_, other.calls_);
  timed_calls_ = SaturatingAdd(timed_calls_, other.timed_calls_);
  total_duration_us_ = SaturatingAdd(total_duration_us_, other.total_duration_us_);
  min_duration_us_ = std::min(min_duration_us_, other.min_duration_us_);
  max_duration_us_ = std::max(max_duration_us_, other.max_duration_us_);
  total_rows_ = SaturatingAdd(total_rows_, other.total_rows_);
  first_index_ = std::min(first_index_, other.first_index_);
  last_index_ = std::max(last_index_, other.last_index_);
  sketch_.Merge(other.sketch_);
}

void Aggregate::ToProto(std::span<const double> quantiles, v1::WorkloadGroup& group) const {
  if (calls_ == 0) return;
  group.set_calls(calls_);
  group.set_first_index(first_index_);
  group.set_last_index(last_index_);
  Set(total_rows_, *group.mutable_total_rows());
  Set(total_duration_us_, *group.mutable_total_duration_us());
  if (timed_calls_ == 0) return;
  group.set_timed_calls(timed_calls_);
  group.set_min_duration_us(min_duration_us_);
  group.set_max_duration_us(max_duration_us_);
  group.set_mean_duration_us(Saturate(total_duration_us_ / timed_calls_));
  group.set_duration_sketch(sketch_.Serialize());
  for (const double q : quantiles) {
    group.add_duration_quantiles_us(
        std::clamp(sketch_.Quantile(q), min_duration_us_, max_duration_us_));
  }
}

absl::StatusOr<Aggregate> Aggregate::FromProto(const v1::WorkloadGroup& group) {
  Aggregate result;
  absl::StatusOr<QuantileSketch> sketch = QuantileSketch::Parse(group.duration_sketch());
  if (!sketch.ok()) return sketch.status();
  result.sketch_ = *std::move(sketch);
  result.calls_ = group.calls();
  result.timed_calls_ = group.timed_calls();
  result.total_duration_us_ = Get(group.total_duration_us());
  result.total_rows_ = Get(group.total_rows());
  if (result.timed_calls_ > result.calls_) return Invalid("a group with more durations than calls");
  if (Saturate(result.sketch_.count()) != result.timed_calls_) {
    return Invalid("a group whose duration sketch does not hold as many durations as it says");
  }
  if (result.calls_ == 0) {
    if (result.total_rows_ != 0 || result.total_duration_us_ != 0 || group.first_index() != 0 ||
        group.last_index() != 0 || group.min_duration_us() != 0 || group.max_duration_us() != 0) {
      return Invalid("a group without calls that says something about them");
    }
    return result;
  }
  if (group.first_index() > group.last_index()) {
    return Invalid("a group whose last query stands before its first");
  }
  result.first_index_ = group.first_index();
  result.last_index_ = group.last_index();
  if (result.timed_calls_ == 0) {
    if (result.total_duration_us_ != 0 || group.min_duration_us() != 0 ||
        group.max_duration_us() != 0) {
      return Invalid("a group without durations that says something about them");
    }
    return result;
  }
  const uint64_t min = group.min_duration_us();
  const uint64_t max = group.max_duration_us();
  if (min > max || QuantileSketch::BucketOf(min) != result.sketch_.buckets().front().index ||
      QuantileSketch::BucketOf(max) != result.sketch_.buckets().back().index) {
    return Invalid("a group whose shortest and longest durations are not those of its sketch");
  }
  // The sum lies between what the ends of the buckets give, unless a count no longer counts.
  absl::uint128 low = 0;
  absl::uint128 high = 0;
  for (const QuantileSketch::Bucket& bucket : result.sketch_.buckets()) {
    const QuantileSketch::Range range = QuantileSketch::RangeOf(bucket.index);
    low = SaturatingAdd(low, Times(std::max(range.low, min), bucket.count));
    high = SaturatingAdd(high, Times(std::min(range.high, max), bucket.count));
  }
  if (result.total_duration_us_ < low ||
      (result.timed_calls_ != kMost && result.total_duration_us_ > high)) {
    return Invalid("a group whose sum of durations cannot be that of its sketch");
  }
  result.min_duration_us_ = min;
  result.max_duration_us_ = max;
  return result;
}

bool LongerMean(const Aggregate& a, const Aggregate& b) {
  if (a.timed_calls() == 0 || b.timed_calls() == 0) {
    return a.timed_calls() != 0 && a.total_duration_us() != 0;
  }
  const absl::uint128 quotient_a = a.total_duration_us() / a.timed_calls();
  const absl::uint128 quotient_b = b.total_duration_us() / b.timed_calls();
  if (quotient_a != quotient_b) return quotient_a > quotient_b;
  // Remainders are smaller than the divisors: the products fit.
  return a.total_duration_us() % a.timed_calls() * b.timed_calls() >
         b.total_duration_us() % b.timed_calls() * a.timed_calls();
}

}  // namespace pgparsed::service
