// The stack on which a worker parses: much address space, of which a job gets as much as it uses.
// There is one in a process.
//
// Only the top of it is accessible at first. A fault below makes the next piece accessible
// (HandleStackFault, called by the SIGSEGV handler), so the stack counts against the memory limit
// (RLIMIT_DATA) exactly as far as it was needed. After a deep job the pages go back.
#pragma once

#include <cstddef>
#include <functional>

namespace pgparsed::worker {

// The size of a worker's, guard included: 1 GiB. A sum of 500,000 terms needs about half of it in
// the deepest recursion of the library, its deparser.
inline constexpr size_t kLargeStackBytes = size_t{1} << 30;

// Never accessible: a fault here is an overflow.
inline constexpr size_t kStackGuardBytes = size_t{1} << 20;

// What the library leaves free for functions that do not ask how deep they are
// (grammar/stack_limit.h).
inline constexpr size_t kStackReserveBytes = size_t{4} << 20;

// Runs `body` on a thread with a stack of so many bytes (a multiple of 1 MiB), with the library's
// stack limit set for it, and waits for its end. Returns false if there is no such stack or thread
// to be had. Once in a process.
bool RunOnLargeStack(size_t bytes, const std::function<void()>& body);

enum class StackFault {
  kElsewhere,  // the address is not in the large stack
  kGrown,      // the address is accessible now: go on
  kOverflow,   // the stack is used up
  kNoMemory,   // the memory limit forbids more
};

// What a fault at `address` means. Async-signal-safe.
StackFault HandleStackFault(const void* address);

// Whether the stack grew since the last ReturnStackPages.
bool StackGrew();

// Gives the pages below the caller's frame back. On the thread of the large stack only.
void ReturnStackPages();

}  // namespace pgparsed::worker
