// ParserService.ParseChunked: a tree of any size in chunks.
#pragma once

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include "service/backend.h"

namespace pgparsed::grpc_door {

// The backend must outlive the call.
grpc::ServerWriteReactor<grpc::ByteBuffer>* StartParseChunked(service::Backend& backend,
                                                              grpc::CallbackServerContext* context,
                                                              const grpc::ByteBuffer* request);

}  // namespace pgparsed::grpc_door
