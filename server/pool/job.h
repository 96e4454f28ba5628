// One job for the pool, and its outcome.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "channel/message.h"
#include "channel/sections.h"

namespace pgparsed::pool {

// Unary calls never wait behind chunks of streams.
enum class Lane : uint8_t { kUnary, kStream };

// A checked answer in the channel's memory. The sections are views; `lease` keeps the memory: the
// channel's slot is free for the next job, and its pages go back to the system, when the last copy
// of the lease is gone. Hold it as long as a view is used, and no longer.
struct JobAnswer {
  channel::Answer answer;
  std::shared_ptr<void> lease;
  absl::Duration queue_time;  // from Submit to the start in a worker
};

// Called exactly once, on a thread of the pool; must not block. An error carries a Reason
// (pgparsed/errors.h): kDeadline, kCancelled, kParserCrashed, kParserTimeLimit,
// kParserMemoryLimit, kNestingTooDeep (stack overflow), kOverloaded, kDraining, kUnavailable,
// kInternal.
using JobDone = std::function<void(absl::StatusOr<JobAnswer>)>;

// The caller keeps this to give up on a job: a queued job is dropped, a running one is killed with
// its worker. Cancelling twice or too late does nothing. Thread-safe.
class JobHandle {
 public:
  virtual ~JobHandle() = default;
  virtual void Cancel() = 0;
};

// Takes the tree of a job with channel::kFlagTreeInPieces, in order, before `done` is called, on
// the same thread; must not block. The lease keeps the view; while all windows of the channel are
// lent the worker waits. A job that is run again after its worker died goes on where it was.
using PieceTaker = std::function<void(std::string_view piece, std::shared_ptr<void> lease)>;

struct Job {
  uint32_t grammar = 0;  // a major version that the pool has
  Lane lane = Lane::kUnary;
  channel::JobHeader header;  // text_bytes and comments_bytes are filled in by the pool
  std::string text;           // SQL or tree; owned, for the job may be run twice
  std::string comments;       // CommentRecords, or lengths of items (message.h)
  absl::Time deadline = absl::InfiniteFuture();  // the client's
  // The first death of a worker ends it with kParserCrashed, and nothing is remembered: the caller
  // runs the job's items each alone. For jobs of several items.
  bool ends_with_worker = false;
  PieceTaker on_piece;
  JobDone done;
};

}  // namespace pgparsed::pool
