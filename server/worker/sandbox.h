// What a worker may do to the system. First it can gain no privileges, leaves no core dumps (they
// would hold SQL) and opens no more files; then, when all is set up, its memory is limited and it
// can make no system calls but those of parsing. That it dies with the front is the channel's part
// (WorkerEnd::Open).
//
// Builds with sanitizers (PGPARSED_SANITIZED) skip the memory limit and the system call filter,
// which sanitizers do not live with.
#pragma once

#include <cstdint>
#include <string>

namespace pgparsed::worker {

// Forbids new privileges, core dumps and new descriptors, and closes those above stderr. Returns
// what failed, or an empty text.
std::string DropWhatIsNotNeeded();

// Limits the memory to `memory_limit` bytes (0: no limit) and allows system calls of parsing only
// (memory, futex, time, exit, messages to stdout and stderr) for all threads; any other kills the
// process. Returns what failed, or an empty text.
std::string EnterSandbox(uint64_t memory_limit);

}  // namespace pgparsed::worker
