// The commands of pgparse that read files of any size: batch, script, workload. Memory does not
// grow with the files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/arguments.h"
#include "cli/exit_code.h"
#include "cli/output.h"
#include "pgparsed/client.h"

namespace pgparsed::cli {

bool IsStreamCommand(Command command);

// Runs the command: reads its files one after the other, writes results to `out`; errors of
// queries, progress and a summary go to standard error. The exit code is that of the first error of
// a query. A status is an error of the command itself: it is not written. Blocks.
absl::StatusOr<ExitCode> RunStreamCommand(const Arguments& arguments, Client& client, Output& out);

// --- What they share, and are made of ----------------------------------------------------------

absl::StatusOr<ExitCode> RunBatch(const Arguments& arguments, Client& client, Output& out);
absl::StatusOr<ExitCode> RunScript(const Arguments& arguments, Client& client, Output& out);
absl::StatusOr<ExitCode> RunWorkload(const Arguments& arguments, Client& client, Output& out);

v1::StreamOptions StreamOptionsOf(const Arguments& arguments);

// What a sink says when nobody reads the output any more; no error for the user.
absl::Status OutputGone();

// "1234 queries in 0.5 s (2468/s)"
std::string Throughput(uint64_t count, std::string_view what, double seconds);

}  // namespace pgparsed::cli
