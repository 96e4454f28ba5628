#include <mimalloc.h>

#include "worker/allocator.h"

namespace pgparsed::worker {

std::string AllocatorName() {
  const int version = mi_version();  // 209 is 2.0.9
  return "mimalloc " + std::to_string(version / 100) + "." + std::to_string(version / 10 % 10) +
         "." + std::to_string(version % 10);
}

// What is free goes back to the system at once, not some time later by a later call of malloc: a
// worker without a job makes none.
void PrepareAllocator() {
  mi_option_set(mi_option_decommit_delay, 0);
  mi_option_set(mi_option_segment_decommit_delay, 0);
}

void PurgeAllocator() { mi_collect(true); }

// The areas of the one heap. (mi_process_info asks the system, which the sandbox forbids.)
AllocatorFigures ReadAllocatorFigures() {
  AllocatorFigures figures;
  const auto add = [](const mi_heap_t*, const mi_heap_area_t* area, void*, size_t, void* argument) {
    auto& sum = *static_cast<AllocatorFigures*>(argument);
    sum.allocated += area->used * area->block_size;
    sum.resident += area->committed;
    sum.retained += area->reserved - area->committed;
    return true;
  };
  mi_heap_visit_blocks(mi_heap_get_default(), /*visit_all_blocks=*/false, add, &figures);
  return figures;
}

}  // namespace pgparsed::worker
