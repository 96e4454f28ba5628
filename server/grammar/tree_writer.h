// Trees straight from PostgreSQL's C structs to what goes over the wire: one walk, nothing between.
// The results equal those of the library's own path, byte for byte.
//
// The writers recurse on the C stack, a frame or two for each level of the tree, and stop at the
// thread's limit (stack_limit.h) with kNestingTooDeep. They call nothing of the library.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "grammar/byte_sink.h"
#include "grammar/error.h"
#include "text/positions.h"

namespace pgparsed::grammar {

// What a writer made, or would have made with more room.
struct WrittenTree {
  uint64_t bytes = 0;
};

// A serialized pg_query.ParseResult of `statements` (a List of RawStmt). Protobuf is written from
// its end: it stands at the end of `region`, in the last `bytes` of it. If `bytes` is more than
// the region has, the region's content is void.
Result<WrittenTree> WriteProtobuf(const void* statements, const text::PositionIndex& positions,
                                  std::span<char> region);

// The JSON text that pg_query_parse gives, into `sink`.
Result<WrittenTree> WriteJson(const void* statements, const text::PositionIndex& positions,
                              ByteSink& sink);

// A serialized pgparsed.v1.ColumnarTree, into `sink`. The columns are gathered in the worker's
// memory, some 16 bytes for each node and as many for each scalar, until all nodes were seen.
Result<WrittenTree> WriteColumnar(const void* statements, const text::PositionIndex& positions,
                                  ByteSink& sink);

}  // namespace pgparsed::grammar
