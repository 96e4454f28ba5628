// Finds the worker executables in a folder: pgparsed-worker-<major>.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"

namespace pgparsed::pool {

// Major version → path. The error says what to do: the folder is missing or unreadable, it holds
// no worker, or one that may not be executed.
absl::StatusOr<std::map<uint32_t, std::string>> FindWorkerFiles(const std::string& worker_dir);

}  // namespace pgparsed::pool
