// The queries that crashed a worker twice, remembered for a while so that retries of them do not
// burn workers. Only a keyed 128-bit hash of a query is kept; the key is random for each process,
// so that nobody can make a query that is taken for another.
//
// Thread-safe. Remembers() takes no lock while nothing is remembered.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "channel/message.h"
#include "sync/mutex.h"

namespace pgparsed::pool {

class CrashMemory {
 public:
  using Clock = std::chrono::steady_clock;

  // With `max_entries` the oldest gives way; 0 remembers nothing.
  CrashMemory(uint32_t max_entries, Clock::duration keep);

  void Remember(const channel::JobHeader& header, std::string_view text, std::string_view comments,
                Clock::time_point now) ABSL_LOCKS_EXCLUDED(mutex_);
  bool Remembers(const channel::JobHeader& header, std::string_view text, std::string_view comments,
                 Clock::time_point now) ABSL_LOCKS_EXCLUDED(mutex_);

  uint32_t size() const { return size_.load(std::memory_order_relaxed); }

 private:
  struct Key {
    uint64_t low = 0;
    uint64_t high = 0;
    bool operator==(const Key&) const = default;
    template <typename H>
    friend H AbslHashValue(H h, const Key& key) {
      return H::combine(std::move(h), key.low, key.high);
    }
  };
  struct Entry {
    Clock::time_point until;
    Key key;
  };

  Key KeyOf(channel::JobHeader header, std::string_view text, std::string_view comments) const;
  void DropExpired(Clock::time_point now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void DropOldest() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const uint32_t max_entries_;
  const Clock::duration keep_;
  std::array<unsigned char, 192> secret_;  // const after the constructor

  std::atomic<uint32_t> size_{0};
  sync::Mutex mutex_;
  absl::flat_hash_map<Key, Clock::time_point> until_ ABSL_GUARDED_BY(mutex_);
  std::deque<Entry> oldest_first_ ABSL_GUARDED_BY(mutex_);  // one or more entries for a key
};

}  // namespace pgparsed::pool
