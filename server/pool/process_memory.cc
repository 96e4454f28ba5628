#include "pool/process_memory.h"

#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"

namespace pgparsed::pool {
namespace {

// Calls `take(name, bytes)` for each line "Name:   123 kB" of a file of /proc/<pid>.
template <typename Take>
bool ForEachFigure(pid_t pid, const char* name, Take take) {
  std::ifstream file(absl::StrCat("/proc/", pid, "/", name));
  bool any = false;
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos || !line.ends_with(" kB")) continue;
    take(std::string_view(line).substr(0, colon),
         std::strtoull(line.c_str() + colon + 1, nullptr, 10) << 10);
    any = true;
  }
  return any;
}

}  // namespace

std::optional<ProcessMemory> ReadProcessMemory(pid_t pid) {
  ProcessMemory memory;
  const bool found = ForEachFigure(pid, "smaps_rollup", [&](std::string_view name, uint64_t bytes) {
    if (name == "Rss") memory.rss = bytes;
    if (name == "Pss") memory.pss = bytes;
    if (name == "Anonymous") memory.anonymous = bytes;
  });
  return found ? std::optional(memory) : std::nullopt;
}

std::optional<uint64_t> ReadAnonymousMemory(pid_t pid) {
  std::optional<uint64_t> anonymous;
  ForEachFigure(pid, "status", [&](std::string_view name, uint64_t bytes) {
    if (name == "RssAnon") anonymous = bytes;
  });
  return anonymous;
}

}  // namespace pgparsed::pool
