#include "service/workload/workload_table.h"

#include <algorithm>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "pgparsed/errors.h"
#include "service/workload/saturating.h"
#include "text/views.h"

namespace pgparsed::service {
namespace {

constexpr size_t kMinBytes = 1u << 20;
constexpr int kMaxQuantiles = 100;
// How many folded groups are told apart; more are counted as so many "at least".
constexpr size_t kMaxFolded = 100'000;
// What the hash table and the allocator take for a group besides its own parts.
constexpr size_t kGroupOverhead = 64;

absl::Status Invalid(std::string_view why) { return MakeError(Reason::kInvalidRequest, why); }

// At most `most` bytes, cut between characters.
std::string_view Cut(std::string_view text, size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<uint8_t>(text[most]) & 0xC0) == 0x80) --most;
  return text.substr(0, most);
}

}  // namespace

size_t WorkloadTable::KeyHash::operator()(const KeyView& key) const {
  return absl::HashOf(key.fingerprint, text::ToAbsl(key.statement_type), text::ToAbsl(key.table));
}

absl::StatusOr<std::unique_ptr<WorkloadTable>> WorkloadTable::Create(WorkloadOptions options) {
  if (options.keys.empty()) return Invalid("a workload needs at least one key to group by");
  std::vector<v1::WorkloadKey> keys = options.keys;
  std::sort(keys.begin(), keys.end());
  if (std::adjacent_find(keys.begin(), keys.end()) != keys.end()) {
    return Invalid("a key of a workload is named twice");
  }
  for (const v1::WorkloadKey key : keys) {
    if (key == v1::WORKLOAD_KEY_UNSPECIFIED || !v1::WorkloadKey_IsValid(key)) {
      return Invalid(absl::StrCat("there is no workload key ", static_cast<int>(key)));
    }
  }
  if (!v1::WorkloadOrder_IsValid(options.order)) {
    return Invalid(absl::StrCat("there is no workload order ", static_cast<int>(options.order)));
  }
  if (options.quantiles.size() > kMaxQuantiles ||
      !std::all_of(options.quantiles.begin(), options.quantiles.end(),
                   [](double q) { return q >= 0 && q <= 1; })) {
    return Invalid("quantiles of a workload are at most 100 numbers from 0 to 1");
  }
  if (options.max_groups == 0) options.max_groups = kDefaultWorkloadGroups;
  options.max_bytes = std::max(options.max_bytes, kMinBytes);
  return std::unique_ptr<WorkloadTable>(new WorkloadTable(std::move(options)));
}

WorkloadTable::WorkloadTable(WorkloadOptions options) : options_(std::move(options)) {
  for (const v1::WorkloadKey key : options_.keys) {
    by_fingerprint_ |= key == v1::WORKLOAD_KEY_FINGERPRINT;
    by_type_ |= key == v1::WORKLOAD_KEY_STATEMENT_TYPE;
    by_table_ |= key == v1::WORKLOAD_KEY_TABLE;
  }
}

void WorkloadTable::Add(const WorkloadEntry& entry) {
  queries_ = SaturatingAdd(queries_, 1);
  if (entry.weight == 0) return;
  KeyView key;
  if (by_fingerprint_) key.fingerprint = entry.fingerprint;
  if (by_type_) key.statement_type = Cut(entry.statement_type, kMaxWorkloadNameBytes);
  if (!by_table_ || entry.tables.empty()) {
    AddTo(key, entry);
  } else if (entry.tables.size() == 1) {
    key.table = Cut(entry.tables.front(), kMaxWorkloadNameBytes);
    AddTo(key, entry);
  } else {
    std::vector<std::string_view> tables;
    tables.reserve(entry.tables.size());
    for (const std::string_view table : entry.tables) {
      tables.push_back(Cut(table, kMaxWorkloadNameBytes));
    }
    std::sort(tables.begin(), tables.end());
    tables.erase(std::unique(tables.begin(), tables.end()), tables.end());
    for (const std::string_view table : tables) {
      key.table = table;
      AddTo(key, entry);
    }
  }
  if (bytes_ > options_.max_bytes) Shrink();
}

void WorkloadTable::AddError() {
  queries_ = SaturatingAdd(queries_, 1);
  errors_ = SaturatingAdd(errors_, 1);
}

void WorkloadTable::AddTo(const KeyView& key, const WorkloadEntry& entry) {
  Group* const group = Place(key);
  Aggregate& calls = group != nullptr ? group->calls : other_;
  if (group != nullptr && by_fingerprint_ &&
      (calls.calls() == 0 || entry.index < calls.first_index())) {
    bytes_ -= group->text.capacity();
    group->text = std::string(Cut(entry.normalized(), kMaxWorkloadTextBytes));
    bytes_ += group->text.capacity();
  }
  const size_t before = calls.MemoryBytes();
  calls.Add(entry.duration_us, entry.rows, entry.weight, entry.index);
  if (group != nullptr) bytes_ += calls.MemoryBytes() - before;
}

