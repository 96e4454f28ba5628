// The limits that requests are checked against before they reach a worker. Defaults are those of
// the contract; main fills them from the options.
#pragma once

#include <cstdint>

namespace pgparsed::service {

struct Limits {
  // The longest query, or tree to deparse, in bytes.
  uint64_t max_query_bytes = 16u << 20;
  // The largest result of a unary call, in bytes.
  uint64_t max_unary_result_bytes = 64u << 20;
  // The largest chunk of a stream, in bytes.
  uint64_t max_chunk_bytes = 1u << 20;
  // The longest time of one job in a worker, in milliseconds.
  uint64_t max_job_ms = 10'000;
  // The largest protobuf tree of ParseChunked: it stands whole in the channel before its first byte
  // leaves. JSON and columns have no such limit.
  uint64_t max_chunked_protobuf_bytes = 256u << 20;
  // Chunks of a stream that are worked on or wait to be sent. 0: two for each worker.
  uint32_t max_chunks_in_flight = 0;
  // A chunk of Batch: queries, and bytes. A chunk of one query may have max_query_bytes.
  uint32_t max_batch_queries = 4096;
  uint64_t max_batch_bytes = 4u << 20;
};

// Comments of a Deparse request, as they stand in the channel, may take so many bytes beside the
// tree.
inline constexpr uint64_t kMaxCommentBytes = 1u << 20;

// What an answer needs in the channel besides its largest result: headers, warnings, errors.
inline constexpr uint64_t kAnswerOverheadBytes = 1u << 20;

// What a request message needs besides its query: gRPC's receive limit is the sum.
inline constexpr uint64_t kRequestOverheadBytes = 64u << 10;

}  // namespace pgparsed::service
