// The cases of known faults that do not pass yet: the list that only shrinks.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"

namespace pgparsed::conformance {

class ExpectedFailures {
 public:
  // Reads lines "<case id> <grammar, or *> <reason>"; '#' begins a comment line.
  static absl::StatusOr<ExpectedFailures> Read(const std::string& path, uint32_t grammar);

  // The reason that the case fails in this grammar; nullptr when it must pass.
  const std::string* Reason(const std::string& id) const;

  // Every id listed for this grammar.
  const std::map<std::string, std::string>& all() const { return reasons_; }

 private:
  std::map<std::string, std::string> reasons_;
};

}  // namespace pgparsed::conformance