WorkloadTable::Group* WorkloadTable::Place(const KeyView& key) {
  const auto found = groups_.find(key);
  if (found != groups_.end()) return found->second.get();
  if (full_ || groups_.size() >= options_.max_groups) {
    if (folded_.size() < kMaxFolded) folded_.insert(KeyHash()(key));
    return nullptr;
  }
  const auto made =
      groups_
          .emplace(Key{key.fingerprint, std::string(key.statement_type), std::string(key.table)},
                   std::make_unique<Group>())
          .first;
  bytes_ += BytesOf(made->first, *made->second);
  return made->second.get();
}

size_t WorkloadTable::BytesOf(const Key& key, const Group& group) {
  return sizeof(Groups::value_type) + sizeof(Group) + kGroupOverhead +
         key.statement_type.capacity() + key.table.capacity() + group.text.capacity() +
         group.calls.MemoryBytes();
}

void WorkloadTable::Shrink() {
  full_ = true;
  std::vector<Groups::iterator> order;
  order.reserve(groups_.size());
  for (auto at = groups_.begin(); at != groups_.end(); ++at) order.push_back(at);
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    if (a->second->calls.calls() != b->second->calls.calls()) {
      return a->second->calls.calls() < b->second->calls.calls();
    }
    return KeyView(a->first) > KeyView(b->first);
  });
  for (const Groups::iterator at : order) {
    if (bytes_ <= options_.max_bytes / 4 * 3) break;
    other_.Merge(at->second->calls);
    if (folded_.size() < kMaxFolded) folded_.insert(KeyHash()(at->first));
    bytes_ -= BytesOf(at->first, *at->second);
    groups_.erase(at);
  }
}

absl::Status WorkloadTable::CheckHead(const v1::WorkloadReport& report) const {
  if (report.grammar() != options_.grammar) {
    return Invalid(absl::StrCat("a report of grammar ", report.grammar(),
                                " cannot be merged into one of grammar ", options_.grammar));
  }
  std::vector<int> theirs(report.keys().begin(), report.keys().end());
  std::vector<int> ours(options_.keys.begin(), options_.keys.end());
  std::sort(theirs.begin(), theirs.end());
  std::sort(ours.begin(), ours.end());
  if (theirs != ours) return Invalid("a report with other keys cannot be merged");
  if (report.errors() > report.queries()) {
    return Invalid("a report with more errors than queries");
  }
  const uint64_t grouped = report.queries() - report.errors();
  if (grouped == 0 && (report.groups_size() > 0 || report.has_other())) {
    return Invalid("a report with groups but without queries");
  }
  if (!by_table_ && static_cast<uint64_t>(report.groups_size()) > grouped) {
    return Invalid("a report with more groups than queries");
  }
  const v1::WorkloadGroup& other = report.other();
  if ((other.calls() == 0) != (report.other_groups() == 0)) {
    return Invalid("a report whose folded calls and folded groups do not fit together");
  }
  if (other.fingerprint() != 0 || !other.statement_type().empty() || !other.table().empty() ||
      !other.normalized_query().empty()) {
    return Invalid("a report whose folded groups have a key");
  }
  return absl::OkStatus();
}

absl::StatusOr<WorkloadTable::KeyView> WorkloadTable::KeyOf(const v1::WorkloadGroup& group) const {
  if ((!by_fingerprint_ && (group.fingerprint() != 0 || !group.normalized_query().empty())) ||
      (!by_type_ && !group.statement_type().empty()) || (!by_table_ && !group.table().empty())) {
    return Invalid("a group with a value of a key that the report does not have");
  }
  if (group.statement_type().size() > kMaxWorkloadNameBytes ||
      group.table().size() > kMaxWorkloadNameBytes) {
    return Invalid("a group whose name is too long");
  }
  if (group.normalized_query().size() > kMaxWorkloadTextBytes) {
    return Invalid("a group whose text is too long");
  }
  return KeyView{group.fingerprint(), group.statement_type(), group.table()};
}

