// Reads the queries of a batch, one by one and in constant memory.
//
// Not thread-safe. Reading blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/arguments.h"
#include "cli/workload/log_input.h"

namespace pgparsed::cli {

// A query, or why there is none.
struct QueryItem {
  std::string query;
  uint64_t line = 0;    // where it begins in the file, from 1
  absl::Status status;  // not OK: no query, but the item counts
};

class QueryReader {
 public:
  // "-" is standard input. kInvalidRequest when the file cannot be opened. `max_bytes` is the
  // longest query that the server takes.
  static absl::StatusOr<std::unique_ptr<QueryReader>> Open(const std::string& path,
                                                           QueryFormat format, uint64_t max_bytes);

  // The next item; false: there is none. An item whose text the server would not take at all has a
  // status: kInvalidQueryText, kQueryTooLarge, and kInvalidRequest for what is no JSON object with
  // a query. An empty line is an empty query, but not in JSON lines, which may be empty. The error
  // is that of reading.
  absl::StatusOr<bool> Next(QueryItem& item);

  const LogInput& input() const { return *input_; }

 private:
  QueryReader(std::unique_ptr<LogInput> input, QueryFormat format, uint64_t max_bytes)
      : input_(std::move(input)), format_(format), max_bytes_(max_bytes) {}

  const std::unique_ptr<LogInput> input_;
  const QueryFormat format_;
  const uint64_t max_bytes_;
  uint64_t next_line_ = 1;  // of the next query; for kNul only
};

}  // namespace pgparsed::cli
