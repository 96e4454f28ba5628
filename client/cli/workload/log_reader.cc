#include "cli/workload/log_reader.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "cli/workload/csv_reader.h"
#include "cli/workload/numbers.h"
#include "cli/workload/server_log.h"
#include "cli/workload/stderr_log.h"
#include "nlohmann/json.hpp"
#include "pgparsed/errors.h"
#include "text/utf8.h"

namespace pgparsed::cli {
namespace {

using Json = nlohmann::json;

constexpr size_t kGuessBytes = 64u << 10;

// PostgreSQL's csvlog has 23 columns up to version 12, one more in 13, two more from 14 on.
constexpr size_t kCsvLogFewest = 23;
constexpr size_t kCsvLogMost = 26;
constexpr size_t kCsvLogSession = 5;
constexpr size_t kCsvLogSeverity = 11;
constexpr size_t kCsvLogMessage = 13;

constexpr const char* kTwoDurations = "both duration_us and duration_ms";
constexpr const char* kTwoWeights = "both weight and calls";

bool IsBlank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n\v\f") == std::string_view::npos;
}

// ---- JSON lines ----

// A whole number times 10^shift; nullopt: it is none that fits.
std::optional<uint64_t> Number(const Json& value, int shift) {
  uint64_t number;
  if (value.is_number_unsigned()) {
    number = value.get<uint64_t>();
    for (int i = 0; i < shift; ++i) {
      if (__builtin_mul_overflow(number, uint64_t{10}, &number)) return std::nullopt;
    }
    return number;
  }
  if (!value.is_number_float()) return std::nullopt;
  const double scaled = std::round(value.get<double>() * std::pow(10.0, shift));
  if (!(scaled >= 0 && scaled < 18446744073709551616.0)) return std::nullopt;
  return static_cast<uint64_t>(scaled);
}

class JsonLinesReader : public LogReader {
 public:
  JsonLinesReader(LogInput& input, LogProblems& problems) : input_(input), problems_(problems) {}

  absl::StatusOr<bool> Next(LogEntry& entry) override {
    LogLine line;
    while (true) {
      const absl::StatusOr<bool> more = input_.NextLine(line);
      if (!more.ok() || !*more) return more;
      if (!line.too_long && IsBlank(line.text)) continue;
      entry = LogEntry{.line = line.number};
      const char* problem = line.too_long ? "the line is longer than 32 MiB" : Read(line, entry);
      if (problem == nullptr) return true;
      problems_.Add(line.number, problem);
    }
  }

 private:
  // What is wrong, or null.
  static const char* Read(const LogLine& line, LogEntry& entry) {
    const Json json = Json::parse(line.text, nullptr, false);
    if (!json.is_object()) return json.is_discarded() ? "no JSON" : "no JSON object";
    const auto member = [&json](const char* name) -> const Json* {
      const auto found = json.find(name);
      return found == json.end() || found->is_null() ? nullptr : &*found;
    };
    const Json* query = member("query");
    if (query == nullptr || !query->is_string()) return "no \"query\" with a string";
    entry.query = query->get<std::string>();
    const Json* us = member("duration_us");
    const Json* ms = member("duration_ms");
    if (us != nullptr && ms != nullptr) return kTwoDurations;
    if (us != nullptr) {
      entry.duration_us = Number(*us, 0);
      if (!entry.duration_us.has_value()) return "\"duration_us\" is no duration";
    }
    if (ms != nullptr) {
      entry.duration_us = Number(*ms, 3);
      if (!entry.duration_us.has_value()) return "\"duration_ms\" is no duration";
    }
    if (const Json* rows = member("rows"); rows != nullptr) {
      if (!rows->is_number_unsigned()) return "\"rows\" is no number of rows";
      entry.rows = rows->get<uint64_t>();
    }
    const Json* weight = member("weight");
    const Json* calls = member("calls");
    if (weight != nullptr && calls != nullptr) return kTwoWeights;
    if (weight == nullptr) weight = calls;
    if (weight != nullptr) {
      if (!weight->is_number_unsigned()) return "\"weight\" or \"calls\" is no number of calls";
      entry.weight = weight->get<uint64_t>();
    }
    return nullptr;
  }

