// The corpus as statements: every .sql script below a directory, split as psql would.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace pgparsed::conformance {

struct CorpusScript {
  std::string file;  // Relative to the corpus directory.
  std::string text;
};

// Reads every script, in the order of the file names. Blocks on the file system.
absl::StatusOr<std::vector<CorpusScript>> LoadScripts(const std::string& directory);

struct CorpusStatement {
  std::string file;  // Relative to the corpus directory.
  size_t line = 1;   // Where it begins in the file.
  std::string sql;
};

// The statements of every script, in order. Blocks on the file system.
absl::StatusOr<std::vector<CorpusStatement>> LoadCorpus(const std::string& directory);

// True when `text` is well-formed UTF-8 without a NUL byte: what the service takes as a query.
bool IsQueryText(std::string_view text);

}  // namespace pgparsed::conformance
