// A stack like a worker's: the library recurses.
#pragma once

#include <functional>

namespace pgparsed::bench {

// Runs `run` on a thread with a stack of 1 GiB and waits for its end. False if there is no such
// thread to be had.
bool RunOnLargeStack(const std::function<void()>& run);

}  // namespace pgparsed::bench