  LogInput& input_;
  LogProblems& problems_;
};

// ---- CSV ----

class CsvLogEntriesReader : public LogReader {
 public:
  // Reads the header.
  static absl::StatusOr<std::unique_ptr<LogReader>> Open(LogInput& input, LogProblems& problems) {
    std::unique_ptr<CsvLogEntriesReader> reader(new CsvLogEntriesReader(input, problems));
    CsvRecord header;
    const absl::StatusOr<bool> more = reader->csv_.Next(header);
    if (!more.ok()) return more.status();
    if (*more) {
      if (const char* problem = reader->ReadHeader(header); problem != nullptr) {
        return MakeError(Reason::kInvalidRequest, absl::StrCat(input.label(), ": ", problem));
      }
    }
    return reader;
  }

  absl::StatusOr<bool> Next(LogEntry& entry) override {
    while (true) {
      const absl::StatusOr<bool> more = csv_.Next(record_);
      if (!more.ok() || !*more) return more;
      entry = LogEntry{.line = record_.line};
      const char* problem = record_.problem != nullptr ? record_.problem : Read(entry);
      if (problem == nullptr) return true;
      problems_.Add(record_.line, problem);
    }
  }

 private:
  enum Column { kQuery, kDurationUs, kDurationMs, kRows, kWeight, kCalls, kColumns };

  CsvLogEntriesReader(LogInput& input, LogProblems& problems) : csv_(input), problems_(problems) {}

  const char* ReadHeader(const CsvRecord& header) {
    constexpr std::array<std::string_view, kColumns> kNames = {
        "query", "duration_us", "duration_ms", "rows", "weight", "calls"};
    if (header.problem != nullptr) return header.problem;
    width_ = header.fields.size();
    for (size_t i = 0; i < width_; ++i) {
      std::string name = header.fields[i];
      absl::StripAsciiWhitespace(&name);
      absl::AsciiStrToLower(&name);
      for (size_t column = 0; column < kColumns; ++column) {
        if (name != kNames[column]) continue;
        if (columns_[column].has_value()) return "the header names a column twice";
        columns_[column] = i;
      }
    }
    if (!columns_[kQuery].has_value()) {
      return "the header names no column \"query\"";
    }
    if (columns_[kDurationUs].has_value() && columns_[kDurationMs].has_value()) {
      return kTwoDurations;
    }
    if (columns_[kWeight].has_value() && columns_[kCalls].has_value()) return kTwoWeights;
    return nullptr;
  }

  // Null when the column is not there or empty.
  const std::string* Field(Column column) const {
    if (!columns_[column].has_value()) return nullptr;
    const std::string& field = record_.fields[*columns_[column]];
    return field.empty() ? nullptr : &field;
  }

  const char* Read(LogEntry& entry) {
    if (record_.fields.size() != width_) return "not as many fields as the header has";
    if (const std::string* us = Field(kDurationUs); us != nullptr) {
      entry.duration_us = ParseDecimal(*us, 0);
      if (!entry.duration_us.has_value()) return "duration_us is no duration";
    }
    if (const std::string* ms = Field(kDurationMs); ms != nullptr) {
      entry.duration_us = ParseDecimal(*ms, 3);
      if (!entry.duration_us.has_value()) return "duration_ms is no duration";
    }
    if (const std::string* rows = Field(kRows); rows != nullptr) {
      entry.rows = ParseCount(*rows);
      if (!entry.rows.has_value()) return "rows is no number of rows";
    }
    const std::string* weight = Field(columns_[kWeight].has_value() ? kWeight : kCalls);
    if (weight != nullptr) {
      const std::optional<uint64_t> count = ParseCount(*weight);
      if (!count.has_value()) return "weight or calls is no number of calls";
      entry.weight = *count;
    }
    entry.query = std::move(record_.fields[*columns_[kQuery]]);
    return nullptr;
  }

