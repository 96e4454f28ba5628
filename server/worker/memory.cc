#include "worker/memory.h"

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "grammar/memory.h"
#include "worker/allocator.h"

namespace pgparsed::worker {
namespace {

constinit uint64_t allocated_bytes = 0;
constinit volatile bool allocation_failed = false;

// A mapping that is never touched: it counts against the memory limit and costs no memory. Larger
// than the least block of a memory context that is full (1 MiB).
constexpr size_t kReserveBytes = size_t{4} << 20;
constinit void* reserve = nullptr;

void GiveUpReserve() {
  if (reserve != nullptr) munmap(reserve, kReserveBytes);
  reserve = nullptr;
}

void KeepReserve() {
  if (reserve != nullptr) return;
  void* const mapped = mmap(nullptr, kReserveBytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped != MAP_FAILED) reserve = mapped;
}

void* Counted(void* allocated, size_t bytes) {
  allocated_bytes += bytes;
  if (allocated == nullptr && bytes > 0) allocation_failed = true;
  return allocated;
}

}  // namespace

extern "C" {

void* __real_malloc(size_t bytes);
void* __real_calloc(size_t count, size_t bytes);
void* __real_realloc(void* old, size_t bytes);

void* __wrap_malloc(size_t bytes);
void* __wrap_calloc(size_t count, size_t bytes);
void* __wrap_realloc(void* old, size_t bytes);

void* __wrap_malloc(size_t bytes) { return Counted(__real_malloc(bytes), bytes); }
void* __wrap_calloc(size_t count, size_t bytes) {
  return Counted(__real_calloc(count, bytes), count * bytes);
}
void* __wrap_realloc(void* old, size_t bytes) { return Counted(__real_realloc(old, bytes), bytes); }

// The C library's would call its malloc unseen.
char* __wrap_strdup(const char* text);
char* __wrap_strdup(const char* text) {
  const size_t bytes = std::strlen(text) + 1;
  void* const copy = __wrap_malloc(bytes);
  return copy != nullptr ? static_cast<char*>(std::memcpy(copy, text, bytes)) : nullptr;
}

// PostgreSQL begins to report an error.
bool __real_errstart_cold(int level, const char* domain);
bool __wrap_errstart_cold(int level, const char* domain);
bool __wrap_errstart_cold(int level, const char* domain) {
  if (allocation_failed) GiveUpReserve();
  return __real_errstart_cold(level, domain);
}

// PostgreSQL prints a table of its memory contexts to stderr when memory runs out, and nothing else
// this way. The caller gets an error; the table is of use to nobody.
int __wrap_pg_fprintf(FILE* file, const char* format, ...);
int __wrap_pg_fprintf(FILE*, const char*, ...) { return 0; }

}  // extern "C"

void StartCountingAllocations() {
  allocated_bytes = 0;
  allocation_failed = false;
  KeepReserve();
}

uint64_t AllocatedBytes() { return allocated_bytes; }

bool AllocationFailed() { return allocation_failed; }

void ReturnFreeMemory() {
  grammar::ReleaseLibraryMemory();
  PurgeAllocator();
}

}  // namespace pgparsed::worker
