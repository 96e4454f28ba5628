// Ringing and sleeping on a Doorbell (channel_layout.h): futex calls and the spin before them.
// Used by both ends. Async-signal-safe, no allocation.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

#include "channel/channel_layout.h"

namespace pgparsed::channel {

inline uint64_t MonotonicNanos() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
}

inline void CpuRelax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Wakes whoever sleeps on the bell, whether or not it says that it does.
inline void RingAlways(Doorbell& bell) {
  bell.rings.fetch_add(1, std::memory_order_seq_cst);
  syscall(SYS_futex, &bell.rings, FUTEX_WAKE, INT32_MAX, nullptr, nullptr, 0);
}

// The same, without a system call when nobody sleeps.
inline void Ring(Doorbell& bell) {
  bell.rings.fetch_add(1, std::memory_order_seq_cst);
  if (bell.sleeping.load(std::memory_order_seq_cst) != 0) {
    syscall(SYS_futex, &bell.rings, FUTEX_WAKE, INT32_MAX, nullptr, nullptr, 0);
  }
}

// Sleeps until the bell rings after `seen` was read from it, or the time is over. May wake early.
inline void SleepOn(Doorbell& bell, uint32_t seen, uint64_t nanos) {
  const timespec timeout{static_cast<time_t>(nanos / 1'000'000'000u),
                         static_cast<long>(nanos % 1'000'000'000u)};
  bell.sleeping.store(1, std::memory_order_seq_cst);
  syscall(SYS_futex, &bell.rings, FUTEX_WAIT, seen, &timeout, nullptr, 0);
  bell.sleeping.store(0, std::memory_order_relaxed);
}

// How long to spin before sleeping: as long as spinning was of use lately. A spin that ends in
// sleep halves the next one, one that succeeds doubles it, up to the maximum. Every 64th wait tries
// the maximum, so that a change for the better is found. One thread uses it.
class AdaptiveSpin {
 public:
  explicit AdaptiveSpin(uint32_t max_ns) : max_ns_(max_ns), budget_ns_(max_ns) {}

  // Spins until done() or the budget is used up. Returns done().
  template <typename Done>
  bool Until(Done done) {
    if (max_ns_ == 0) return false;
    if (++waits_ % 64 == 0) budget_ns_ = max_ns_;
    if (budget_ns_ < kSmallest) return false;
    const uint64_t end = MonotonicNanos() + budget_ns_;
    do {
      for (int i = 0; i < 16; ++i) {
        if (done()) {
          budget_ns_ = budget_ns_ > max_ns_ / 2 ? max_ns_ : budget_ns_ * 2;
          return true;
        }
        CpuRelax();
      }
    } while (MonotonicNanos() < end);
    budget_ns_ /= 2;
    return false;
  }

 private:
  static constexpr uint32_t kSmallest = 500;
  const uint32_t max_ns_;
  uint32_t budget_ns_;
  uint32_t waits_ = 0;
};

}  // namespace pgparsed::channel
