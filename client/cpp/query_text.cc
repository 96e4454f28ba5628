#include "cpp/query_text.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "pgparsed/errors.h"
#include "text/utf8.h"

namespace pgparsed::client {

absl::Status CheckQueryText(std::string_view query) {
  const std::optional<size_t> offset = text::FindInvalid(query);
  if (!offset.has_value()) return absl::OkStatus();
  absl::Status status = MakeError(
      Reason::kInvalidQueryText,
      absl::StrCat("the query holds ", query[*offset] == '\0' ? "a NUL byte" : "invalid UTF-8",
                   " at byte ", *offset, "; send valid UTF-8 without NUL bytes"));
  AddErrorMetadata(status, "byte", absl::StrCat(*offset));
  return status;
}

}  // namespace pgparsed::client
