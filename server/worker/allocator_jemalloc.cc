#include <jemalloc/jemalloc.h>

#include "worker/allocator.h"

// One thread, one arena. Without `retain` freed mappings are unmapped: kept ones would count
// against the memory limit (RLIMIT_DATA counts address space). jemalloc reads this at its start.
extern "C" {
const char* malloc_conf =
    "narenas:1,retain:false,dirty_decay_ms:1000,muzzy_decay_ms:0,background_thread:false";
}

namespace pgparsed::worker {
namespace {

uint64_t Figure(const char* name) {
  size_t value = 0;
  size_t size = sizeof(value);
  return mallctl(name, &value, &size, nullptr, 0) == 0 ? value : 0;
}

}  // namespace

std::string AllocatorName() {
  const char* version = "";
  size_t size = sizeof(version);
  mallctl("version", &version, &size, nullptr, 0);
  const std::string full = version;  // "5.3.0-0-g<commit>"
  return "jemalloc " + full.substr(0, full.find('-'));
}

void PrepareAllocator() {}

void PurgeAllocator() {
  mallctl("thread.tcache.flush", nullptr, nullptr, nullptr, 0);
  mallctl("arena.0.purge", nullptr, nullptr, nullptr, 0);
}

AllocatorFigures ReadAllocatorFigures() {
  uint64_t epoch = 1;  // takes a new snapshot
  mallctl("epoch", nullptr, nullptr, &epoch, sizeof(epoch));
  return {.allocated = Figure("stats.allocated"),
          .resident = Figure("stats.resident"),
          .retained = Figure("stats.retained")};
}

}  // namespace pgparsed::worker
