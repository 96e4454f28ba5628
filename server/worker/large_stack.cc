#include "worker/large_stack.h"

#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>

#include "grammar/stack_limit.h"

namespace pgparsed::worker {
namespace {

// Accessible from the start. Smaller than a huge page, so that an idle worker never holds one.
constexpr size_t kFirstBytes = size_t{1} << 20;
constexpr size_t kGrowthBytes = size_t{16} << 20;
constexpr size_t kPageBytes = 4096;
// Left alone below the caller of ReturnStackPages: its callees run there.
constexpr size_t kKeptBelowCaller = size_t{64} << 10;

// The stack lies in [guard, top): the guard, what is not accessible yet, what is.
struct Region {
  std::byte* guard = nullptr;
  std::byte* lowest = nullptr;      // that may become accessible
  std::byte* accessible = nullptr;  // from here on
  std::byte* first = nullptr;       // where `accessible` begins when nothing grew
  std::byte* top = nullptr;
};
constinit Region stack;

struct ThreadBody {
  const std::function<void()>& run;
};

void* RunThread(void* argument) {
  pgparsed_set_stack_limit(stack.lowest + kStackReserveBytes);
  static_cast<ThreadBody*>(argument)->run();
  return nullptr;
}

bool MapStack(size_t bytes) {
  void* const mapped = mmap(nullptr, bytes, PROT_NONE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (mapped == MAP_FAILED) return false;
  stack.guard = static_cast<std::byte*>(mapped);
  stack.lowest = stack.guard + kStackGuardBytes;
  stack.top = stack.guard + bytes;
#ifdef PGPARSED_SANITIZED
  stack.first = stack.lowest;  // sanitizers write to the stack before they know of faults
#else
  stack.first = stack.top - kFirstBytes;
#endif
  stack.accessible = stack.first;
  return mprotect(stack.first, static_cast<size_t>(stack.top - stack.first),
                  PROT_READ | PROT_WRITE) == 0;
}

}  // namespace

bool RunOnLargeStack(size_t bytes, const std::function<void()>& body) {
  if (!MapStack(bytes)) return false;
  ThreadBody thread_body{body};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, stack.guard, bytes);
  pthread_t thread;
  const bool started = pthread_create(&thread, &attributes, RunThread, &thread_body) == 0;
  pthread_attr_destroy(&attributes);
  if (started) pthread_join(thread, nullptr);
  return started;
}

StackFault HandleStackFault(const void* address) {
  const auto* const at = static_cast<const std::byte*>(address);
  if (at < stack.guard || at >= stack.accessible) return StackFault::kElsewhere;
  if (at < stack.lowest) return StackFault::kOverflow;
  const size_t room = static_cast<size_t>(at - stack.lowest);
  std::byte* lower = stack.lowest + (room - std::min(room, kGrowthBytes));
  lower -= reinterpret_cast<uintptr_t>(lower) % kPageBytes;
  if (mprotect(lower, static_cast<size_t>(stack.accessible - lower), PROT_READ | PROT_WRITE) != 0) {
    return StackFault::kNoMemory;
  }
  stack.accessible = lower;
  return StackFault::kGrown;
}

bool StackGrew() { return stack.accessible != stack.first; }

void ReturnStackPages() {
  auto* here = static_cast<std::byte*>(__builtin_frame_address(0)) - kKeptBelowCaller;
  here -= reinterpret_cast<uintptr_t>(here) % kPageBytes;
  if (here <= stack.accessible) return;
  madvise(stack.accessible, static_cast<size_t>(here - stack.accessible), MADV_DONTNEED);
  if (!StackGrew()) return;
  if (mprotect(stack.accessible, static_cast<size_t>(stack.first - stack.accessible), PROT_NONE) ==
      0) {
    stack.accessible = stack.first;
  }
}

}  // namespace pgparsed::worker
