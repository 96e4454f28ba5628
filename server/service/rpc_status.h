// The one place that makes wire statuses of errors: absl::Status with a Reason to google.rpc.Status
// with exactly one ErrorInfo, and a SqlError or a RetryInfo where they belong. The doors turn it
// into what they speak (grpc::Status, an HTTP code with JSON).
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "google/rpc/status.pb.h"
#include "pgparsed/errors.h"
#include "pgparsed/v1/common.pb.h"

namespace pgparsed::service {

// gRPC takes 8 KiB of trailers by default, and a message stands there three times, once
// percent-encoded. PostgreSQL's message quotes the token at which it stopped, however long that is:
// what is longer is cut, at a character, and ends in "…".
inline constexpr size_t kMaxStatusMessageBytes = 256;
inline constexpr size_t kMaxSqlMessageBytes = 1024;
inline constexpr size_t kMaxContextBytes = 512;

// How long a client should wait before it tries again after kOverloaded.
inline constexpr int64_t kOverloadedRetryMs = 100;

// `status` must not be OK. One without a Reason becomes kInternal. Counts it as a failed call.
google::rpc::Status ToRpcStatus(const absl::Status& status);

// How many calls of this process have failed for a reason.
uint64_t FailedCalls(Reason reason);

v1::SqlError ToProto(const SqlError& error);

}  // namespace pgparsed::service
