// Where the SQL (or the tree) comes from: the argument, a file or standard input.
#pragma once

#include <optional>
#include <string>

#include "absl/status/statusor.h"

namespace pgparsed::cli {

// A text and its name in messages.
struct Input {
  std::string label;  // the file's name, "<query>" or "<stdin>"
  std::string text;
};

// `argument` if there is one, else `file`, else standard input; "-" is standard input in both.
// Blocks until all is read. When standard input is a terminal, `hint` is written to standard error
// first. A byte order mark at the start of a file or of standard input is left out, as psql does.
// kInvalidRequest when it cannot be read or is larger than any server takes.
absl::StatusOr<Input> ReadInput(const std::optional<std::string>& argument,
                                const std::optional<std::string>& file, const std::string& hint);

}  // namespace pgparsed::cli
