// Reads what pg_query_scan gives, a serialized pg_query.ScanResult, by the grammar's own
// pg_query.proto, so that tokens can be compared by name.
//
// Thread-safe after Load.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace pgparsed::conformance {

struct ScannedToken {
  uint32_t start = 0;  // Bytes from 0.
  uint32_t end = 0;
  uint32_t token = 0;
  uint32_t keyword_kind = 0;  // The library's number: 0 none, 1 unreserved, … 4 reserved.
  std::string name;           // Empty where the grammar's enum has none: a stray { or }.
};

class ScanTokenReader {
 public:
  // `proto` is the path of the grammar's pg_query.proto.
  static absl::StatusOr<std::unique_ptr<ScanTokenReader>> Load(const std::string& proto);

  virtual ~ScanTokenReader() = default;

  // An error when the bytes are no ScanResult.
  virtual absl::StatusOr<std::vector<ScannedToken>> Read(const std::string& scan_result) const = 0;
};

}  // namespace pgparsed::conformance
