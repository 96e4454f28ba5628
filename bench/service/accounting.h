// What processes use: CPU time, to the nanosecond, and memory.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <thread>
#include <vector>

namespace pgparsed::bench {

// Processes whose parent is `pid` at this moment.
std::vector<pid_t> ChildrenOf(pid_t pid);

// CPU seconds, by who used them.
struct CpuTimes {
  double front = 0;
  double workers = 0;
  double client = 0;  // this process

  double total() const { return front + workers + client; }
};

// CPU time since it was made. A worker that dies meanwhile takes its share with it.
class CpuMeter {
 public:
  explicit CpuMeter(pid_t front);
  CpuTimes Elapsed() const;

 private:
  const pid_t front_;
  double front_seconds_;
  double client_seconds_;
  std::map<pid_t, double> worker_seconds_;
};

// Memory of a front and its workers.
struct Memory {
  uint64_t pss = 0;  // shared pages counted once, as shares
  uint64_t front_rss = 0;
  uint64_t workers_rss = 0;
};
Memory MemoryOf(pid_t front);

// Looks at the memory ten times a second, and keeps the largest of each kind.
class MemorySampler {
 public:
  explicit MemorySampler(pid_t front);
  ~MemorySampler();
  MemorySampler(const MemorySampler&) = delete;
  MemorySampler& operator=(const MemorySampler&) = delete;

  // Ends it.
  Memory Peak();

 private:
  void Run();

  const pid_t front_;
  std::atomic<bool> stop_ = false;
  Memory peak_;  // of the thread until it is joined
  std::thread thread_;
};

}  // namespace pgparsed::bench