  CsvReader csv_;
  LogProblems& problems_;
  CsvRecord record_;
  size_t width_ = 0;
  std::array<std::optional<size_t>, kColumns> columns_;
};

// ---- PostgreSQL's csvlog and jsonlog ----

// What both share: messages come one by one, entries when they are complete.
class ServerLogReader : public LogReader {
 public:
  absl::StatusOr<bool> Next(LogEntry& entry) override {
    while (ready_.empty() && !finished_) {
      const absl::StatusOr<bool> more = Step();
      if (!more.ok()) return more.status();
      if (!*more) {
        calls_.Finish(ready_);
        finished_ = true;
      }
    }
    if (ready_.empty()) return false;
    entry = std::move(ready_.front());
    ready_.pop_front();
    return true;
  }

 protected:
  // Reads a message and hands it to Message; false: there is none.
  virtual absl::StatusOr<bool> Step() = 0;

  void Message(const ServerMessage& message) { calls_.Message(message, ready_); }

 private:
  SessionCalls calls_;
  std::deque<LogEntry> ready_;
  bool finished_ = false;
};

class CsvLogReader : public ServerLogReader {
 public:
  CsvLogReader(LogInput& input, LogProblems& problems) : csv_(input), problems_(problems) {}

 private:
  absl::StatusOr<bool> Step() override {
    const absl::StatusOr<bool> more = csv_.Next(record_);
    if (!more.ok() || !*more) return more;
    const size_t width = record_.fields.size();
    if (record_.problem != nullptr) {
      problems_.Add(record_.line, record_.problem);
    } else if (width < kCsvLogFewest || width > kCsvLogMost) {
      problems_.Add(record_.line, "not the columns of PostgreSQL's csvlog");
    } else {
      Message({.severity = record_.fields[kCsvLogSeverity],
               .session = record_.fields[kCsvLogSession],
               .text = record_.fields[kCsvLogMessage],
               .line = record_.line});
    }
    return true;
  }

  CsvReader csv_;
  LogProblems& problems_;
  CsvRecord record_;
};

class JsonLogReader : public ServerLogReader {
 public:
  JsonLogReader(LogInput& input, LogProblems& problems) : input_(input), problems_(problems) {}

 private:
  absl::StatusOr<bool> Step() override {
    LogLine line;
    const absl::StatusOr<bool> more = input_.NextLine(line);
    if (!more.ok() || !*more) return more;
    if (line.too_long) {
      problems_.Add(line.number, "the line is longer than 32 MiB");
      return true;
    }
    if (IsBlank(line.text)) return true;
    const Json json = Json::parse(line.text, nullptr, false);
    if (!json.is_object()) {
      problems_.Add(line.number, json.is_discarded() ? "no JSON" : "no JSON object");
      return true;
    }
    const auto text = [&json](const char* name) {
      const auto found = json.find(name);
      return found == json.end() || !found->is_string() ? std::string() : found->get<std::string>();
    };
    const std::string severity = text("error_severity");
    if (severity.empty()) {
      problems_.Add(line.number, "no \"error_severity\": not PostgreSQL's jsonlog");
      return true;
    }
    Message({.severity = severity,
             .session = text("session_id"),
             .text = text("message"),
             .line = line.number});
    return true;
  }

  LogInput& input_;
  LogProblems& problems_;
};

// What all formats share: queries that no server takes are left out.
class CheckedReader : public LogReader {
 public:
  CheckedReader(std::unique_ptr<LogReader> reader, LogProblems& problems)
      : reader_(std::move(reader)), problems_(problems) {}

  absl::StatusOr<bool> Next(LogEntry& entry) override {
    while (true) {
      const absl::StatusOr<bool> more = reader_->Next(entry);
      if (!more.ok() || !*more) return more;
      if (IsBlank(entry.query)) continue;
      if (!text::FindInvalid(entry.query).has_value()) return true;
      problems_.Add(entry.line, "the query is no valid UTF-8, or has a NUL byte");
    }
  }

