#include "service/workload_stream.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "pgparsed/errors.h"

namespace pgparsed::service {
namespace {

// Places are remembered of so many groups; further ones would be in "other" anyhow.
constexpr size_t kMostFirstPlaces = 2'000'000;

absl::StatusOr<v1::ResultColumns> Decode(const absl::StatusOr<ItemAnswer>& answer) {
  if (!answer.ok()) return answer.status();
  std::string joined;
  for (const std::string& part : answer->columns) joined += part;
  v1::ResultColumns columns;
  if (!columns.ParseFromString(joined)) {
    return MakeError(Reason::kInternal, "a worker's results are no message of the contract");
  }
  return columns;
}

uint64_t WeightOf(const WorkloadChunk& chunk, uint32_t at) {
  return chunk.weight.empty() ? 1 : chunk.weight[at];
}

// Which items failed.
std::vector<bool> FailedItems(const v1::ResultColumns& columns, size_t count) {
  std::vector<bool> failed(count, false);
  for (const v1::ItemError& error : columns.errors()) {
    if (error.item() < count) failed[error.item()] = true;
  }
  return failed;
}

// The keys of one query. Views of the columns.
struct Keys {
  uint64_t fingerprint = 0;
  std::string_view statement_type;
  std::vector<std::string> names;  // of the tables
  std::vector<std::string_view> tables;
};

Keys KeysOf(const v1::ResultColumns& columns, int item) {
  Keys keys;
  if (item < columns.fingerprints_size()) keys.fingerprint = columns.fingerprints(item);
  if (item >= columns.summaries_size()) return keys;
  const v1::Summary& summary = columns.summaries(item);
  if (summary.statement_types_size() > 0) keys.statement_type = summary.statement_types(0);
  for (const v1::Summary::Table& table : summary.tables()) {
    keys.names.push_back(table.schema().empty() ? table.name()
                                                : absl::StrCat(table.schema(), ".", table.name()));
  }
  keys.tables.assign(keys.names.begin(), keys.names.end());
  return keys;
}

size_t HashOf(const Keys& keys) {
  size_t hash = absl::HashOf(keys.fingerprint, std::string(keys.statement_type));
  for (const std::string& name : keys.names) hash = absl::HashOf(hash, name);
  return hash;
}

}  // namespace

absl::StatusOr<std::shared_ptr<WorkloadStream>> WorkloadStream::Create(
    Backend& backend, const v1::AggregateWorkloadRequest::Options& options, absl::Time deadline,
    Callbacks callbacks) {
  WorkloadOptions table_options;
  v1::StreamOptions keys_options;
  keys_options.set_grammar(options.grammar());
  *keys_options.mutable_fingerprint_options() = options.fingerprint_options();
  bool by_fingerprint = false;
  bool by_summary = false;
  for (const int key : options.keys()) {
    table_options.keys.push_back(static_cast<v1::WorkloadKey>(key));
    (key == v1::WORKLOAD_KEY_FINGERPRINT ? by_fingerprint : by_summary) = true;
  }
  if (by_fingerprint) keys_options.add_operations(v1::OPERATION_FINGERPRINT);
  if (by_summary) keys_options.add_operations(v1::OPERATION_SUMMARIZE);
  auto keys = backend.Open(keys_options, deadline);
  if (!keys.ok()) return keys.status();
  table_options.grammar = keys->grammar;
  table_options.postgres_version_num = keys->postgres_version_num;
  table_options.order = options.order();
  table_options.top = options.top();
  table_options.max_groups = options.max_groups();
  auto table = WorkloadTable::Create(std::move(table_options));
  if (!table.ok()) return table.status();

  Backend::OpenStream texts;
  if (by_fingerprint) {
    v1::StreamOptions texts_options;
    texts_options.set_grammar(options.grammar());
    texts_options.add_operations(v1::OPERATION_NORMALIZE);
    auto opened = backend.Open(texts_options, deadline);
    if (!opened.ok()) return opened.status();
    texts = *std::move(opened);
  }
  return std::shared_ptr<WorkloadStream>(new WorkloadStream(
      *std::move(keys), std::move(texts), *std::move(table), std::move(callbacks)));
}

absl::Status WorkloadStream::Add(WorkloadChunk chunk) {
  const size_t count = chunk.queries.size();
  for (const auto* column : {&chunk.duration_us, &chunk.rows, &chunk.weight}) {
    if (column->empty() || column->size() == count) continue;
    return MakeError(Reason::kInvalidRequest,
                     absl::StrCat("a chunk has ", count, " queries and a column of ",
                                  column->size(), " entries; send one for each query, or none"));
  }
  auto pending = std::make_shared<Pending>();
  pending->first_index = chunk.first_index.value_or(next_index_);
  next_index_ = pending->first_index + count;
  pending->chunk = std::move(chunk);
  {
    sync::MutexLock lock(mutex_);
    if (ended_) return absl::OkStatus();
    pending_.push_back(pending);
  }
  keys_.items->Add(pending->chunk.queries, pending->chunk.owner,
                   [self = shared_from_this(), pending](absl::StatusOr<ItemAnswer> answer) {
                     absl::StatusOr<v1::ResultColumns> columns = Decode(answer);
                     if (!columns.ok()) return self->Fail(columns.status());
                     {
                       sync::MutexLock lock(self->mutex_);
                       pending->keys = *std::move(columns);
                       pending->phase = Phase::kHasKeys;
                     }
                     self->Work();
                   });
  return absl::OkStatus();
}

absl::Status WorkloadStream::Merge(const v1::WorkloadReport& report) {
  sync::MutexLock lock(table_mutex_);
  return table_->Merge(report);
}

void WorkloadStream::Finish() {
  {
    sync::MutexLock lock(mutex_);
    finished_ = true;
  }
  Work();
}

bool WorkloadStream::HasRoom() {
  sync::MutexLock lock(mutex_);
  room_wanted_ = pending_.size() >= keys_.chunks_in_flight;
  return !room_wanted_;
}

void WorkloadStream::Cancel() {
  {
    sync::MutexLock lock(mutex_);
    ended_ = true;
  }
  keys_.items->Cancel();
  if (texts_.items != nullptr) texts_.items->Cancel();
}

void WorkloadStream::Fail(const absl::Status& status) {
  {
    sync::MutexLock lock(mutex_);
    if (std::exchange(ended_, true)) return;
  }
  callbacks_.done(status);
}

// Takes chunks that are ready in their order, on one thread at a time.
void WorkloadStream::Work() {
  {
    sync::MutexLock lock(mutex_);
    if (working_) {
      work_again_ = true;
      return;
    }
    working_ = true;
  }
  bool end = false;
  for (;;) {
    std::shared_ptr<Pending> next;
    Phase phase = Phase::kRunning;
    bool room = false;
    {
      sync::MutexLock lock(mutex_);
      work_again_ = false;
      if (!ended_ && !pending_.empty()) {
        phase = pending_.front()->phase;
        if (phase == Phase::kHasKeys || phase == Phase::kComplete) next = pending_.front();
      }
      if (phase == Phase::kComplete) {
        pending_.pop_front();
        room = pending_.size() < keys_.chunks_in_flight && std::exchange(room_wanted_, false);
      }
      if (next == nullptr) {
        working_ = false;
        end = finished_ && pending_.empty() && !std::exchange(ended_, true);
        break;
      }
    }
    if (phase == Phase::kHasKeys) {
      Normalize(*next);
    } else {
      Aggregate(*next);
      if (room) callbacks_.room();
    }
  }
  if (!end) return;
  v1::WorkloadReport report;
  {
    sync::MutexLock lock(table_mutex_);
    report = table_->Report();
  }
  callbacks_.done(std::move(report));
}

// Asks for the texts of the groups that no query before belonged to.
void WorkloadStream::Normalize(Pending& pending) {
  std::vector<std::string_view> texts;
  if (texts_.items != nullptr) {
    const std::vector<bool> failed = FailedItems(pending.keys, pending.chunk.queries.size());
    for (uint32_t i = 0; i < pending.chunk.queries.size(); ++i) {
      if (failed[i] || WeightOf(pending.chunk, i) == 0) continue;  // in no group
      const size_t hash = HashOf(KeysOf(pending.keys, static_cast<int>(i)));
      const uint64_t place = pending.first_index + i;
      const auto known = first_places_.find(hash);
      if (known == first_places_.end()) {
        if (first_places_.size() >= kMostFirstPlaces) continue;
        first_places_.emplace(hash, place);
      } else if (place >= known->second) {
        continue;
      } else {
        known->second = place;
      }
      pending.wanted.push_back(i);
      texts.push_back(pending.chunk.queries[i]);
    }
  }
  {
    sync::MutexLock lock(mutex_);
    pending.phase = texts.empty() ? Phase::kComplete : Phase::kNormalizing;
  }
  if (texts.empty()) return;
  std::shared_ptr<Pending> keep;
  {
    sync::MutexLock lock(mutex_);
    keep = pending_.front();
  }
  texts_.items->Add(std::move(texts), keep->chunk.owner,
                    [self = shared_from_this(), keep](absl::StatusOr<ItemAnswer> answer) {
                      absl::StatusOr<v1::ResultColumns> columns = Decode(answer);
                      if (!columns.ok()) return self->Fail(columns.status());
                      {
                        sync::MutexLock lock(self->mutex_);
                        keep->texts = *std::move(columns);
                        keep->phase = Phase::kComplete;
                      }
                      self->Work();
                    });
}

void WorkloadStream::Aggregate(const Pending& pending) {
  const WorkloadChunk& chunk = pending.chunk;
  const std::vector<bool> failed = FailedItems(pending.keys, chunk.queries.size());
  size_t next_text = 0;
  sync::MutexLock lock(table_mutex_);
  for (uint32_t i = 0; i < chunk.queries.size(); ++i) {
    std::string_view text;
    if (next_text < pending.wanted.size() && pending.wanted[next_text] == i) {
      const int at = static_cast<int>(next_text++);
      if (at < pending.texts.normalized_size()) text = pending.texts.normalized(at);
    }
    if (failed[i]) {
      table_->AddError();
      continue;
    }
    const Keys keys = KeysOf(pending.keys, static_cast<int>(i));
    const auto normalized = [&text] { return text; };
    WorkloadEntry entry{.fingerprint = keys.fingerprint,
                        .statement_type = keys.statement_type,
                        .tables = keys.tables,
                        .normalized = normalized,
                        .index = pending.first_index + i};
    if (!chunk.duration_us.empty()) entry.duration_us = chunk.duration_us[i];
    if (!chunk.rows.empty()) entry.rows = chunk.rows[i];
    entry.weight = WeightOf(chunk, i);
    table_->Add(entry);
  }
}

}  // namespace pgparsed::service
