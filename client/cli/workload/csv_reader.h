// Records of a CSV file, as RFC 4180 defines them: fields may be quoted, a quoted field may hold
// commas, line breaks and doubled quotes. Lines end with \n or \r\n. Empty lines are skipped.
//
// Not thread-safe. Reading blocks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/workload/log_input.h"

namespace pgparsed::cli {

struct CsvRecord {
  std::vector<std::string> fields;
  uint64_t line = 0;              // where it begins, from 1
  const char* problem = nullptr;  // what is wrong with it: there are no fields then
};

class CsvReader {
 public:
  // `input` must outlive this.
  explicit CsvReader(LogInput& input) : input_(input) {}

  // False: the end. A malformed record has a problem; the next one begins on the next line. Errors
  // are those of the input.
  absl::StatusOr<bool> Next(CsvRecord& record);

 private:
  LogInput& input_;
};

// The fields of the record that `text` begins with; empty if that is malformed or does not end in
// `text`.
std::vector<std::string> FirstCsvRecord(std::string_view text);

}  // namespace pgparsed::cli
