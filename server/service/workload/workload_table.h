// The aggregation of a query log: calls, grouped by the asked keys, and the report on them.
//
// Bounded. A table holds max_groups groups and max_bytes of memory. Groups are kept first come,
// first kept: what comes when there is no room goes into one row "other", so that totals always
// add up, and a group that is in the report has all of its calls in it. If the memory runs out
// nevertheless, because the sketches of the kept groups grow, the groups with the fewest calls are
// folded into "other" and no new ones are taken.
//
// Exact. As long as nothing is in "other", the report is a function of the set of entries: the
// reports on parts of a log, merged in any order, are byte for byte the report on the whole, if
// the parts number their queries as the whole does. Merging a report whose "other" is not empty
// keeps totals exact, but its groups may lack what other reports have folded.
//
// Where the table is a key, an entry counts once for each of its tables, and under the empty name
// when it has none; `queries` counts it once.
//
// Not thread-safe. Nothing blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "pgparsed/v1/streams.pb.h"
#include "service/workload/aggregate.h"

namespace pgparsed::service {

// The longest statement type or table name, and the longest text, in bytes. Longer ones are cut
// between characters. PostgreSQL's own names are at most 63 bytes, qualified ones 191.
inline constexpr size_t kMaxWorkloadNameBytes = 512;
inline constexpr size_t kMaxWorkloadTextBytes = 16u << 10;

inline constexpr uint32_t kDefaultWorkloadGroups = 100'000;

struct WorkloadOptions {
  // What the report says of itself; reports of another grammar are not merged.
  uint32_t grammar = 0;
  uint32_t postgres_version_num = 0;
  // At least one, none twice.
  std::vector<v1::WorkloadKey> keys;
  v1::WorkloadOrder order = v1::WORKLOAD_ORDER_UNSPECIFIED;
  // The most groups in the report. 0: all. A report that is to be merged later wants 0.
  uint32_t top = 0;
  // The most groups that are kept. 0: kDefaultWorkloadGroups.
  uint32_t max_groups = 0;
  // The most memory of the groups, in bytes, as the table reckons it. At least 1 MiB.
  size_t max_bytes = 256u << 20;
  // From 0 to 1; at most 100.
  std::vector<double> quantiles = {0.5, 0.95, 0.99};
};

// One entry of a log: `weight` equal calls.
struct WorkloadEntry {
  // What the keys need; the others are not looked at. A table that is named twice counts once.
  uint64_t fingerprint = 0;
  std::string_view statement_type;
  std::span<const std::string_view> tables;
  // Gives the normalized text; called when the entry is the first of its group, and only if the
  // fingerprint is a key. The view must stay valid until Add returns.
  absl::FunctionRef<std::string_view()> normalized;
  // Of one call, in microseconds.
  std::optional<uint64_t> duration_us;
  // Of one call.
  std::optional<uint64_t> rows;
  // 0: counted as a query, but in no group.
  uint64_t weight = 1;
  // The place in the log. Entries may come in any order.
  uint64_t index = 0;
};

class WorkloadTable {
 public:
  // kInvalidRequest when the options are not as they must be.
  static absl::StatusOr<std::unique_ptr<WorkloadTable>> Create(WorkloadOptions options);

  WorkloadTable(const WorkloadTable&) = delete;
  WorkloadTable& operator=(const WorkloadTable&) = delete;

  void Add(const WorkloadEntry& entry);

  // Counts a query that the parser refused.
  void AddError();

  // Merges a report that was made with the same keys and grammar. It may come from anybody:
  // kInvalidRequest when no table could have made it, and then nothing has changed. What follows
  // from the rest (quantiles, means, the order) is not read.
  absl::Status Merge(const v1::WorkloadReport& report);

  v1::WorkloadReport Report() const;

  size_t groups() const { return groups_.size(); }
  // What the groups take, as far as max_bytes is concerned.
  size_t memory_bytes() const { return bytes_; }

 private:
  struct KeyView {
    uint64_t fingerprint = 0;
    std::string_view statement_type;
    std::string_view table;
    auto operator<=>(const KeyView&) const = default;
  };
  struct Key {
    uint64_t fingerprint = 0;
    std::string statement_type;
    std::string table;
    operator KeyView() const { return {fingerprint, statement_type, table}; }
  };
  struct KeyHash {
    using is_transparent = void;
    size_t operator()(const KeyView& key) const;
  };
  struct KeyEqual {
    using is_transparent = void;
    bool operator()(const KeyView& a, const KeyView& b) const { return a == b; }
  };
  struct Group {
    Aggregate calls;
    std::string text;  // of the first query
  };
  using Groups = absl::flat_hash_map<Key, std::unique_ptr<Group>, KeyHash, KeyEqual>;

  explicit WorkloadTable(WorkloadOptions options);

  void AddTo(const KeyView& key, const WorkloadEntry& entry);

  // The group with this key, made if there is room; null: it belongs into other_.
  Group* Place(const KeyView& key);
  static size_t BytesOf(const Key& key, const Group& group);

  // Folds groups into other_ until their memory is well below the limit.
  void Shrink();

  absl::Status CheckHead(const v1::WorkloadReport& report) const;
  absl::StatusOr<KeyView> KeyOf(const v1::WorkloadGroup& group) const;

  // Whether `a` stands before `b` in the report.
  bool Before(const Groups::value_type& a, const Groups::value_type& b) const;
  void Write(const Groups::value_type& group, v1::WorkloadGroup& out) const;

  const WorkloadOptions options_;
  bool by_fingerprint_ = false;
  bool by_type_ = false;
  bool by_table_ = false;

  Groups groups_;
  size_t bytes_ = 0;
  bool full_ = false;  // memory ran out: no more groups

  Aggregate other_;
  absl::flat_hash_set<size_t> folded_;  // hashes of keys in other_, up to a limit
  uint64_t merged_other_groups_ = 0;    // the most that a merged report had folded

  uint64_t queries_ = 0;
  uint64_t errors_ = 0;
};

}  // namespace pgparsed::service
