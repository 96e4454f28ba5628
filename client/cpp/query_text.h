// What every query must be before it is sent. Pure functions.
#pragma once

#include <string_view>

#include "absl/status/status.h"

namespace pgparsed::client {

// kInvalidQueryText, with metadata "byte", for a NUL byte or invalid UTF-8. The server says the
// same; here it is found where no protobuf library complains about the text in a log first.
absl::Status CheckQueryText(std::string_view query);

}  // namespace pgparsed::client
