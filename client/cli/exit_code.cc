#include "cli/exit_code.h"

#include "pgparsed/errors.h"

namespace pgparsed::cli {

ExitCode ExitCodeOf(const absl::Status& status) {
  switch (ReasonOf(status)) {
    case Reason::kNone:
      return kExitOk;
    case Reason::kSqlSyntaxError:
    case Reason::kNestingTooDeep:
      return kExitSql;
    case Reason::kInvalidQueryText:
    case Reason::kUnsupportedGrammar:
    case Reason::kUnsupportedOption:
    case Reason::kInvalidTree:
    case Reason::kQueryTooLarge:
    case Reason::kInvalidRequest:
    case Reason::kUnimplemented:
      return kExitUsage;
    case Reason::kResultTooLarge:
    case Reason::kParserMemoryLimit:
    case Reason::kParserTimeLimit:
    case Reason::kDeadline:
    case Reason::kOverloaded:
    case Reason::kDraining:
    case Reason::kCancelled:
    case Reason::kUnavailable:
      return kExitServer;
    case Reason::kParserCrashed:
    case Reason::kDeparseMismatch:
    case Reason::kInternal:
      break;
  }
  // Without a reason it is gRPC that speaks, and RESOURCE_EXHAUSTED is one of its size limits.
  return status.code() == absl::StatusCode::kResourceExhausted ? kExitServer : kExitInternal;
}

}  // namespace pgparsed::cli
