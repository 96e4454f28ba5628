#include "pool/cgroup_limits.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace pgparsed::pool {
namespace {

// A mounted cgroup hierarchy: the part of it below `root` is seen at `point`.
struct CgroupMount {
  std::string root;
  std::string point;
};

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

bool HasController(absl::string_view comma_list, absl::string_view controller) {
  for (absl::string_view item : absl::StrSplit(comma_list, ',')) {
    if (item == controller) return true;
  }
  return false;
}

// A limit that the files of a cgroup's folder tell.
struct Limit {
  absl::string_view controller;  // in v1
  std::optional<double> (*in_v2)(const std::string& folder);
  std::optional<double> (*in_v1)(const std::string& folder);
};

// "36 25 0:31 / /sys/fs/cgroup/cpu rw,nosuid - cgroup cgroup rw,cpu,cpuacct"
std::optional<CgroupMount> FindMount(absl::string_view mountinfo, const Limit& limit, bool v2) {
  for (absl::string_view line : absl::StrSplit(mountinfo, '\n', absl::SkipEmpty())) {
    const std::vector<absl::string_view> halves = absl::StrSplit(line, absl::MaxSplits(" - ", 1));
    if (halves.size() != 2) continue;
    const std::vector<absl::string_view> mount = absl::StrSplit(halves[0], ' ');
    const std::vector<absl::string_view> kind = absl::StrSplit(halves[1], ' ');
    if (mount.size() < 5 || kind.size() < 3) continue;
    if (v2 ? kind[0] == "cgroup2"
           : (kind[0] == "cgroup" && HasController(kind[2], limit.controller))) {
      return CgroupMount{std::string(mount[3]), std::string(mount[4])};
    }
  }
  return std::nullopt;
}

// "0::/path" for v2, "4:cpu,cpuacct:/path" for v1.
std::optional<std::string> FindPath(absl::string_view self_cgroup, const Limit& limit, bool v2) {
  for (absl::string_view line : absl::StrSplit(self_cgroup, '\n', absl::SkipEmpty())) {
    const std::vector<absl::string_view> parts = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (parts.size() != 3) continue;
    if (v2 ? (parts[0] == "0" && parts[1].empty()) : HasController(parts[1], limit.controller)) {
      return std::string(parts[2]);
    }
  }
  return std::nullopt;
}

// "150000 100000" or "max 100000".
std::optional<double> QuotaV2(const std::string& folder) {
  const std::string text = ReadFile(folder + "/cpu.max");
  const std::vector<absl::string_view> parts =
      absl::StrSplit(text, absl::ByAnyChar(" \n"), absl::SkipEmpty());
  double quota = 0;
  double period = 0;
  if (parts.size() != 2 || !absl::SimpleAtod(parts[0], &quota) ||
      !absl::SimpleAtod(parts[1], &period) || quota <= 0 || period <= 0) {
    return std::nullopt;
  }
  return quota / period;
}

std::optional<double> QuotaV1(const std::string& folder) {
  double quota = 0;
  double period = 0;
  if (!absl::SimpleAtod(ReadFile(folder + "/cpu.cfs_quota_us"), &quota) ||
      !absl::SimpleAtod(ReadFile(folder + "/cpu.cfs_period_us"), &period) || quota <= 0 ||
      period <= 0) {
    return std::nullopt;  // -1 is no quota
  }
  return quota / period;
}

std::optional<double> Smaller(std::optional<double> a, std::optional<double> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

// "1073741824" or "max".
std::optional<double> MemoryV2(const std::string& folder) {
  double bytes = 0;
  if (!absl::SimpleAtod(ReadFile(folder + "/memory.max"), &bytes)) return std::nullopt;
  return bytes;
}

std::optional<double> MemoryV1(const std::string& folder) {
  // Without a limit this is the largest number of whole pages.
  constexpr double kNone = 0x1p62;
  double bytes = 0;
  if (!absl::SimpleAtod(ReadFile(folder + "/memory.limit_in_bytes"), &bytes) || bytes >= kNone) {
    return std::nullopt;
  }
  return bytes;
}

constexpr Limit kCpu = {"cpu", QuotaV2, QuotaV1};
constexpr Limit kMemory = {"memory", MemoryV2, MemoryV1};

std::optional<double> LimitOfHierarchy(const std::string& root, absl::string_view self_cgroup,
                                       absl::string_view mountinfo, const Limit& limit, bool v2) {
  const auto mount = FindMount(mountinfo, limit, v2);
  auto path = FindPath(self_cgroup, limit, v2);
  if (!mount || !path) return std::nullopt;
  // In a container the mount may begin at the container's own cgroup, and the path with it; a path
  // outside of the mount cannot be looked at, then the mount's top has to do.
  absl::string_view below = *path;
  if (mount->root != "/" && !absl::ConsumePrefix(&below, mount->root)) below = "";
  if (absl::StrContains(below, "..")) below = "";

  std::optional<double> least;
  for (;;) {
    while (absl::EndsWith(below, "/")) below.remove_suffix(1);
    const std::string folder = root + mount->point + std::string(below);
    least = Smaller(least, v2 ? limit.in_v2(folder) : limit.in_v1(folder));
    if (below.empty()) return least;
    const size_t slash = below.rfind('/');
    below = below.substr(0, slash == absl::string_view::npos ? 0 : slash);
  }
}

std::optional<double> LimitOf(const Limit& limit, const std::string& root,
                              const std::string& self_cgroup, const std::string& mountinfo) {
  return Smaller(LimitOfHierarchy(root, self_cgroup, mountinfo, limit, /*v2=*/true),
                 LimitOfHierarchy(root, self_cgroup, mountinfo, limit, /*v2=*/false));
}

uint32_t AffinityCpus() {
  // Large enough for any machine; the kernel refuses a set that is too small.
  constexpr int kMaxCpus = 1 << 14;
  cpu_set_t* set = CPU_ALLOC(kMaxCpus);
  const size_t bytes = CPU_ALLOC_SIZE(kMaxCpus);
  uint32_t count = std::max(1u, std::thread::hardware_concurrency());
  if (set != nullptr && sched_getaffinity(0, bytes, set) == 0) {
    count = static_cast<uint32_t>(std::max(1, CPU_COUNT_S(bytes, set)));
  }
  CPU_FREE(set);
  return count;
}

}  // namespace

std::optional<double> CgroupCpuQuota(const std::string& root, const std::string& self_cgroup,
                                     const std::string& self_mountinfo) {
  return LimitOf(kCpu, root, self_cgroup, self_mountinfo);
}

std::optional<uint64_t> CgroupMemoryLimit(const std::string& root, const std::string& self_cgroup,
                                          const std::string& self_mountinfo) {
  const auto bytes = LimitOf(kMemory, root, self_cgroup, self_mountinfo);
  return bytes ? std::optional(static_cast<uint64_t>(*bytes)) : std::nullopt;
}

std::optional<uint64_t> AvailableMemory() {
  return CgroupMemoryLimit("", ReadFile("/proc/self/cgroup"), ReadFile("/proc/self/mountinfo"));
}

uint32_t AvailableCpus() {
  const uint32_t cpus = AffinityCpus();
  const auto quota =
      CgroupCpuQuota("", ReadFile("/proc/self/cgroup"), ReadFile("/proc/self/mountinfo"));
  if (!quota) return cpus;
  return std::clamp(static_cast<uint32_t>(std::min(*quota, 65536.0)), 1u, cpus);
}

}  // namespace pgparsed::pool
