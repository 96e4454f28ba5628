// What chaos clients ask, with the answers that libpg_query itself gives.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace pgparsed::chaos {

struct Query {
  std::string sql;
  bool parses = false;
  // Where it parses.
  std::string json;
  std::string protobuf;
  uint64_t fingerprint = 0;
};

// `count` statements of the corpus, spread over it, asked of the oracle of a grammar beforehand.
absl::StatusOr<std::vector<Query>> LoadQueries(const std::string& corpus, const std::string& oracle,
                                               size_t count);

}  // namespace pgparsed::chaos
