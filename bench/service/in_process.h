// libpg_query in a process of its own, without gRPC: what the service is compared with.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "bench/service/commands.h"
#include "bench/service/load.h"

namespace pgparsed::bench {

class InProcess {
 public:
  // By one thread.
  struct Result {
    uint64_t runs = 0;
    double seconds = 0;
    double cpu_seconds = 0;

    double per_second() const { return static_cast<double>(runs) / seconds; }
    double cpu_microseconds() const { return cpu_seconds * 1e6 / static_cast<double>(runs); }
  };

  // The program of a grammar, in `folder`.
  static absl::StatusOr<std::unique_ptr<InProcess>> Start(const std::string& folder,
                                                          uint32_t grammar);

  // Does a variant (in_process_main.cc, bench/conversion/variants.cc) with one text for so long.
  absl::StatusOr<Result> Run(std::string_view variant, const std::string& text, Seconds duration);

  // The raw parse of each statement of GenerateDump(bytes).
  absl::StatusOr<Result> ParseDump(uint64_t bytes);

 private:
  explicit InProcess(std::unique_ptr<Child> child) : child_(std::move(child)) {}

  const std::unique_ptr<Child> child_;
};

}  // namespace pgparsed::bench
