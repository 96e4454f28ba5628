#include "tests/conformance/worker_memory.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace pgparsed::conformance {
namespace {

// The value of a line "<key>:  <number> …" in /proc/<pid>/status; 0 when there is none.
uint64_t StatusValue(const std::string& pid, const std::string& key) {
  std::ifstream status("/proc/" + pid + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(key + ":")) return std::stoull(line.substr(key.size() + 1));
  }
  return 0;
}

// Children of the server, and their children: it may start workers through a process of its own.
std::vector<std::string> Workers(pid_t server) {
  std::vector<std::pair<std::string, uint64_t>> parents;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const std::string pid = entry.path().filename().string();
    if (pid.find_first_not_of("0123456789") == std::string::npos) {
      parents.emplace_back(pid, StatusValue(pid, "PPid"));
    }
  }
  std::vector<std::string> family = {std::to_string(server)};
  for (size_t i = 0; i < family.size(); ++i) {
    for (const auto& [pid, parent] : parents) {
      if (std::to_string(parent) == family[i]) family.push_back(pid);
    }
  }
  family.erase(family.begin());
  return family;
}

}  // namespace

void ResetWorkerPeaks(pid_t server) {
  for (const std::string& pid : Workers(server)) {
    std::ofstream("/proc/" + pid + "/clear_refs") << "5";
  }
}

uint64_t LargestWorkerPeak(pid_t server) {
  uint64_t largest = 0;
  for (const std::string& pid : Workers(server)) {
    largest = std::max(largest, StatusValue(pid, "VmHWM") * 1024);
  }
  return largest;
}

}  // namespace pgparsed::conformance
