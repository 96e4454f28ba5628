// Reads query logs of several formats, entry by entry and in constant memory.
//
// Formats:
//   jsonl    one JSON object on each line: {"query": "SELECT 1", "duration_ms": 1.5, "rows": 1}.
//            "query" is needed; "duration_us" or "duration_ms", "rows", "weight" or "calls" may be
//            there; others are not looked at. null is the same as none.
//   csv      RFC 4180 with a header line that has the same names. An empty field is none.
//   stderr   PostgreSQL's own log as text, with or without a known log_line_prefix.
//   csvlog   PostgreSQL's own log as CSV (versions 10 to 18).
//   jsonlog  PostgreSQL's own log as JSON lines (versions 15 to 18).
//
// Of PostgreSQL's own logs these are calls (server_log.h says how the messages are read):
//   duration: 0.123 ms  statement: ...      log_min_duration_statement, a simple query
//   duration: 0.123 ms  execute NAME: ...   the same, extended protocol
//   statement: ...  and  execute NAME: ...  log_statement; a "duration: 0.123 ms" that follows in
//                                           the same session is its duration, an error ends it
// Not calls: parse and bind (they belong to the execute that follows), "execute fetch from" (goes
// on with a call that was counted), plans of auto_explain, the statement that an error names.
// Messages must be English (lc_messages). What a session sends in one message (`SELECT 1; SELECT
// 2`) is one entry.
//
// Lines that are not understood are reported to LogProblems and skipped. Queries that are no valid
// UTF-8 are too: no server takes them. Blank queries are left out.
//
// Not thread-safe. Reading blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "cli/workload/log_input.h"

namespace pgparsed::cli {

enum class LogFormat { kAuto, kJsonLines, kCsv, kStderr, kCsvLog, kJsonLog };

// "auto", "jsonl", "csv", "stderr", "csvlog", "jsonlog".
std::string LogFormatName(LogFormat format);

// One entry: `weight` equal calls.
struct LogEntry {
  std::string query;
  std::optional<uint64_t> duration_us;  // of one call
  std::optional<uint64_t> rows;         // of one call
  uint64_t weight = 1;
  uint64_t line = 0;  // where it begins, from 1

  bool operator==(const LogEntry&) const = default;
};

// Counts what is wrong in a log and says so, the first few times.
class LogProblems {
 public:
  // `write` gets "FILE:LINE: what is wrong" without a line break, at most `most_shown` times.
  LogProblems(std::string label, size_t most_shown, std::function<void(std::string_view)> write);

  void Add(uint64_t line, std::string_view what);

  uint64_t count() const { return count_; }
  // How many were not shown.
  uint64_t hidden() const { return count_ > most_shown_ ? count_ - most_shown_ : 0; }

 private:
  const std::string label_;
  const size_t most_shown_;
  const std::function<void(std::string_view)> write_;
  uint64_t count_ = 0;
};

class LogReader {
 public:
  virtual ~LogReader() = default;

  // The next entry; false: the end. kInvalidRequest when the log cannot be read at all.
  virtual absl::StatusOr<bool> Next(LogEntry& entry) = 0;
};

struct LogOptions {
  LogFormat format = LogFormat::kAuto;
  // For kStderr: PostgreSQL's setting of that name; nullopt: what stands before "LOG:  " is taken
  // as it comes, and a process id in brackets or a session id is looked for in it.
  std::optional<std::string> log_line_prefix;
};

// What the log looks like; kAuto when it looks like nothing that is known.
LogFormat GuessLogFormat(std::string_view beginning);

// `input` and `problems` must outlive the reader. kInvalidRequest when the format cannot be told,
// or a CSV file's header lacks what is needed. An empty log has no entries in any format.
absl::StatusOr<std::unique_ptr<LogReader>> OpenLog(LogInput& input, const LogOptions& options,
                                                   LogProblems& problems);

}  // namespace pgparsed::cli
