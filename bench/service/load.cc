#include "bench/service/load.h"

#include <sys/prctl.h>

#include <algorithm>
#include <condition_variable>
#include <latch>
#include <memory>
#include <mutex>
#include <thread>

namespace pgparsed::bench {
namespace {

using Clock = std::chrono::steady_clock;

double Microseconds(Clock::duration duration) {
  return std::chrono::duration<double, std::micro>(duration).count();
}

// Calls one after the other until the time is over. Its callbacks follow each other, so nothing is
// shared.
class Chain {
 public:
  Chain(const Call& call, Clock::time_point end, std::latch& ended)
      : call_(call), end_(end), ended_(ended) {
    latencies_.reserve(1 << 14);
  }

  void Start() {
    const Clock::time_point begin = Clock::now();
    call_([this, begin](bool ok) {
      const Clock::time_point now = Clock::now();
      if (ok) {
        latencies_.push_back(Microseconds(now - begin));
      } else {
        ++failed_;
      }
      if (now < end_) {
        Start();
      } else {
        ended_.count_down();
      }
    });
  }

  void AddTo(LoadResult& result) const {
    result.latencies.insert(result.latencies.end(), latencies_.begin(), latencies_.end());
    result.failed += failed_;
  }

 private:
  const Call& call_;
  const Clock::time_point end_;
  std::latch& ended_;
  std::vector<double> latencies_;
  uint64_t failed_ = 0;
};

// The calls of an open loop.
class Flock {
 public:
  static constexpr uint64_t kMostInFlight = 4096;

  void Begin(const Call& call) {
    {
      std::lock_guard lock(mutex_);
      if (in_flight_ >= kMostInFlight) {
        ++result_.failed;
        return;
      }
      ++in_flight_;
    }
    const Clock::time_point begin = Clock::now();
    call([this, begin](bool ok) {
      const Clock::time_point end = Clock::now();
      std::lock_guard lock(mutex_);
      if (ok) {
        result_.latencies.push_back(Microseconds(end - begin));
      } else {
        ++result_.failed;
      }
      if (--in_flight_ == 0) none_in_flight_.notify_one();
    });
  }

  LoadResult WaitForEnd() {
    std::unique_lock lock(mutex_);
    none_in_flight_.wait(lock, [this] { return in_flight_ == 0; });
    return std::move(result_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable none_in_flight_;
  uint64_t in_flight_ = 0;
  LoadResult result_;
};

}  // namespace

double LoadResult::Quantile(double share) const {
  if (latencies.empty()) return 0;
  const auto at = static_cast<size_t>(share * static_cast<double>(latencies.size()));
  return latencies[std::min(at, latencies.size() - 1)];
}

LoadResult ClosedLoop(const Call& call, int in_flight, Seconds duration) {
  std::latch ended(in_flight);
  const Clock::time_point begin = Clock::now();
  const auto end = begin + std::chrono::duration_cast<Clock::duration>(duration);
  std::vector<std::unique_ptr<Chain>> chains;
  for (int i = 0; i < in_flight; ++i) chains.push_back(std::make_unique<Chain>(call, end, ended));
  for (const auto& chain : chains) chain->Start();
  ended.wait();
  LoadResult result{.seconds = Seconds(Clock::now() - begin).count()};
  for (const auto& chain : chains) chain->AddTo(result);
  std::sort(result.latencies.begin(), result.latencies.end());
  return result;
}

LoadResult OpenLoop(const Call& call, double per_second, Seconds duration) {
  // Else the kernel may let this thread sleep 50 µs longer.
  prctl(PR_SET_TIMERSLACK, 1UL);
  Flock flock;
  const Clock::time_point begin = Clock::now();
  const auto count = static_cast<uint64_t>(per_second * duration.count());
  for (uint64_t i = 0; i < count; ++i) {
    const Seconds due(static_cast<double>(i) / per_second);
    std::this_thread::sleep_until(begin + std::chrono::duration_cast<Clock::duration>(due));
    flock.Begin(call);
  }
  LoadResult result = flock.WaitForEnd();
  result.seconds = Seconds(Clock::now() - begin).count();
  std::sort(result.latencies.begin(), result.latencies.end());
  return result;
}

}  // namespace pgparsed::bench
