// Puts the answers of ParseChunked together. Nothing that the server sends is trusted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "pgparsed/streams.h"
#include "pgparsed/v1/parser.pb.h"
#include "pgparsed/v1/streams.pb.h"

namespace pgparsed::client {

// Sees that the messages of one stream come as the contract says: a header, chunks, a trailer.
// Not thread-safe.
class ChunkedTreeReader {
 public:
  // The next message; a chunk goes to the sink. kInternal for a message out of order; else what the
  // sink says.
  absl::Status Take(const v1::ParseChunkedResponse& message, const TreeSink& sink);

  // After the last message of a stream that ended well. kInternal when the tree is not whole.
  absl::StatusOr<ChunkedTree> Finish();

 private:
  enum class Expected { kHeader, kChunk, kNothing };

  Expected expected_ = Expected::kHeader;
  uint64_t bytes_ = 0;
  ChunkedTree tree_;
};

// Joins the chunks of a tree to the answer that Parse would have given. Not thread-safe.
class TreeJoin {
 public:
  // Trees of more than `max_bytes` are refused with kResultTooLarge.
  explicit TreeJoin(size_t max_bytes) : max_bytes_(max_bytes) {}

  absl::Status Take(const v1::ParseChunkedResponse& message);
  absl::StatusOr<v1::ParseResponse> Finish();

 private:
  const size_t max_bytes_;
  ChunkedTreeReader reader_;
  std::string bytes_;
};

// The request for the same tree in chunks. Takes the query.
v1::ParseChunkedRequest ToChunked(v1::ParseRequest request);

}  // namespace pgparsed::client
