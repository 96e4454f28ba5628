#include "pool/worker_files.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace pgparsed::pool {
namespace {

constexpr absl::string_view kPrefix = "pgparsed-worker-";
constexpr absl::string_view kSystem = "system";

}  // namespace

absl::StatusOr<std::map<uint32_t, std::string>> FindWorkerFiles(const std::string& worker_dir,
                                                                AllocatorOf allocator_of) {
  std::error_code error;
  std::filesystem::directory_iterator entries(worker_dir, error);
  if (error) {
    return absl::NotFoundError(absl::StrCat("cannot read the folder of the worker executables, '",
                                            worker_dir, "': ", error.message(),
                                            "; give the right one with --worker-dir"));
  }
  std::map<uint32_t, std::string> found;
  for (; entries != std::filesystem::directory_iterator(); entries.increment(error)) {
    const std::string name = entries->path().filename().string();
    absl::string_view number = name;
    uint32_t major = 0;
    if (!absl::ConsumePrefix(&number, kPrefix) || !absl::SimpleAtoi(number, &major) || major == 0 ||
        absl::StrCat(major) != number) {
      continue;
    }
    std::string path = entries->path().string();
    const std::string allocator = allocator_of(major);
    if (allocator != kSystem) {
      absl::StrAppend(&path, "-", allocator);
      if (!std::filesystem::exists(path, error)) {
        return absl::NotFoundError(absl::StrCat("--allocator=", allocator, ": there is no '", path,
                                                "'; install it, or choose another allocator"));
      }
    }
    if (!std::filesystem::is_regular_file(path, error) || access(path.c_str(), X_OK) != 0) {
      return absl::FailedPreconditionError(
          absl::StrCat("the worker '", path,
                       "' cannot be executed: it must be a file with the "
                       "permission to execute it, or be moved away"));
    }
    found.emplace(major, path);
  }
  if (error) {
    return absl::NotFoundError(
        absl::StrCat("cannot read the folder '", worker_dir, "': ", error.message()));
  }
  if (found.empty()) {
    return absl::NotFoundError(absl::StrCat("there is no worker executable (", kPrefix,
                                            "<major version>) in '", worker_dir,
                                            "'; give the folder that has them with --worker-dir"));
  }
  return found;
}

}  // namespace pgparsed::pool
