// How many CPUs and how much memory this process may use: its affinity and the limits of its
// cgroup, not what the machine has. Pool sizes, spinning and the memory limits of workers follow
// them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace pgparsed::pool {

// Whole CPUs, rounded down, at least 1: a half CPU is left to the front, for a worker that is
// throttled in the middle of a job helps nobody.
uint32_t AvailableCpus();

// The smallest quota, in CPUs, of the cgroups that a process is in and of their parents; nullopt
// without a quota. Knows cgroup v2 and v1, on their own or together. `root` stands before every
// path ("" outside of tests). The two texts are those of /proc/self/cgroup and
// /proc/self/mountinfo.
std::optional<double> CgroupCpuQuota(const std::string& root, const std::string& self_cgroup,
                                     const std::string& self_mountinfo);

// Bytes of memory, in the same way.
std::optional<uint64_t> CgroupMemoryLimit(const std::string& root, const std::string& self_cgroup,
                                          const std::string& self_mountinfo);

// The limit of this process' cgroups; nullopt without one.
std::optional<uint64_t> AvailableMemory();

}  // namespace pgparsed::pool
