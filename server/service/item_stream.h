// Runs the items (queries, statements) of one stream on the pool: chunks go in, answers come out in
// the same order.
//
// A chunk is cut into jobs of a few items each: short enough that a unary call which finds all
// workers busy waits for a millisecond or so, long enough that handing over costs little, and so
// that one chunk is worked on by all workers. Only so many jobs of a stream are in the pool's queue
// at a time. A job whose worker dies, or that hits a limit, is run again item by item: the item
// that did it fails alone.
//
// Thread-safe. Callbacks come on threads of the pool, or before Add returns, one at a time, and
// must not block.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "pool/pool.h"
#include "service/conversion_counters.h"
#include "service/limits.h"
#include "sync/mutex.h"

namespace pgparsed::service {

// The answer to one chunk.
struct ItemAnswer {
  // A serialized pgparsed.v1.ResultColumns in pieces (item_results.h).
  std::vector<std::string> columns;
  absl::Duration queue_time;  // of the job that waited longest
  uint64_t parse_ns = 0;      // of all jobs together
  uint64_t convert_ns = 0;
  absl::Duration total;  // from Add on
};

class ItemStream : public std::enable_shared_from_this<ItemStream> {
 public:
  // At most so many items, and bytes unless it is one item, in a job: the bytes bound its time, the
  // items that of short ones.
  static constexpr size_t kJobItems = 256;
  static constexpr size_t kJobBytes = 32u << 10;

  struct Options {
    uint32_t grammar = 0;
    channel::JobHeader header;  // of each job; operations may be none
    absl::Time deadline = absl::InfiniteFuture();
    uint32_t jobs_in_flight = 8;
    uint64_t max_query_bytes = 0;
    std::shared_ptr<ConversionCounters> conversions;  // may be null
  };

  // An error is the end of the stream: no further callback comes.
  using Done = std::function<void(absl::StatusOr<ItemAnswer>)>;

  // The pool must outlive the stream.
  ItemStream(pool::Pool& pool, Options options) : pool_(pool), options_(std::move(options)) {}

  // Items that fail without being looked at, by their index.
  using Refused = std::map<uint32_t, absl::Status>;

  // Runs a chunk. `owner` keeps the texts. `standard_strings`, if present, counts instead
  // of the parser option standard_conforming_strings in Options::header.
  void Add(std::vector<std::string_view> texts, std::shared_ptr<const void> owner, Done done,
           const Refused& refused = {}, std::optional<bool> standard_strings = std::nullopt)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Ends all jobs; no callback comes any more, but for one that is running, and all are let go.
  // Must be called unless every chunk was answered: callbacks may hold who holds the stream.
  void Cancel() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Chunk;

  // Some items of a chunk in a row, which become one job or, after a failure, several.
  struct Part {
    Chunk* chunk = nullptr;
    uint32_t begin = 0;
    uint32_t end = 0;
    bool finished = false;  // from the start
    std::string columns;
  };

  struct Chunk {
    std::vector<std::string_view> texts;
    std::shared_ptr<const void> owner;
    Done done;
    channel::JobHeader header;
    absl::Time added = absl::Now();
    std::list<Part> parts;  // in the order of the items
    size_t unfinished = 0;
    ItemAnswer answer;
  };

  void Plan(Chunk& chunk, const Refused& refused) const;
  bool ShouldRunAlone(std::string_view text, channel::JobHeader header) const;
  pool::Job MakeJob(const Part& part) const;
  void Work() ABSL_LOCKS_EXCLUDED(mutex_);
  void Submit(Part& part) ABSL_LOCKS_EXCLUDED(mutex_);
  void OnAnswer(Part& part, absl::StatusOr<pool::JobAnswer> answer) ABSL_LOCKS_EXCLUDED(mutex_);
  void OnFailure(Part& part, const absl::Status& why) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void RunItemsAlone(Part& part) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void FinishPart(Part& part) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool DeliverNext() ABSL_LOCKS_EXCLUDED(mutex_);
  std::vector<std::shared_ptr<pool::JobHandle>> RunningHandles()
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  pool::Pool& pool_;
  const Options options_;

  sync::Mutex mutex_;
  std::deque<std::unique_ptr<Chunk>> chunks_ ABSL_GUARDED_BY(mutex_);  // in order, not yet answered
  std::deque<Part*> waiting_ ABSL_GUARDED_BY(mutex_);
  // In the pool; null until Submit has come back.
  absl::flat_hash_map<Part*, std::shared_ptr<pool::JobHandle>> running_ ABSL_GUARDED_BY(mutex_);
  uint32_t in_flight_ ABSL_GUARDED_BY(mutex_) = 0;
  // The pool's queue was full: nothing is submitted until one of the stream's jobs is answered.
  bool held_back_ ABSL_GUARDED_BY(mutex_) = false;
  bool working_ ABSL_GUARDED_BY(mutex_) = false;  // a thread is in Work
  bool work_again_ ABSL_GUARDED_BY(mutex_) = false;
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);  // of the stream
  bool failure_delivered_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace pgparsed::service
