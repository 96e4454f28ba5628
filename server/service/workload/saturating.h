// Sums that stay at their largest value instead of overflowing. Like exact sums they do not depend
// on the order of what is added. Pure functions.
#pragma once

#include <cstdint>
#include <limits>

#include "absl/numeric/int128.h"

namespace pgparsed::service {

inline uint64_t SaturatingAdd(uint64_t a, uint64_t b) {
  const uint64_t sum = a + b;
  return sum < a ? std::numeric_limits<uint64_t>::max() : sum;
}

inline absl::uint128 SaturatingAdd(absl::uint128 a, absl::uint128 b) {
  const absl::uint128 sum = a + b;
  return sum < a ? absl::Uint128Max() : sum;
}

// The smaller of `value` and the largest 64-bit number.
inline uint64_t Saturate(absl::uint128 value) {
  return absl::Uint128High64(value) != 0 ? std::numeric_limits<uint64_t>::max()
                                         : absl::Uint128Low64(value);
}

}  // namespace pgparsed::service
