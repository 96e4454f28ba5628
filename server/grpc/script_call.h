// ParserService.ParseScript: the bytes of a script in, its pieces and what became of them out.
#pragma once

#include "grpc/bidi_stream.h"
#include "service/backend.h"

namespace pgparsed::grpc_door {

// The backend must outlive the call.
grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* StartParseScript(
    service::Backend& backend, grpc::CallbackServerContext* context);

}  // namespace pgparsed::grpc_door
