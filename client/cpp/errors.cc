#include "pgparsed/errors.h"

#include <array>
#include <cstddef>
#include <utility>

#include "absl/strings/cord.h"

namespace pgparsed {
namespace {

// An absl::Status holds at most one payload of a type; these are ours. Their bytes never leave the
// process, so the encodings below need no versions.
constexpr std::string_view kReasonUrl = "pgparsed.dev/errors/Reason";
constexpr std::string_view kMetadataUrl = "pgparsed.dev/errors/Metadata";
constexpr std::string_view kSqlErrorUrl = "pgparsed.dev/errors/SqlError";

struct ReasonEntry {
  std::string_view name;
  absl::StatusCode code;
};

// Indexed by Reason.
constexpr std::array<ReasonEntry, 21> kReasons = {{
    {"NONE", absl::StatusCode::kOk},
    {"SQL_SYNTAX_ERROR", absl::StatusCode::kInvalidArgument},
    {"INVALID_QUERY_TEXT", absl::StatusCode::kInvalidArgument},
    {"UNSUPPORTED_GRAMMAR", absl::StatusCode::kInvalidArgument},
    {"UNSUPPORTED_OPTION", absl::StatusCode::kInvalidArgument},
    {"INVALID_TREE", absl::StatusCode::kInvalidArgument},
    {"QUERY_TOO_LARGE", absl::StatusCode::kInvalidArgument},
    {"NESTING_TOO_DEEP", absl::StatusCode::kInvalidArgument},
    {"INVALID_REQUEST", absl::StatusCode::kInvalidArgument},
    {"RESULT_TOO_LARGE", absl::StatusCode::kOutOfRange},
    {"PARSER_MEMORY_LIMIT", absl::StatusCode::kResourceExhausted},
    {"PARSER_TIME_LIMIT", absl::StatusCode::kResourceExhausted},
    {"DEADLINE", absl::StatusCode::kDeadlineExceeded},
    {"PARSER_CRASHED", absl::StatusCode::kInternal},
    {"DEPARSE_MISMATCH", absl::StatusCode::kInternal},
    {"INTERNAL", absl::StatusCode::kInternal},
    {"OVERLOADED", absl::StatusCode::kUnavailable},
    {"DRAINING", absl::StatusCode::kUnavailable},
    {"UNIMPLEMENTED", absl::StatusCode::kUnimplemented},
    {"CANCELLED", absl::StatusCode::kCancelled},
    {"UNAVAILABLE", absl::StatusCode::kUnavailable},
}};
static_assert(kReasons.size() == static_cast<size_t>(Reason::kUnavailable) + 1);

// Payloads are sequences of strings, each behind its length (4 bytes), and numbers (4 bytes), in
// the machine's byte order.
void Put(std::string& out, uint32_t number) {
  out.append(reinterpret_cast<const char*>(&number), sizeof number);
}

void Put(std::string& out, std::string_view text) {
  Put(out, static_cast<uint32_t>(text.size()));
  out.append(text);
}

// Reads what Put wrote. After a short read everything is 0 or empty and `ok` is false.
struct Reader {
  std::string_view rest;
  bool ok = true;

  uint32_t Number() {
    uint32_t number = 0;
    if (rest.size() < sizeof number) {
      ok = false;
      rest = {};
      return 0;
    }
    rest.copy(reinterpret_cast<char*>(&number), sizeof number);
    rest.remove_prefix(sizeof number);
    return number;
  }

  std::string Text() {
    const uint32_t size = Number();
    if (rest.size() < size) {
      ok = false;
      rest = {};
      return {};
    }
    std::string text(rest.substr(0, size));
    rest.remove_prefix(size);
    return text;
  }
};

std::optional<std::string> Payload(const absl::Status& status, std::string_view url) {
  const auto payload = status.GetPayload(absl::string_view(url.data(), url.size()));
  if (!payload.has_value()) return std::nullopt;
  return std::string(*payload);
}

void SetPayload(absl::Status& status, std::string_view url, std::string bytes) {
  status.SetPayload(absl::string_view(url.data(), url.size()), absl::Cord(std::move(bytes)));
}

}  // namespace

std::string_view ReasonName(Reason reason) {
  const auto index = static_cast<size_t>(reason);
  return index < kReasons.size() ? kReasons[index].name : kReasons[0].name;
}

Reason ReasonFromName(std::string_view name) {
  for (size_t i = 0; i < kReasons.size(); ++i) {
    if (kReasons[i].name == name) return static_cast<Reason>(i);
  }
  return Reason::kNone;
}

absl::StatusCode ReasonCode(Reason reason) {
  const auto index = static_cast<size_t>(reason);
  return index < kReasons.size() ? kReasons[index].code : absl::StatusCode::kInternal;
}

absl::Status MakeError(Reason reason, std::string_view message) {
  if (reason == Reason::kNone) return absl::OkStatus();
  absl::Status status(ReasonCode(reason), absl::string_view(message.data(), message.size()));
  std::string bytes;
  Put(bytes, static_cast<uint32_t>(reason));
  SetPayload(status, kReasonUrl, std::move(bytes));
  return status;
}

absl::Status MakeSqlError(Reason reason, const SqlError& error) {
  absl::Status status = MakeError(reason, error.message);
  std::string bytes;
  Put(bytes, error.message);
  Put(bytes, error.position.has_value() ? 1u : 0u);
  Put(bytes, error.position.value_or(0));
  Put(bytes, error.line);
  Put(bytes, error.column);
  Put(bytes, error.source_function);
  Put(bytes, error.source_file);
  Put(bytes, error.source_line);
  Put(bytes, error.context);
  SetPayload(status, kSqlErrorUrl, std::move(bytes));
  return status;
}

void AddErrorMetadata(absl::Status& status, std::string_view key, std::string_view value) {
  std::string bytes = Payload(status, kMetadataUrl).value_or(std::string());
  Put(bytes, key);
  Put(bytes, value);
  SetPayload(status, kMetadataUrl, std::move(bytes));
}

Reason ReasonOf(const absl::Status& status) {
  if (status.ok()) return Reason::kNone;
  const auto payload = Payload(status, kReasonUrl);
  if (!payload.has_value()) return Reason::kInternal;
  Reader reader{*payload};
  const uint32_t number = reader.Number();
  const bool known = reader.ok && number != 0 && number < kReasons.size();
  return known ? static_cast<Reason>(number) : Reason::kInternal;
}

std::optional<SqlError> SqlErrorOf(const absl::Status& status) {
  const auto payload = Payload(status, kSqlErrorUrl);
  if (!payload.has_value()) return std::nullopt;
  Reader reader{*payload};
  SqlError error;
  error.message = reader.Text();
  const bool has_position = reader.Number() != 0;
  const uint32_t position = reader.Number();
  if (has_position) error.position = position;
  error.line = reader.Number();
  error.column = reader.Number();
  error.source_function = reader.Text();
  error.source_file = reader.Text();
  error.source_line = reader.Number();
  error.context = reader.Text();
  if (!reader.ok) return std::nullopt;
  return error;
}

std::map<std::string, std::string> ErrorMetadataOf(const absl::Status& status) {
  std::map<std::string, std::string> metadata;
  const auto payload = Payload(status, kMetadataUrl);
  if (!payload.has_value()) return metadata;
  Reader reader{*payload};
  while (!reader.rest.empty()) {
    std::string key = reader.Text();
    std::string value = reader.Text();
    if (!reader.ok) break;
    metadata.insert_or_assign(std::move(key), std::move(value));
  }
  return metadata;
}

}  // namespace pgparsed
