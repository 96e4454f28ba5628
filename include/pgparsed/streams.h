// What the streams of the C++ client take and give: Client::ParseChunked, Batch, ParseScript and
// AggregateWorkload (pgparsed/client.h).
//
// A source is asked for what is to be sent next, again and again. It fills the message that it is
// given, which is empty but keeps the memory of earlier ones, and returns true; false is the end.
// An error stops the stream, and the method returns it.
//
// A sink is given each answer in order; the message and all views of it are valid until it
// returns. An error stops the stream, and the method returns it.
//
// gRPC's flow control holds both in step with the server: a source is not asked for more while the
// server is busy with much, and a sink that takes its time slows everything down. Batch and
// ParseScript call the source on a thread of their own, one call at a time, and the sink on the
// caller's thread: so both may run at the same time, but none with itself. When a stream ends
// early, the method returns once the source has returned: a source that blocks for ever blocks it
// too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "pgparsed/v1/streams.pb.h"

namespace pgparsed {

// Takes a part of a tree. The header is the same each time.
using TreeSink = std::function<absl::Status(const v1::ParseChunkedResponse::Header& header,
                                            std::string_view chunk)>;

// What stands around a tree that a TreeSink took.
struct ChunkedTree {
  v1::ParseChunkedResponse::Header header;
  v1::ParseChunkedResponse::Trailer trailer;
};

// A chunk of queries. Limits are the server's: 4,096 queries and 4 MiB by default, a single query
// may be larger. A chunk without queries is not sent.
using BatchSource = std::function<absl::StatusOr<bool>(v1::BatchRequest::Chunk& chunk)>;
using BatchSink = std::function<absl::Status(const v1::BatchResponse& answer)>;

// The next query.
using QuerySource = std::function<absl::StatusOr<bool>(std::string& query)>;

// A size of chunks with which the cost of a message does not count any more.
inline constexpr size_t kBatchChunkQueries = 1024;
inline constexpr size_t kBatchChunkBytes = 1u << 20;

// Makes chunks of single queries: at most `max_queries` in each and, unless it is one query, at
// most `max_bytes`.
BatchSource InChunks(QuerySource queries, size_t max_queries = kBatchChunkQueries,
                     size_t max_bytes = kBatchChunkBytes);

// The next bytes of a script, as they come. Limit: the server's max_batch_bytes, 4 MiB by default.
using ScriptSource = std::function<absl::StatusOr<bool>(std::string& bytes)>;
using ScriptSink = std::function<absl::Status(const v1::ParseScriptResponse& answer)>;

// A place in a script. Everything before it is answered.
struct ScriptPlace {
  uint64_t offset = 0;  // bytes
  uint64_t line = 1;    // from 1
  // Whether a backslash in '…' is an ordinary character there: absent before the first answer.
  std::optional<bool> standard_conforming_strings = std::nullopt;
};

// A part of a log or a report that was made earlier: sets `chunk` or `report` of the message.
using WorkloadSource = std::function<absl::StatusOr<bool>(v1::AggregateWorkloadRequest& part)>;

}  // namespace pgparsed
