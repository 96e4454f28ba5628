// The memory of a worker process: what the job allocated, and how free memory goes back to the
// system.
//
// The allocator's (allocator.h) malloc, calloc, realloc and strdup are wrapped (linker option
// --wrap) so that a failed allocation is known, and that a job's appetite is, whatever the
// allocator. One thread only allocates.
//
// When the library reports that memory ran out, a reserve is given up, so that it has room to do
// that: it ends the process when memory runs out once more.
#pragma once

#include <cstdint>

namespace pgparsed::worker {

// Starts a job: forgets what was allocated and whether an allocation failed, and sees to it that
// there is a reserve.
void StartCountingAllocations();

// Bytes that were asked for since then, freed or not.
uint64_t AllocatedBytes();

// Whether an allocation failed since then. Async-signal-safe.
bool AllocationFailed();

// Gives free memory of the library and the allocator back to the system. Takes microseconds when
// there is little. Between jobs only, on the thread of the jobs.
void ReturnFreeMemory();

}  // namespace pgparsed::worker
