#include "cli/item_results.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "cli/arguments.h"
#include "cli/json_output.h"
#include "cpp/rpc_errors.h"
#include "pgparsed/errors.h"

namespace pgparsed::cli {
namespace {

// A server that sends too short a column makes empty results, no fault.
template <typename Column>
std::string TextAt(const Column& column, int item) {
  return item < column.size() ? column.Get(item) : std::string();
}

}  // namespace

std::vector<v1::OperationError> ItemErrors::Of(uint32_t item) {
  std::vector<v1::OperationError> errors;
  while (next_ < results_.errors_size() && results_.errors(next_).item() < item) ++next_;
  while (next_ < results_.errors_size() && results_.errors(next_).item() == item) {
    errors.push_back(results_.errors(next_++).error());
  }
  return errors;
}

bool Failed(const std::vector<v1::OperationError>& errors, v1::Operation operation) {
  return std::any_of(errors.begin(), errors.end(), [operation](const v1::OperationError& error) {
    return error.operation() == operation || error.operation() == v1::OPERATION_UNSPECIFIED;
  });
}

absl::Status StatusOf(const v1::OperationError& error) {
  Reason reason = ReasonFromName(error.reason());
  if (reason == Reason::kNone) reason = Reason::kInternal;
  if (error.has_sql_error()) return MakeSqlError(reason, client::FromProto(error.sql_error()));
  if (error.operation() == v1::OPERATION_UNSPECIFIED) return MakeError(reason, error.message());
  return MakeError(reason, absl::StrCat(OperationName(error.operation()), ": ", error.message()));
}

std::string ResultText(const v1::ResultColumns& results, int item, v1::Operation operation) {
  switch (operation) {
    case v1::OPERATION_CHECK:
      return "ok";
    case v1::OPERATION_FINGERPRINT:
      return item < results.fingerprints_size() ? FingerprintHex(results.fingerprints(item))
                                                : std::string();
    case v1::OPERATION_NORMALIZE:
      return TextAt(results.normalized(), item);
    case v1::OPERATION_FORMAT:
      return TextAt(results.formatted(), item);
    case v1::OPERATION_PARSE:
      return TextAt(results.trees(), item);
    case v1::OPERATION_PARSE_PLPGSQL:
      return TextAt(results.plpgsql_json(), item);
    default:
      return {};
  }
}

void AppendEscaped(std::string& out, std::string_view text) {
  while (true) {
    const size_t at = text.find_first_of("\n\t\r\\");
    out.append(text.substr(0, at));
    if (at == std::string_view::npos) return;
    out += '\\';
    out += text[at] == '\n' ? 'n' : text[at] == '\t' ? 't' : text[at] == '\r' ? 'r' : '\\';
    text.remove_prefix(at + 1);
  }
}

}  // namespace pgparsed::cli
