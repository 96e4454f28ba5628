// ParserService.AggregateWorkload: a query log in, one report out.
#pragma once

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include "service/backend.h"

namespace pgparsed::grpc_door {

// The backend must outlive the call.
grpc::ServerReadReactor<grpc::ByteBuffer>* StartAggregateWorkload(
    service::Backend& backend, grpc::CallbackServerContext* context, grpc::ByteBuffer* response);

}  // namespace pgparsed::grpc_door
