// Reports that are larger than a server takes in one message.
#pragma once

#include <cstddef>
#include <cstdint>

#include "pgparsed/v1/streams.pb.h"

namespace pgparsed::client {

// Cuts a report into parts that merge to what the whole one does. Each is a report on its own: it
// has some of the groups and at least as many queries as the server wants to see with them, which
// is one for each group as long as there are so many. The last one has what is left, errors and
// "other".
class ReportParts {
 public:
  // A part is larger than `max_bytes` only if a single group is, or if there are not enough queries
  // for more parts.
  ReportParts(v1::WorkloadReport report, size_t max_bytes);

  // False when there is no further part; the first one is always there.
  bool Next(v1::WorkloadReport& part);

 private:
  uint64_t GroupedQueries() const;

  v1::WorkloadReport report_;  // what is not given yet; groups before next_ are empty
  const size_t max_bytes_;
  int next_ = 0;
  bool over_ = false;
};

}  // namespace pgparsed::client
