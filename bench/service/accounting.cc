#include "bench/service/accounting.h"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>

namespace pgparsed::bench {
namespace {

double Seconds(clockid_t clock) {
  timespec time{};
  if (clock_gettime(clock, &time) != 0) return 0;
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// Of all threads, those that ended included. 0 if there is no such process any more.
double CpuSecondsOf(pid_t pid) {
  clockid_t clock;
  return clock_getcpuclockid(pid, &clock) == 0 ? Seconds(clock) : 0;
}

void AddMemory(pid_t pid, uint64_t& pss, uint64_t& rss) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/smaps_rollup");
  for (std::string word; file >> word;) {
    uint64_t kibibytes = 0;
    if (word == "Rss:" && file >> kibibytes) rss += kibibytes << 10;
    if (word == "Pss:" && file >> kibibytes) pss += kibibytes << 10;
  }
}

}  // namespace

std::vector<pid_t> ChildrenOf(pid_t pid) {
  std::vector<pid_t> children;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream stat(entry.path() / "stat");
    std::string line;
    if (!std::getline(stat, line)) continue;  // it ended meanwhile
    // pid (name) state ppid …: the name may hold anything, so look behind its last parenthesis.
    std::istringstream rest(line.substr(line.rfind(')') + 1));
    char state = 0;
    pid_t parent = 0;
    rest >> state >> parent;
    if (parent == pid && state != 'Z') children.push_back(std::stoi(name));
  }
  return children;
}

CpuMeter::CpuMeter(pid_t front) : front_(front) {
  for (const pid_t worker : ChildrenOf(front)) worker_seconds_[worker] = CpuSecondsOf(worker);
  front_seconds_ = CpuSecondsOf(front);
  client_seconds_ = Seconds(CLOCK_PROCESS_CPUTIME_ID);
}

CpuTimes CpuMeter::Elapsed() const {
  CpuTimes times{.front = CpuSecondsOf(front_) - front_seconds_,
                 .client = Seconds(CLOCK_PROCESS_CPUTIME_ID) - client_seconds_};
  for (const pid_t worker : ChildrenOf(front_)) {
    const auto before = worker_seconds_.find(worker);
    times.workers += CpuSecondsOf(worker) - (before != worker_seconds_.end() ? before->second : 0);
  }
  return times;
}

Memory MemoryOf(pid_t front) {
  Memory memory;
  AddMemory(front, memory.pss, memory.front_rss);
  for (const pid_t worker : ChildrenOf(front)) {
    AddMemory(worker, memory.pss, memory.workers_rss);
  }
  return memory;
}

MemorySampler::MemorySampler(pid_t front) : front_(front), thread_([this] { Run(); }) {}

MemorySampler::~MemorySampler() { Peak(); }

Memory MemorySampler::Peak() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
  return peak_;
}

void MemorySampler::Run() {
  do {
    const Memory now = MemoryOf(front_);
    peak_.pss = std::max(peak_.pss, now.pss);
    peak_.front_rss = std::max(peak_.front_rss, now.front_rss);
    peak_.workers_rss = std::max(peak_.workers_rss, now.workers_rss);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  } while (!stop_);
}

}  // namespace pgparsed::bench
