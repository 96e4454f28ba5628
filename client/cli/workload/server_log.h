// The messages of PostgreSQL's own log, in whichever format they come, as entries.
//
// Not thread-safe. Nothing blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <optional>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "cli/workload/log_reader.h"

namespace pgparsed::cli {

// What a message of level LOG says about a call.
struct StatementMessage {
  enum class Kind {
    kNone,      // nothing
    kCall,      // a call, its duration known or not
    kDuration,  // how long a call took that an earlier message named
  };
  Kind kind = Kind::kNone;
  std::optional<uint64_t> duration_us;
  std::string_view query;  // a part of the message
};

StatementMessage ReadStatementMessage(std::string_view message);

// Whether a message that begins so may be about a call: others need not be kept.
bool MayBeStatementMessage(std::string_view beginning);

// One message of the log.
struct ServerMessage {
  std::string_view severity;  // "LOG", "ERROR" and so on
  std::string_view session;   // the session's or the process's id; empty: not known
  std::string_view text;
  uint64_t line = 0;  // where it begins
};

// Puts calls and durations together that stand in different messages of one session. A call whose
// duration may still come waits for it: until the session says something else about calls, an
// error, the end of the log, or until too many wait. Where the session is not known, nothing waits
// and durations that stand alone are dropped.
class SessionCalls {
 public:
  // How many calls wait at most, and how long their queries are in all.
  static constexpr size_t kMostWaiting = 10'000;
  static constexpr size_t kMostWaitingBytes = 64u << 20;

  // Appends the entries that are complete now to `out`.
  void Message(const ServerMessage& message, std::deque<LogEntry>& out);

  // Appends what still waits, in the order of the log.
  void Finish(std::deque<LogEntry>& out);

 private:
  struct Waiting {
    std::string session;
    LogEntry entry;
  };
  using List = std::list<Waiting>;

  void Release(List::iterator waiting, std::deque<LogEntry>& out);

  List waiting_;  // the oldest first
  absl::flat_hash_map<std::string, List::iterator> of_session_;
  size_t bytes_ = 0;
};

}  // namespace pgparsed::cli
