// The one place where a gRPC status becomes an error of pgparsed/errors.h again.
#pragma once

#include <grpcpp/support/status.h>

#include <chrono>
#include <optional>

#include "absl/status/status.h"
#include "pgparsed/errors.h"
#include "pgparsed/v1/common.pb.h"

namespace pgparsed::client {

// Reads the google.rpc.Status in the trailers: the reason, the metadata and the SqlError. Without
// a reason of pgparsed's the code decides: kDeadline, kCancelled, kUnimplemented, kUnavailable;
// for every other code the status carries no reason (ReasonOf then says kInternal). A reason that
// this client does not know is kept as metadata "reason".
absl::Status FromGrpcStatus(const grpc::Status& status);

// How long the server asks to wait before the next try: google.rpc.RetryInfo. From 0 to an hour.
std::optional<std::chrono::milliseconds> RetryDelayOf(const grpc::Status& status);

SqlError FromProto(const v1::SqlError& proto);

}  // namespace pgparsed::client
