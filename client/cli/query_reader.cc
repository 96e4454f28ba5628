#include "cli/query_reader.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cpp/query_text.h"
#include "nlohmann/json.hpp"
#include "pgparsed/errors.h"

namespace pgparsed::cli {
namespace {

absl::Status QueryOfJson(std::string_view line, std::string& query) {
  nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
  if (!json.is_object()) {
    return MakeError(Reason::kInvalidRequest, "the line is not a JSON object");
  }
  const auto member = json.find("query");
  if (member == json.end() || !member->is_string()) {
    return MakeError(Reason::kInvalidRequest, "the object has no \"query\" that is a string");
  }
  query = std::move(member->get_ref<std::string&>());
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<QueryReader>> QueryReader::Open(const std::string& path,
                                                               QueryFormat format,
                                                               uint64_t max_bytes) {
  auto input = LogInput::Open(path, format == QueryFormat::kNul ? '\0' : '\n');
  if (!input.ok()) return input.status();
  return std::unique_ptr<QueryReader>(new QueryReader(*std::move(input), format, max_bytes));
}

absl::StatusOr<bool> QueryReader::Next(QueryItem& item) {
  item.query.clear();
  item.status = absl::OkStatus();
  LogLine line;
  do {
    const absl::StatusOr<bool> more = input_->NextLine(line);
    if (!more.ok() || !*more) return more;
  } while (format_ == QueryFormat::kJsonLines && !line.too_long &&
           line.text.find_first_not_of(" \t\r") == std::string_view::npos);
  item.line = line.number;
  if (format_ == QueryFormat::kNul) {
    item.line = next_line_;
    next_line_ += static_cast<uint64_t>(std::count(line.text.begin(), line.text.end(), '\n'));
  } else if (line.text.ends_with('\r')) {
    line.text.remove_suffix(1);
  }
  if (!line.too_long) {
    if (format_ == QueryFormat::kJsonLines) {
      item.status = QueryOfJson(line.text, item.query);
    } else {
      item.query = line.text;
    }
  }
  if (line.too_long || item.query.size() > max_bytes_) {
    item.status =
        MakeError(Reason::kQueryTooLarge, absl::StrCat("the query has more than ", max_bytes_,
                                                       " bytes, which is the server's limit"));
  }
  if (item.status.ok()) item.status = client::CheckQueryText(item.query);
  if (!item.status.ok()) item.query.clear();
  return true;
}

}  // namespace pgparsed::cli
