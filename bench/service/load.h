// The load generator: calls one after the other in so many chains (closed loop), or at a given rate
// whatever the answers do (open loop).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

namespace pgparsed::bench {

using Seconds = std::chrono::duration<double>;

// Begins a call. `done` runs once, on any thread, with whether it succeeded.
using Call = std::function<void(std::function<void(bool ok)> done)>;

struct LoadResult {
  std::vector<double> latencies;  // of each call that succeeded, in µs, ascending
  uint64_t failed = 0;
  double seconds = 0;  // until the last call was done

  double per_second() const { return static_cast<double>(latencies.size()) / seconds; }
  // 0.99 is p99. Of no latencies 0.
  double Quantile(double share) const;
};

// Both block until every call is done.
LoadResult ClosedLoop(const Call& call, int in_flight, Seconds duration);
// Latencies count from when a call was begun, which no answer delays. A call that would be the
// 4,097th in flight counts as failed.
LoadResult OpenLoop(const Call& call, double per_second, Seconds duration);

}  // namespace pgparsed::bench
