// The chunks of a batch that are sent and not answered yet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "pgparsed/streams.h"

namespace pgparsed::client {

// What a batch sends, and what is kept until it is answered: when a connection is lost in the
// middle the next stream begins with that. As much is kept as gRPC's flow control lets the server
// be behind.
//
// Next is for the thread that writes and Take for the one that reads: one of each may run at a
// time.
class BatchWindow {
 public:
  // `source` must outlive this.
  explicit BatchWindow(const BatchSource& source) : source_(source) {}
  BatchWindow(const BatchWindow&) = delete;
  BatchWindow& operator=(const BatchWindow&) = delete;

  // The next chunk of this stream; null is the end. Valid until the next call of Next or Rewind. An
  // error is the source's.
  absl::StatusOr<const v1::BatchRequest*> Next();

  // Takes an answer of this stream, and makes its first_index that of the whole batch. kInternal
  // when it is not the answer to the oldest chunk without one.
  absl::Status Take(v1::BatchResponse& answer);

  // Begins a new stream with what is not answered. Nothing else may run.
  void Rewind();

  // How many queries are answered in all.
  uint64_t answered() const;
  // Whether the source has ended and all that it gave is answered.
  bool finished() const;

 private:
  const BatchSource& source_;
  mutable std::mutex mutex_;
  std::deque<std::shared_ptr<v1::BatchRequest>> unanswered_;
  size_t given_ = 0;                           // how many of them this stream was given
  std::shared_ptr<v1::BatchRequest> written_;  // may be answered before its Write returns
  std::vector<std::shared_ptr<v1::BatchRequest>> spare_;  // answered: their memory is used again
  uint64_t answered_ = 0;
  uint64_t answered_before_ = 0;  // this stream
  bool ended_ = false;            // the source
};

}  // namespace pgparsed::client
