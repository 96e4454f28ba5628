// Errors as gRPC speaks them: a grpc::Status whose details are a google.rpc.Status.
#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/status.h>

#include "absl/status/status.h"

namespace pgparsed::grpc_door {

// `status` must not be OK. Adds the trailer grpc-retry-pushback-ms for kOverloaded, so that
// clients with gRPC's own retries wait as well.
grpc::Status FinishWith(const absl::Status& status, grpc::ServerContextBase& context);

}  // namespace pgparsed::grpc_door