absl::Status WorkloadTable::Merge(const v1::WorkloadReport& report) {
  if (const absl::Status head = CheckHead(report); !head.ok()) return head;
  absl::StatusOr<Aggregate> other = Aggregate::FromProto(report.other());
  if (!other.ok()) return other.status();
  std::vector<std::pair<KeyView, Aggregate>> groups;
  groups.reserve(static_cast<size_t>(report.groups_size()));
  absl::flat_hash_set<KeyView, KeyHash, KeyEqual> seen;
  seen.reserve(static_cast<size_t>(report.groups_size()));
  for (const v1::WorkloadGroup& group : report.groups()) {
    const absl::StatusOr<KeyView> key = KeyOf(group);
    if (!key.ok()) return key.status();
    if (group.calls() == 0) return Invalid("a group without calls");
    if (!seen.insert(*key).second) return Invalid("a report that has a group twice");
    absl::StatusOr<Aggregate> calls = Aggregate::FromProto(group);
    if (!calls.ok()) return calls.status();
    groups.emplace_back(*key, *std::move(calls));
  }

  queries_ = SaturatingAdd(queries_, report.queries());
  errors_ = SaturatingAdd(errors_, report.errors());
  other_.Merge(*other);
  merged_other_groups_ = std::max(merged_other_groups_, report.other_groups());
  for (size_t i = 0; i < groups.size(); ++i) {
    const auto& [key, theirs] = groups[i];
    Group* const group = Place(key);
    if (group == nullptr) {
      other_.Merge(theirs);
      continue;
    }
    const std::string& text = report.groups(static_cast<int>(i)).normalized_query();
    // Of equal places, which only different logs have, the smaller text wins: in any order.
    if (theirs.first_index() < group->calls.first_index() || group->calls.calls() == 0 ||
        (theirs.first_index() == group->calls.first_index() && text < group->text)) {
      bytes_ -= group->text.capacity();
      group->text = std::string(text);
      bytes_ += group->text.capacity();
    }
    bytes_ -= group->calls.MemoryBytes();
    group->calls.Merge(theirs);
    bytes_ += group->calls.MemoryBytes();
    if (bytes_ > options_.max_bytes) Shrink();
  }
  return absl::OkStatus();
}

bool WorkloadTable::Before(const Groups::value_type& a, const Groups::value_type& b) const {
  const Aggregate& left = a.second->calls;
  const Aggregate& right = b.second->calls;
  switch (options_.order) {
    case v1::WORKLOAD_ORDER_MEAN_DURATION:
      if (LongerMean(left, right)) return true;
      if (LongerMean(right, left)) return false;
      break;
    case v1::WORKLOAD_ORDER_MAX_DURATION:
      if (left.max_duration_us() != right.max_duration_us()) {
        return left.max_duration_us() > right.max_duration_us();
      }
      break;
    case v1::WORKLOAD_ORDER_ROWS:
      if (left.total_rows() != right.total_rows()) return left.total_rows() > right.total_rows();
      break;
    case v1::WORKLOAD_ORDER_CALLS:
      break;
    default:
      if (left.total_duration_us() != right.total_duration_us()) {
        return left.total_duration_us() > right.total_duration_us();
      }
  }
  if (left.calls() != right.calls()) return left.calls() > right.calls();
  return KeyView(a.first) < KeyView(b.first);
}

void WorkloadTable::Write(const Groups::value_type& group, v1::WorkloadGroup& out) const {
  out.set_fingerprint(group.first.fingerprint);
  out.set_statement_type(group.first.statement_type);
  out.set_table(group.first.table);
  out.set_normalized_query(group.second->text);
  group.second->calls.ToProto(options_.quantiles, out);
}

v1::WorkloadReport WorkloadTable::Report() const {
  v1::WorkloadReport report;
  report.set_grammar(options_.grammar);
  report.set_postgres_version_num(options_.postgres_version_num);
  for (const v1::WorkloadKey key : options_.keys) report.add_keys(key);
  report.set_queries(queries_);
  report.set_errors(errors_);
  report.mutable_quantiles()->Add(options_.quantiles.begin(), options_.quantiles.end());
  report.set_quantile_error(QuantileSketch::kRelativeError);

  std::vector<const Groups::value_type*> order;
  order.reserve(groups_.size());
  for (const Groups::value_type& group : groups_) order.push_back(&group);
  std::sort(order.begin(), order.end(),
            [this](const auto* a, const auto* b) { return Before(*a, *b); });
  const size_t shown =
      options_.top == 0 ? order.size() : std::min<size_t>(options_.top, order.size());
  report.mutable_groups()->Reserve(static_cast<int>(shown));
  for (size_t i = 0; i < shown; ++i) Write(*order[i], *report.add_groups());

  Aggregate other = other_;
  for (size_t i = shown; i < order.size(); ++i) other.Merge(order[i]->second->calls);
  if (other.calls() > 0) {
    other.ToProto(options_.quantiles, *report.mutable_other());
    // The groups that were folded here are different ones; those of a merged report may be the
    // same.
    report.set_other_groups(
        std::max<uint64_t>(merged_other_groups_, folded_.size() + (order.size() - shown)));
  }
  return report;
}

}  // namespace pgparsed::service
