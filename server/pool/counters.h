// What the pool counts. Each value may be read at any time; together they are no snapshot.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace pgparsed::pool {

struct Counters {
  std::atomic<uint64_t> jobs_done{0};
  std::atomic<uint64_t> jobs_retried{0};
  std::atomic<uint64_t> jobs_refused{0};
  std::atomic<uint64_t> workers_started{0};
  std::atomic<uint64_t> workers_crashed{0};
  std::atomic<uint64_t> workers_killed_for_time{0};

  static void Add(std::atomic<uint64_t>& counter) {
    counter.fetch_add(1, std::memory_order_relaxed);
  }
};

}  // namespace pgparsed::pool
