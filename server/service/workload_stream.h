// AggregateWorkload without its door: chunks of a query log and earlier reports in, one report out.
//
// Each chunk is run twice. The first time for all queries: their keys (fingerprint, statement type,
// tables). The second time for the few whose group is new: their normalized text, which no other
// query of the group needs. Chunks are aggregated in their order.
//
// Add, Merge and Finish are called by one thread at a time, everything else by any. Callbacks come on
// threads of the pool, or before a call returns, one at a time, and must not block.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "pgparsed/v1/streams.pb.h"
#include "service/backend.h"
#include "service/item_stream.h"
#include "service/workload/workload_table.h"
#include "sync/mutex.h"

namespace pgparsed::service {

// A part of a log. The columns are empty or have an entry for each query.
struct WorkloadChunk {
  std::vector<std::string_view> queries;
  std::vector<uint64_t> duration_us;
  std::vector<uint64_t> rows;
  std::vector<uint64_t> weight;
  // The place of the first query; nullopt: behind the last chunk.
  std::optional<uint64_t> first_index;
  // Keeps the queries.
  std::shared_ptr<const void> owner;
};

class WorkloadStream : public std::enable_shared_from_this<WorkloadStream> {
 public:
  struct Callbacks {
    // The report, after Finish, or an error at any time. Once; the end of the stream.
    std::function<void(absl::StatusOr<v1::WorkloadReport>)> done;
    // HasRoom is true again.
    std::function<void()> room;
  };

  // kInvalidRequest, kUnsupportedGrammar.
  static absl::StatusOr<std::shared_ptr<WorkloadStream>> Create(
      Backend& backend, const v1::AggregateWorkloadRequest::Options& options, absl::Time deadline,
      Callbacks callbacks);

  // kInvalidRequest when a column has another length than the queries.
  absl::Status Add(WorkloadChunk chunk) ABSL_LOCKS_EXCLUDED(mutex_);
  absl::Status Merge(const v1::WorkloadReport& report) ABSL_LOCKS_EXCLUDED(mutex_);
  void Finish() ABSL_LOCKS_EXCLUDED(mutex_);

  // Whether more chunks may be added. If not, `room` is called when they may.
  bool HasRoom() ABSL_LOCKS_EXCLUDED(mutex_);
  // Ends everything; no callback comes any more.
  void Cancel();

 private:
  enum class Phase { kRunning, kHasKeys, kNormalizing, kComplete };

  struct Pending {
    WorkloadChunk chunk;
    uint64_t first_index = 0;
    Phase phase = Phase::kRunning;
    v1::ResultColumns keys;
    // The texts of new groups' first queries, by their place in the chunk.
    std::vector<uint32_t> wanted;
    v1::ResultColumns texts;
  };

  WorkloadStream(Backend::OpenStream keys, Backend::OpenStream texts,
                 std::unique_ptr<WorkloadTable> table, Callbacks callbacks)
      : keys_(std::move(keys)),
        texts_(std::move(texts)),
        callbacks_(std::move(callbacks)),
        table_(std::move(table)) {}

  void Fail(const absl::Status& status) ABSL_LOCKS_EXCLUDED(mutex_);
  void Work() ABSL_LOCKS_EXCLUDED(mutex_);
  void Normalize(Pending& pending) ABSL_LOCKS_EXCLUDED(mutex_);
  void Aggregate(const Pending& pending) ABSL_LOCKS_EXCLUDED(mutex_);

  const Backend::OpenStream keys_;
  const Backend::OpenStream texts_;  // items is null if no texts are needed
  const Callbacks callbacks_;
  uint64_t next_index_ = 0;  // of the adding thread

  // Of whoever is in Work: the first place of each group that has been asked for its text, by a hash
  // of its key.
  absl::flat_hash_map<size_t, uint64_t> first_places_;

  sync::Mutex table_mutex_ ABSL_ACQUIRED_BEFORE(mutex_);
  const std::unique_ptr<WorkloadTable> table_ ABSL_PT_GUARDED_BY(table_mutex_);

  sync::Mutex mutex_;
  std::deque<std::shared_ptr<Pending>> pending_ ABSL_GUARDED_BY(mutex_);
  bool working_ ABSL_GUARDED_BY(mutex_) = false;
  bool work_again_ ABSL_GUARDED_BY(mutex_) = false;
  bool room_wanted_ ABSL_GUARDED_BY(mutex_) = false;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace pgparsed::service
