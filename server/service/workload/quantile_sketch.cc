#include "service/workload/quantile_sketch.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

#include "pgparsed/errors.h"
#include "service/workload/saturating.h"

namespace pgparsed::service {
namespace {

constexpr char kVersion = 1;
constexpr uint32_t kExact = 128;    // values below have a bucket each
constexpr uint32_t kPerPower = 64;  // buckets for each power of two above
constexpr uint32_t kMillion = 1'000'000;

static_assert(QuantileSketch::kBuckets == kExact + (64 - 7) * kPerPower);

void AppendVarint(uint64_t value, std::string& out) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

// Takes a varint off the front; nullopt when there is none, or not in its shortest form.
std::optional<uint64_t> TakeVarint(std::string_view& bytes) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (bytes.empty()) return std::nullopt;
    const auto byte = static_cast<uint8_t>(bytes.front());
    bytes.remove_prefix(1);
    if (shift == 63 && byte > 1) return std::nullopt;
    value |= static_cast<uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) {
      if (byte == 0 && shift > 0) return std::nullopt;
      return value;
    }
  }
  return std::nullopt;
}

absl::Status Invalid(std::string_view why) { return MakeError(Reason::kInvalidRequest, why); }

}  // namespace

uint32_t QuantileSketch::BucketOf(uint64_t value) {
  if (value < kExact) return static_cast<uint32_t>(value);
  const auto shift = static_cast<uint32_t>(std::bit_width(value)) - 7;
  return kExact + (shift - 1) * kPerPower + static_cast<uint32_t>(value >> shift) - kPerPower;
}

QuantileSketch::Range QuantileSketch::RangeOf(uint32_t bucket) {
  if (bucket < kExact) return {bucket, bucket};
  const uint32_t shift = (bucket - kExact) / kPerPower + 1;
  const uint64_t low = (uint64_t{(bucket - kExact) % kPerPower} + kPerPower) << shift;
  return {low, low + ((uint64_t{1} << shift) - 1)};
}

void QuantileSketch::Add(uint64_t value, uint64_t count) {
  if (count == 0) return;
  const uint32_t index = BucketOf(value);
  const auto at =
      std::lower_bound(buckets_.begin(), buckets_.end(), index,
                       [](const Bucket& bucket, uint32_t i) { return bucket.index < i; });
  if (at != buckets_.end() && at->index == index) {
    at->count = SaturatingAdd(at->count, count);
  } else {
    buckets_.insert(at, Bucket{index, count});
  }
}

void QuantileSketch::Merge(const QuantileSketch& other) {
  if (other.buckets_.empty()) return;
  std::vector<Bucket> both;
  both.reserve(std::min<size_t>(buckets_.size() + other.buckets_.size(), kBuckets));
  auto a = buckets_.begin();
  auto b = other.buckets_.begin();
  while (a != buckets_.end() || b != other.buckets_.end()) {
    if (b == other.buckets_.end() || (a != buckets_.end() && a->index < b->index)) {
      both.push_back(*a++);
    } else if (a == buckets_.end() || b->index < a->index) {
      both.push_back(*b++);
    } else {
      both.push_back({a->index, SaturatingAdd(a->count, b->count)});
      ++a;
      ++b;
    }
  }
  buckets_ = std::move(both);
}

absl::uint128 QuantileSketch::count() const {
  absl::uint128 sum = 0;
  for (const Bucket& bucket : buckets_) sum += bucket.count;
  return sum;
}

uint64_t QuantileSketch::Quantile(double q) const {
  if (buckets_.empty()) return 0;
  const auto millionths = static_cast<uint32_t>(std::llround(std::clamp(q, 0.0, 1.0) * kMillion));
  // 3776 × 2^64 × 10^6 is far below 2^128.
  const absl::uint128 rank =
      std::max<absl::uint128>((count() * millionths + (kMillion - 1)) / kMillion, 1);
  absl::uint128 seen = 0;
  for (const Bucket& bucket : buckets_) {
    seen += bucket.count;
    if (seen >= rank) {
      const Range range = RangeOf(bucket.index);
      return range.low + (range.high - range.low) / 2;
    }
  }
  return RangeOf(buckets_.back().index).high;
}

std::string QuantileSketch::Serialize() const {
  std::string out;
  if (buckets_.empty()) return out;
  out.push_back(kVersion);
  uint32_t next = 0;
  for (const Bucket& bucket : buckets_) {
    AppendVarint(bucket.index - next, out);
    AppendVarint(bucket.count, out);
    next = bucket.index + 1;
  }
  return out;
}

absl::StatusOr<QuantileSketch> QuantileSketch::Parse(std::string_view bytes) {
  QuantileSketch sketch;
  if (bytes.empty()) return sketch;
  if (bytes.front() != kVersion) return Invalid("a duration sketch of an unknown version");
  bytes.remove_prefix(1);
  if (bytes.empty()) return Invalid("a duration sketch without buckets");
  uint32_t next = 0;
  while (!bytes.empty()) {
    const std::optional<uint64_t> skipped = TakeVarint(bytes);
    const std::optional<uint64_t> count = skipped.has_value() ? TakeVarint(bytes) : std::nullopt;
    if (!count.has_value()) return Invalid("a duration sketch that is cut or not canonical");
    if (next >= kBuckets || *skipped >= kBuckets - next) {
      return Invalid("a duration sketch with a bucket that there is not");
    }
    if (*count == 0) return Invalid("a duration sketch with an empty bucket");
    const uint32_t index = next + static_cast<uint32_t>(*skipped);
    sketch.buckets_.push_back({index, *count});
    next = index + 1;
  }
  return sketch;
}

}  // namespace pgparsed::service
