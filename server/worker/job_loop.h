// A worker's life after its start: jobs out of the channel, answers into it.
#pragma once

#include "channel/worker_end.h"

namespace pgparsed::worker {

// Lets the library and the allocator do once what they do only once, so that nothing of it happens
// in the sandbox: first contexts, tables, lazily bound functions.
void WarmUp();

// Answers jobs until the process is killed. After a large job, when it is answered, memory goes
// back to the system.
[[noreturn]] void RunJobs(channel::WorkerEnd& channel);

}  // namespace pgparsed::worker