 private:
  const std::unique_ptr<LogReader> reader_;
  LogProblems& problems_;
};

}  // namespace

std::string LogFormatName(LogFormat format) {
  switch (format) {
    case LogFormat::kAuto:
      return "auto";
    case LogFormat::kJsonLines:
      return "jsonl";
    case LogFormat::kCsv:
      return "csv";
    case LogFormat::kStderr:
      return "stderr";
    case LogFormat::kCsvLog:
      return "csvlog";
    case LogFormat::kJsonLog:
      return "jsonlog";
  }
  return "auto";
}

LogProblems::LogProblems(std::string label, size_t most_shown,
                         std::function<void(std::string_view)> write)
    : label_(std::move(label)), most_shown_(most_shown), write_(std::move(write)) {}

void LogProblems::Add(uint64_t line, std::string_view what) {
  if (++count_ <= most_shown_) write_(absl::StrCat(label_, ":", line, ": ", std::string(what)));
}

LogFormat GuessLogFormat(std::string_view beginning) {
  const size_t first = beginning.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return LogFormat::kAuto;
  beginning.remove_prefix(first);
  if (beginning.front() == '{') {
    const std::string_view line = beginning.substr(0, beginning.find('\n'));
    return line.find("\"error_severity\"") != std::string_view::npos ? LogFormat::kJsonLog
                                                                     : LogFormat::kJsonLines;
  }
  for (std::string& field : FirstCsvRecord(beginning)) {
    absl::StripAsciiWhitespace(&field);
    if (absl::AsciiStrToLower(field) == "query") return LogFormat::kCsv;
  }
  // Lines of text first: a message may have as many commas as a csvlog has columns.
  std::string_view rest = beginning;
  while (!rest.empty()) {
    const size_t feed = rest.find('\n');
    if (ReadStderrHeader(rest.substr(0, feed), nullptr).has_value()) return LogFormat::kStderr;
    const std::vector<std::string> fields = FirstCsvRecord(rest);
    if (fields.size() >= kCsvLogFewest && fields.size() <= kCsvLogMost) return LogFormat::kCsvLog;
    if (feed == std::string_view::npos) break;
    rest.remove_prefix(feed + 1);
  }
  return LogFormat::kAuto;
}

absl::StatusOr<std::unique_ptr<LogReader>> OpenLog(LogInput& input, const LogOptions& options,
                                                   LogProblems& problems) {
  LogFormat format = options.format;
  if (format == LogFormat::kAuto) {
    const absl::StatusOr<std::string_view> beginning = input.Peek(kGuessBytes);
    if (!beginning.ok()) return beginning.status();
    format = GuessLogFormat(*beginning);
    if (format == LogFormat::kAuto) {
      if (!IsBlank(*beginning)) {
        return MakeError(
            Reason::kInvalidRequest,
            absl::StrCat(input.label(), ": the format of this log cannot be told: use --format"));
      }
      format = LogFormat::kJsonLines;
    }
  }
  std::unique_ptr<LogReader> reader;
  switch (format) {
    case LogFormat::kCsv: {
      absl::StatusOr<std::unique_ptr<LogReader>> csv = CsvLogEntriesReader::Open(input, problems);
      if (!csv.ok()) return csv.status();
      reader = *std::move(csv);
      break;
    }
    case LogFormat::kStderr: {
      std::optional<LinePrefix> prefix;
      if (options.log_line_prefix.has_value()) prefix.emplace(*options.log_line_prefix);
      reader = std::make_unique<StderrLogReader>(input, std::move(prefix), problems);
      break;
    }
    case LogFormat::kCsvLog:
      reader = std::make_unique<CsvLogReader>(input, problems);
      break;
    case LogFormat::kJsonLog:
      reader = std::make_unique<JsonLogReader>(input, problems);
      break;
    default:
      reader = std::make_unique<JsonLinesReader>(input, problems);
  }
  return std::make_unique<CheckedReader>(std::move(reader), problems);
}

}  // namespace pgparsed::cli
