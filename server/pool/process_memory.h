// The memory of a process, from /proc.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

namespace pgparsed::pool {

// In bytes.
struct ProcessMemory {
  uint64_t rss = 0;        // resident, with what it shares
  uint64_t pss = 0;        // its proportional share
  uint64_t anonymous = 0;  // resident and its own: heap, stacks
};

// Walks the process' mappings: up to some milliseconds. nullopt when it is gone.
std::optional<ProcessMemory> ReadProcessMemory(pid_t pid);

// ProcessMemory::anonymous alone, in some 20 µs.
std::optional<uint64_t> ReadAnonymousMemory(pid_t pid);

}  // namespace pgparsed::pool
