// PostgreSQL's log as text (log_destination = stderr): lines with a prefix and a level, statements
// of several lines whose further ones begin with a tab.
//
// Not thread-safe. Reading blocks.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "cli/workload/line_prefix.h"
#include "cli/workload/log_reader.h"
#include "cli/workload/server_log.h"

namespace pgparsed::cli {

// The first line of a message.
struct StderrHeader {
  std::string_view session;   // empty: not known
  std::string_view severity;  // "LOG", "DETAIL" and so on
  std::string_view text;      // without the error code that log_error_verbosity = verbose adds
};

// nullopt: `line` begins no message. `prefix` null: any.
std::optional<StderrHeader> ReadStderrHeader(std::string_view line, const LinePrefix* prefix);

class StderrLogReader : public LogReader {
 public:
  StderrLogReader(LogInput& input, std::optional<LinePrefix> prefix, LogProblems& problems);

  absl::StatusOr<bool> Next(LogEntry& entry) override;

 private:
  void Line(const LogLine& line);
  // Hands the message that was put together to calls_.
  void EndMessage();

  LogInput& input_;
  const std::optional<LinePrefix> prefix_;
  LogProblems& problems_;
  SessionCalls calls_;
  std::deque<LogEntry> ready_;
  bool finished_ = false;

  // The message that is being put together.
  bool in_message_ = false;
  bool keep_ = false;  // it may be about a call
  std::string session_;
  std::string severity_;
  std::string text_;
  uint64_t line_ = 0;
};

}  // namespace pgparsed::cli
