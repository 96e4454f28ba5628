// The exit statuses of pgparse. They are part of its interface: --help lists them.
#pragma once

#include "absl/status/status.h"

namespace pgparsed::cli {

enum ExitCode {
  kExitOk = 0,
  kExitSql = 1,     // the SQL is wrong
  kExitUsage = 2,   // the command line or the input is: nothing was sent, or the server refused it
  kExitServer = 3,  // no server can be reached, or it refused for reasons of its own
  kExitInternal = 4,  // a fault of pgparsed, or the output could not be written
};

ExitCode ExitCodeOf(const absl::Status& status);

}  // namespace pgparsed::cli
