#include "cli/workload/csv_reader.h"

#include <utility>

namespace pgparsed::cli {
namespace {

// Puts a record together, line by line.
class Parser {
 public:
  explicit Parser(CsvRecord& record) : fields_(record.fields) { fields_.emplace_back(); }

  enum class State { kDone, kOpen, kMalformed };

  // `line` is without its line feed. kOpen: a quoted field goes on with the next line.
  State Line(std::string_view line) {
    size_t at = 0;
    while (true) {
      if (quoted_) {
        const size_t quote = line.find('"', at);
        if (quote == std::string_view::npos) {
          Append(line.substr(at));
          Append("\n");
          return State::kOpen;
        }
        Append(line.substr(at, quote - at));
        at = quote + 1;
        if (at < line.size() && line[at] == '"') {
          Append("\"");
          ++at;
          continue;
        }
        quoted_ = false;
        if (line.substr(at) == "\r") ++at;
        if (at == line.size()) return State::kDone;
        if (line[at] != ',') return State::kMalformed;
      } else if (at < line.size() && line[at] == '"') {
        quoted_ = true;
        ++at;
        continue;
      } else {
        const size_t comma = line.find(',', at);
        std::string_view field =
            line.substr(at, comma == std::string_view::npos ? comma : comma - at);
        at += field.size();
        if (at == line.size() && field.ends_with('\r')) field.remove_suffix(1);
        if (field.find('"') != std::string_view::npos) return State::kMalformed;
        Append(field);
        if (at == line.size()) return State::kDone;
      }
      ++at;  // the comma
      fields_.emplace_back();
    }
  }

  size_t size() const { return size_; }

 private:
  void Append(std::string_view text) {
    fields_.back().append(text);
    size_ += text.size();
  }

  std::vector<std::string>& fields_;
  bool quoted_ = false;
  size_t size_ = 0;
};

}  // namespace

absl::StatusOr<bool> CsvReader::Next(CsvRecord& record) {
  record = CsvRecord{};
  LogLine line;
  do {
    const absl::StatusOr<bool> more = input_.NextLine(line);
    if (!more.ok() || !*more) return more;
  } while (!line.too_long && (line.text.empty() || line.text == "\r"));
  record.line = line.number;
  const auto malformed = [&record](const char* problem) {
    record.fields.clear();
    record.problem = problem;
    return true;
  };
  Parser parser(record);
  while (true) {
    if (line.too_long || parser.size() > kMaxLogRecordBytes) {
      return malformed("the record is longer than 32 MiB; is a quote missing?");
    }
    const Parser::State state = parser.Line(line.text);
    if (state == Parser::State::kMalformed) return malformed("a quote where none may stand");
    if (state == Parser::State::kDone) return true;
    const absl::StatusOr<bool> more = input_.NextLine(line);
    if (!more.ok()) return more;
    if (!*more) return malformed("a quote that is never closed");
  }
}

std::vector<std::string> FirstCsvRecord(std::string_view text) {
  CsvRecord record;
  Parser parser(record);
  while (true) {
    const size_t feed = text.find('\n');
    const Parser::State state = parser.Line(text.substr(0, feed));
    if (state == Parser::State::kDone) return std::move(record.fields);
    if (state == Parser::State::kMalformed || feed == std::string_view::npos) return {};
    text.remove_prefix(feed + 1);
  }
}

}  // namespace pgparsed::cli
