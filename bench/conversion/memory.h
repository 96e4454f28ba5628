// What a variant takes in memory.
#pragma once

#include <cstdint>
#include <string>

#include "bench/conversion/variants.h"

namespace pgparsed::bench {

// By how many bytes one run raises the peak of the resident set (VmHWM) of a process that has done
// nothing else. Runs in a child process, on a large stack. 0 if the run is not possible.
uint64_t PeakBytes(const Variant& variant, const std::string& text);

}  // namespace pgparsed::bench
