#include "tests/conformance/expected_failures.h"

#include <fstream>
#include <sstream>

#include "absl/status/status.h"

namespace pgparsed::conformance {

absl::StatusOr<ExpectedFailures> ExpectedFailures::Read(const std::string& path, uint32_t grammar) {
  std::ifstream in(path);
  if (!in) return absl::NotFoundError("cannot read " + path);
  ExpectedFailures failures;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string id;
    std::string for_grammar;
    std::string reason;
    words >> id >> for_grammar >> std::ws;
    if (!std::getline(words, reason) || reason.empty()) {
      return absl::InvalidArgumentError("an expected failure needs id, grammar and reason: " +
                                        line);
    }
    if (for_grammar != "*" && for_grammar != std::to_string(grammar)) continue;
    if (!failures.reasons_.emplace(id, reason).second) {
      return absl::InvalidArgumentError("listed twice: " + line);
    }
  }
  return failures;
}

const std::string* ExpectedFailures::Reason(const std::string& id) const {
  const auto found = reasons_.find(id);
  return found == reasons_.end() ? nullptr : &found->second;
}

}  // namespace pgparsed::conformance
