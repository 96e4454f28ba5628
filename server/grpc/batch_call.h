// ParserService.Batch: options, then chunks of queries; an answer to each chunk, in order.
#pragma once

#include "grpc/bidi_stream.h"
#include "service/backend.h"

namespace pgparsed::grpc_door {

// The backend must outlive the call.
grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* StartBatch(
    service::Backend& backend, grpc::CallbackServerContext* context);

}  // namespace pgparsed::grpc_door
