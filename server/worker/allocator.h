// The allocator that a worker executable is linked with: one of allocator_system.cc,
// allocator_jemalloc.cc and allocator_mimalloc.cc.
#pragma once

#include <cstdint>
#include <string>

namespace pgparsed::worker {

// The allocator in force with its version, as it says itself, for example "jemalloc 5.3.0".
std::string AllocatorName();

// Sets it up for a process in which one thread allocates. Before that thread exists.
void PrepareAllocator();

// Gives its free memory back to the system. On the thread that allocates.
void PurgeAllocator();

// What it says of itself, in bytes.
struct AllocatorFigures {
  uint64_t allocated = 0;  // in use
  uint64_t resident = 0;   // held from the system, in use or free
  uint64_t retained = 0;   // kept address space without memory behind it
};

// On the thread that allocates; takes some microseconds and makes no system call.
AllocatorFigures ReadAllocatorFigures();

}  // namespace pgparsed::worker
