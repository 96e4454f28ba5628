// One job for the pool, and its outcome.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

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

struct Job {
  uint32_t grammar = 0;  // a major version that the pool has
  Lane lane = Lane::kUnary;
  channel::JobHeader header;  // text_bytes and comments_bytes are filled in by the pool
  std::string text;           // SQL or tree; owned, for the job may be run twice
  std::string comments;       // CommentRecords (message.h)
  absl::Time deadline = absl::InfiniteFuture();  // the client's
  JobDone done;
};

}  // namespace pgparsed::pool
