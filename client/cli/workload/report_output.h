// Workload reports: as a table for people, as CSV, as JSON, as protobuf; and saved ones read again.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/output.h"
#include "pgparsed/v1/streams.pb.h"

namespace pgparsed::cli {

enum class ReportFormat {
  kTable,     // for people; its layout is no interface
  kCsv,       // a line for each group, one for what was folded; readable by programs, not by us
  kJson,      // protobuf's JSON of v1.WorkloadReport with the contract's field names, on one line
  kProtobuf,  // v1.WorkloadReport, serialized
};

// kInvalidRequest when protobuf is to go to a terminal.
//
// CSV has a header. The columns: "row" ("group" or "other"), the keys (fingerprints as 16
// hexadecimal digits), calls, timed_calls, total_duration_us, min_, max_, mean_ and, for each
// quantile, p50_duration_us and so on, total_rows, first_index, last_index, normalized_query.
// Fields about durations are empty where none is known.
absl::Status WriteReport(const v1::WorkloadReport& report, ReportFormat format, Output& out);

// Reads what WriteReport wrote as JSON or protobuf; "-" is standard input. Blocks. kInvalidRequest
// when it cannot be read or is no report. What the report says is not checked: the server does
// that when it is merged.
absl::StatusOr<v1::WorkloadReport> ReadReportFile(const std::string& path);

// "999 us", "1.23 ms", "12.3 s", "4.5 min", "6.7 h".
std::string ShortDuration(double microseconds);

// A 128-bit sum in decimal digits.
std::string Decimal(const v1::Sum128& sum);

}  // namespace pgparsed::cli
