// The errors of pgparsed as values: why a call failed, and where in the SQL.
//
// Inside the project, and in the C++ client, an error is an absl::Status whose payloads carry a
// Reason and, for errors in the SQL, a SqlError. One place in the server makes gRPC statuses of
// them (service/rpc_status.h), one place in the client makes them again.
//
// Thread-safety: all functions are pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace pgparsed {

// Why a call failed. The names are those of google.rpc.ErrorInfo.reason without the k:
// kSqlSyntaxError is SQL_SYNTAX_ERROR.
enum class Reason : uint32_t {
  kNone = 0,
  kSqlSyntaxError = 1,      // INVALID_ARGUMENT: PostgreSQL's parser refused the SQL
  kInvalidQueryText = 2,    // INVALID_ARGUMENT: a NUL byte or invalid UTF-8
  kUnsupportedGrammar = 3,  // INVALID_ARGUMENT: no such grammar here
  kUnsupportedOption = 4,   // INVALID_ARGUMENT: the grammar lacks the option
  kInvalidTree = 5,         // INVALID_ARGUMENT: the tree to deparse is malformed
  kQueryTooLarge = 6,       // INVALID_ARGUMENT: over max_query_bytes
  kNestingTooDeep = 7,      // INVALID_ARGUMENT: deeper than the parser takes
  kInvalidRequest = 8,      // INVALID_ARGUMENT: the request itself is malformed
  kResultTooLarge = 9,      // OUT_OF_RANGE: over max_unary_result_bytes; use ParseChunked
  kParserMemoryLimit = 10,  // RESOURCE_EXHAUSTED: a worker's memory limit was hit
  kParserTimeLimit = 11,    // RESOURCE_EXHAUSTED: the server's time limit for a job was hit
  kDeadline = 12,           // DEADLINE_EXCEEDED: the client's deadline passed
  kParserCrashed = 13,      // INTERNAL: the query crashed the parser twice; do not retry
  kDeparseMismatch = 14,    // INTERNAL: the SQL that was made means something else
  kInternal = 15,           // INTERNAL: a fault of pgparsed
  kOverloaded = 16,         // UNAVAILABLE: no room in the queue; retry later
  kDraining = 17,           // UNAVAILABLE: the server is shutting down; retry elsewhere
  kUnimplemented = 18,      // UNIMPLEMENTED: this build lacks it
  kCancelled = 19,          // CANCELLED: the caller gave up
  kUnavailable = 20,        // UNAVAILABLE: no worker of the grammar can be started
};

// "SQL_SYNTAX_ERROR" and so on; "NONE" for kNone.
std::string_view ReasonName(Reason reason);

// The reverse; kNone for an unknown name.
Reason ReasonFromName(std::string_view name);

// The status code that belongs to a reason.
absl::StatusCode ReasonCode(Reason reason);

// An error that PostgreSQL's parser reported. Positions count from 0 in the encoding that the
// request asked for, lines and columns from 1.
struct SqlError {
  std::string message;
  std::optional<uint32_t> position;
  uint32_t line = 0;    // 0: no position
  uint32_t column = 0;  // 0: no position
  std::string source_function;
  std::string source_file;
  uint32_t source_line = 0;
  std::string context;

  bool operator==(const SqlError&) const = default;
};

// An error with its reason. The message says what happened and what to do; it never holds the
// query.
absl::Status MakeError(Reason reason, std::string_view message);

// An error in the SQL: the message is PostgreSQL's. `reason` is kSqlSyntaxError or kNestingTooDeep.
absl::Status MakeSqlError(Reason reason, const SqlError& error);

// Adds a fact to an error: it becomes an entry of ErrorInfo.metadata.
void AddErrorMetadata(absl::Status& status, std::string_view key, std::string_view value);

// Reads them back. For a status that carries no reason, ReasonOf gives kNone if it is OK and
// kInternal otherwise.
Reason ReasonOf(const absl::Status& status);
std::optional<SqlError> SqlErrorOf(const absl::Status& status);
std::map<std::string, std::string> ErrorMetadataOf(const absl::Status& status);

}  // namespace pgparsed
