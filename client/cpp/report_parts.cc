#include "cpp/report_parts.h"

#include <algorithm>
#include <utility>

namespace pgparsed::client {

ReportParts::ReportParts(v1::WorkloadReport report, size_t max_bytes)
    : report_(std::move(report)), max_bytes_(max_bytes) {}

uint64_t ReportParts::GroupedQueries() const {
  return report_.queries() - std::min(report_.errors(), report_.queries());
}

bool ReportParts::Next(v1::WorkloadReport& part) {
  if (over_) return false;
  google::protobuf::RepeatedPtrField<v1::WorkloadGroup> groups;
  groups.Swap(report_.mutable_groups());
  part = report_;
  groups.Swap(report_.mutable_groups());

  // A tag and a length stand before each group.
  constexpr size_t kOverhead = 6;
  size_t bytes = part.ByteSizeLong();
  const bool must_be_last = GroupedQueries() <= 1;
  while (next_ < report_.groups_size()) {
    v1::WorkloadGroup& group = *report_.mutable_groups(next_);
    bytes += group.ByteSizeLong() + kOverhead;
    if (!must_be_last && part.groups_size() > 0 && bytes > max_bytes_) break;
    part.add_groups()->Swap(&group);
    ++next_;
  }
  over_ = next_ == report_.groups_size();
  if (over_) return true;
  const uint64_t queries =
      std::min<uint64_t>(static_cast<uint64_t>(part.groups_size()), GroupedQueries() - 1);
  part.set_queries(queries);
  part.clear_errors();
  part.clear_other();
  part.clear_other_groups();
  report_.set_queries(report_.queries() - queries);
  return true;
}

}  // namespace pgparsed::client
