#include <gnu/libc-version.h>
#include <malloc.h>

#include "worker/allocator.h"

namespace pgparsed::worker {

std::string AllocatorName() { return std::string("glibc ") + gnu_get_libc_version(); }

// A second arena would be trimmed by another way, which reads a file: the sandbox forbids that.
void PrepareAllocator() { mallopt(M_ARENA_MAX, 1); }

void PurgeAllocator() { malloc_trim(0); }

// What malloc_trim has given back from within the heap still counts as resident: glibc does not
// know.
AllocatorFigures ReadAllocatorFigures() {
  const struct mallinfo2 info = mallinfo2();
  return {.allocated = info.uordblks + info.hblkhd, .resident = info.arena + info.hblkhd};
}

}  // namespace pgparsed::worker
