#include "cli/workload/server_log.h"

#include <utility>

#include "cli/workload/numbers.h"

namespace pgparsed::cli {
namespace {

constexpr std::string_view kDuration = "duration: ";
constexpr std::string_view kStatement = "statement: ";
constexpr std::string_view kExecute = "execute ";
constexpr std::string_view kFetch = "execute fetch from ";

bool Take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// "statement: SELECT 1" or "execute NAME: SELECT 1" to the query.
std::optional<std::string_view> QueryOf(std::string_view text) {
  if (Take(text, kStatement)) return text;
  if (text.starts_with(kFetch) || !Take(text, kExecute)) return std::nullopt;
  const size_t colon = text.find(": ");
  if (colon == std::string_view::npos) return std::nullopt;
  return text.substr(colon + 2);
}

}  // namespace

StatementMessage ReadStatementMessage(std::string_view message) {
  StatementMessage result;
  if (Take(message, kDuration)) {
    const size_t unit = message.find(" ms");
    if (unit == std::string_view::npos) return {};
    result.duration_us = ParseDecimal(message.substr(0, unit), 3);
    if (!result.duration_us.has_value()) return {};
    message.remove_prefix(unit + 3);
    if (message.empty()) {
      result.kind = StatementMessage::Kind::kDuration;
      return result;
    }
    if (!Take(message, "  ")) return {};
  }
  const std::optional<std::string_view> query = QueryOf(message);
  if (!query.has_value()) return {};
  result.kind = StatementMessage::Kind::kCall;
  result.query = *query;
  return result;
}

bool MayBeStatementMessage(std::string_view beginning) {
  return beginning.starts_with(kDuration) || beginning.starts_with(kStatement) ||
         beginning.starts_with(kExecute);
}

void SessionCalls::Release(List::iterator waiting, std::deque<LogEntry>& out) {
  bytes_ -= waiting->entry.query.size();
  of_session_.erase(waiting->session);
  out.push_back(std::move(waiting->entry));
  waiting_.erase(waiting);
}

void SessionCalls::Message(const ServerMessage& message, std::deque<LogEntry>& out) {
  const std::string session(message.session);
  const auto found = of_session_.find(session);
  if (message.severity != "LOG") {
    // An error ends the call; details, hints and the like belong to what was said before.
    const bool error =
        message.severity == "ERROR" || message.severity == "FATAL" || message.severity == "PANIC";
    if (error && found != of_session_.end()) Release(found->second, out);
    return;
  }
  const StatementMessage statement = ReadStatementMessage(message.text);
  if (statement.kind == StatementMessage::Kind::kNone) return;
  if (statement.kind == StatementMessage::Kind::kDuration) {
    if (found == of_session_.end()) return;
    found->second->entry.duration_us = statement.duration_us;
    Release(found->second, out);
    return;
  }
  if (found != of_session_.end()) Release(found->second, out);
  LogEntry entry;
  entry.query = std::string(statement.query);
  entry.duration_us = statement.duration_us;
  entry.line = message.line;
  if (entry.duration_us.has_value() || session.empty()) {
    out.push_back(std::move(entry));
    return;
  }
  bytes_ += entry.query.size();
  of_session_[session] = waiting_.insert(waiting_.end(), {session, std::move(entry)});
  while (waiting_.size() > kMostWaiting || bytes_ > kMostWaitingBytes) {
    Release(waiting_.begin(), out);
  }
}

void SessionCalls::Finish(std::deque<LogEntry>& out) {
  while (!waiting_.empty()) Release(waiting_.begin(), out);
}

}  // namespace pgparsed::cli
