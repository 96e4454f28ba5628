// Messages to and from gRPC's byte buffers, without a copy of large fields.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <google/protobuf/message_lite.h>
#include <grpcpp/support/byte_buffer.h>

#include "absl/status/status.h"
#include "service/answers.h"

namespace pgparsed::grpc_door {

// Decodes a request. Protobuf refuses invalid UTF-8 in string fields as a whole; the contract has a
// reason of its own for a query with it (kInvalidQueryText), so a refused message is looked at
// again. `query_field` is the number of the field that holds the query, 0 if there is none.
absl::Status DecodeRequest(const grpc::ByteBuffer& buffer, google::protobuf::MessageLite& message,
                           int query_field);

// Encodes an answer: the message, then each raw field. Payloads of kShareBytes and more are
// referenced in place and hold a copy of the lease until gRPC has sent them; smaller ones are
// copied, so that their slot is free at once.
inline constexpr size_t kShareBytes = 16 << 10;
grpc::ByteBuffer EncodeAnswer(const google::protobuf::MessageLite& message,
                              const std::vector<service::RawField>& raw,
                              const std::shared_ptr<void>& lease);

// Encodes an answer to items of a stream: the message, and behind it `field`, which holds the
// joined `columns` (service/item_results.h). They move into the buffer.
grpc::ByteBuffer EncodeColumns(const google::protobuf::MessageLite& message, int field,
                               std::vector<std::string> columns);

}  // namespace pgparsed::grpc_door
