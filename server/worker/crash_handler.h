// What a worker does when a signal, or exit() in the library, is about to end it: it grows the
// large stack if that is all, or leaves last words in its channel and ends.
#pragma once

#include "channel/worker_end.h"

namespace pgparsed::worker {

// Installs the handlers for SIGSEGV and other fatal signals, and for failed C++ allocations, on an
// alternate stack of the calling thread, the one of the jobs. `channel` must live until the end of
// the process. Returns false if the system refuses.
bool InstallCrashHandler(channel::WorkerEnd* channel);

}  // namespace pgparsed::worker
