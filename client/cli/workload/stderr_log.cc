#include "cli/workload/stderr_log.h"

#include <algorithm>
#include <array>
#include <utility>

namespace pgparsed::cli {
namespace {

constexpr std::array<std::string_view, 15> kSeverities = {
    "LOG",    "DETAIL", "STATEMENT", "ERROR", "HINT",  "CONTEXT", "WARNING",  "LOCATION",
    "NOTICE", "INFO",   "FATAL",     "PANIC", "DEBUG", "QUERY",   "BACKTRACE"};
constexpr std::string_view kColon = ":  ";
// No prefix is longer.
constexpr size_t kMostPrefixBytes = 2048;

bool IsWordCharacter(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

// Where the severity that ends at `end` begins.
std::optional<size_t> SeverityBefore(std::string_view line, size_t end) {
  size_t begin = end;
  while (begin > 0 && line[begin - 1] >= 'A' && line[begin - 1] <= 'Z') --begin;
  if (begin > 0 && IsWordCharacter(line[begin - 1])) return std::nullopt;
  const std::string_view word = line.substr(begin, end - begin);
  if (std::find(kSeverities.begin(), kSeverities.end(), word) == kSeverities.end()) {
    return std::nullopt;
  }
  return begin;
}

// "00000: duration: ..." without the code.
std::string_view WithoutCode(std::string_view text) {
  if (text.size() < 7 || text.substr(5, 2) != ": ") return text;
  const bool code = std::all_of(text.begin(), text.begin() + 5, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z');
  });
  return code ? text.substr(7) : text;
}

std::string_view WithoutReturn(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

}  // namespace

std::optional<StderrHeader> ReadStderrHeader(std::string_view line, const LinePrefix* prefix) {
  const std::string_view head = line.substr(0, kMostPrefixBytes);
  for (size_t colon = head.find(kColon); colon != std::string_view::npos;
       colon = head.find(kColon, colon + 1)) {
    const std::optional<size_t> begin = SeverityBefore(line, colon);
    if (!begin.has_value()) continue;
    StderrHeader header;
    if (prefix == nullptr) {
      header.session = GuessSession(line.substr(0, *begin));
    } else if (!prefix->Matches(line.substr(0, *begin), &header.session)) {
      continue;
    }
    header.severity = line.substr(*begin, colon - *begin);
    header.text = WithoutCode(line.substr(colon + kColon.size()));
    return header;
  }
  return std::nullopt;
}

StderrLogReader::StderrLogReader(LogInput& input, std::optional<LinePrefix> prefix,
                                 LogProblems& problems)
    : input_(input), prefix_(std::move(prefix)), problems_(problems) {}

absl::StatusOr<bool> StderrLogReader::Next(LogEntry& entry) {
  while (ready_.empty() && !finished_) {
    LogLine line;
    const absl::StatusOr<bool> more = input_.NextLine(line);
    if (!more.ok()) return more.status();
    if (*more) {
      Line(line);
    } else {
      EndMessage();
      calls_.Finish(ready_);
      finished_ = true;
    }
  }
  if (ready_.empty()) return false;
  entry = std::move(ready_.front());
  ready_.pop_front();
  return true;
}

void StderrLogReader::Line(const LogLine& line) {
  if (line.too_long) {
    problems_.Add(line.number, "the line is longer than 32 MiB");
    in_message_ = false;
    return;
  }
  const std::string_view text = WithoutReturn(line.text);
  if (text.starts_with('\t') && in_message_) {
    if (!keep_) return;
    if (text_.size() + text.size() > kMaxLogRecordBytes) {
      problems_.Add(line_, "the statement is longer than 32 MiB");
      keep_ = false;
      text_.clear();
      return;
    }
    text_.push_back('\n');
    text_.append(text.substr(1));
    return;
  }
  EndMessage();
  if (text.empty()) return;
  const std::optional<StderrHeader> header =
      ReadStderrHeader(text, prefix_.has_value() ? &*prefix_ : nullptr);
  if (!header.has_value()) {
    problems_.Add(line.number, prefix_.has_value()
                                   ? "no message of the server with this --log-line-prefix"
                                   : "no message of the server");
    return;
  }
  in_message_ = true;
  severity_ = std::string(header->severity);
  session_ = std::string(header->session);
  keep_ = severity_ == "LOG" && MayBeStatementMessage(header->text);
  text_ = keep_ ? std::string(header->text) : std::string();
  line_ = line.number;
}

void StderrLogReader::EndMessage() {
  if (!in_message_) return;
  in_message_ = false;
  calls_.Message({.severity = severity_, .session = session_, .text = text_, .line = line_},
                 ready_);
}

}  // namespace pgparsed::cli
