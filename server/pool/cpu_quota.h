// How many CPUs this process may use: its affinity and the CPU quota of its cgroup, not the
// machine's count. Pool sizes and spinning follow it.
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

}  // namespace pgparsed::pool
