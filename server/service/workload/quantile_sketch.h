// The distribution of durations in little memory: counts in buckets whose width grows with the
// value, so that quantiles have a bounded relative error.
//
// Values below 128 have a bucket each, zero included. From there on each power of two is divided
// into 64 buckets of equal width. All of it is integer arithmetic: the same values give the same
// sketch on every machine, and merging sketches is adding counts, in any order.
//
//   value     0 1 ... 127 | 128-129 ... 254-255 | 256-259 ... 508-511 | ... up to 2^64 - 1
//   bucket    0 1 ... 127 | 128     ... 191     | 192     ... 255     | ... 3775
//
// Serialized form: nothing for an empty sketch, else the byte 1 (the version) and for each bucket
// that is not empty, ascending, two varints: how many buckets were skipped since the last, and the
// count. It is canonical: equal sketches have equal bytes, and Parse takes no others.
//
// Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/status/statusor.h"

namespace pgparsed::service {

class QuantileSketch {
 public:
  // The largest relative error of a quantile, 0.78 %. Values below 128 are exact.
  static constexpr double kRelativeError = 1.0 / 128;
  // How many buckets cover all values: no sketch has more, which is 60 KB of memory. A microsecond
  // to an hour are 1,700.
  static constexpr uint32_t kBuckets = 3776;

  // A bucket that is not empty.
  struct Bucket {
    uint32_t index = 0;
    uint64_t count = 0;
    bool operator==(const Bucket&) const = default;
  };

  // The values of a bucket, both ends included.
  struct Range {
    uint64_t low = 0;
    uint64_t high = 0;
  };

  static uint32_t BucketOf(uint64_t value);
  static Range RangeOf(uint32_t bucket);

  // Counts `value` so many times. A count that would overflow stays at its largest value.
  void Add(uint64_t value, uint64_t count = 1);

  // Afterwards this is the sketch of both.
  void Merge(const QuantileSketch& other);

  // The value below or at which lie at least the share `q` (0 to 1, in steps of a millionth) of
  // all; 0 when the sketch is empty.
  uint64_t Quantile(double q) const;

  // All counts together.
  absl::uint128 count() const;

  // Ascending; none is empty.
  const std::vector<Bucket>& buckets() const { return buckets_; }
  bool empty() const { return buckets_.empty(); }

  // What the buckets take on the heap.
  size_t MemoryBytes() const { return buckets_.capacity() * sizeof(Bucket); }

  std::string Serialize() const;

  // INVALID_ARGUMENT when `bytes` are not what Serialize gives: they may come from anybody.
  static absl::StatusOr<QuantileSketch> Parse(std::string_view bytes);

  bool operator==(const QuantileSketch&) const = default;

 private:
  std::vector<Bucket> buckets_;
};

}  // namespace pgparsed::service
