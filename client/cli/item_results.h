// The items of a stream's answers (ResultColumns), one by one.
//
// Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "pgparsed/v1/operations.pb.h"
#include "pgparsed/v1/streams.pb.h"

namespace pgparsed::cli {

// The errors of the items, for items that are asked for in ascending order. `results` must outlive
// this. Not thread-safe.
class ItemErrors {
 public:
  explicit ItemErrors(const v1::ResultColumns& results) : results_(results) {}

  // Those of one item; most items have none.
  std::vector<v1::OperationError> Of(uint32_t item);

 private:
  const v1::ResultColumns& results_;
  int next_ = 0;
};

// Whether one of the errors is that of the operation.
bool Failed(const std::vector<v1::OperationError>& errors, v1::Operation operation);

// An error as a status. An error of the SQL is the same for every operation; the others name
// theirs.
absl::Status StatusOf(const v1::OperationError& error);

// The result of an operation for which HasTextForm; empty if there is none. OPERATION_CHECK: "ok".
std::string ResultText(const v1::ResultColumns& results, int item, v1::Operation operation);

// For a column of a table: \n, \t, \r and \\ stand for what would break the line.
void AppendEscaped(std::string& out, std::string_view text);

}  // namespace pgparsed::cli
