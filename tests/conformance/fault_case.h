// A case of a known fault, as faults.jsonl has it (its README says what the fields mean).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "absl/status/statusor.h"

namespace pgparsed::conformance {

struct FaultCase {
  std::string id;
  std::string op;
  std::vector<uint32_t> grammars;
  std::string sql;  // Given, or generated; any bytes.
  nlohmann::json expect;
};

// Reads every line of the file.
absl::StatusOr<std::vector<FaultCase>> LoadFaultCases(const std::string& path);

}  // namespace pgparsed::conformance
