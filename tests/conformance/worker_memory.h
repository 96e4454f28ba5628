// How much memory the workers of a server took at most, from /proc.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace pgparsed::conformance {

// Starts the measurement anew: the peak of each worker becomes what it holds now.
void ResetWorkerPeaks(pid_t server);

// The largest peak of resident memory of any worker that lives, in bytes; 0 when none does.
uint64_t LargestWorkerPeak(pid_t server);

}  // namespace pgparsed::conformance
