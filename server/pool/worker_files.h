// Finds the worker executables in a folder: pgparsed-worker-<major> on the system's allocator, and
// pgparsed-worker-<major>-<allocator>.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"

namespace pgparsed::pool {

// The allocator that a grammar's workers shall have: "system" or another one by its name.
using AllocatorOf = absl::FunctionRef<std::string(uint32_t major)>;

// Major version → path, of every grammar that has a worker on the system's allocator. The error
// says what to do: the folder is missing or unreadable, it holds no worker, one that may not be
// executed, or none with that allocator.
absl::StatusOr<std::map<uint32_t, std::string>> FindWorkerFiles(const std::string& worker_dir,
                                                                AllocatorOf allocator_of);

}  // namespace pgparsed::pool
