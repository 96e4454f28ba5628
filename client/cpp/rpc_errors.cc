#include "cpp/rpc_errors.h"

#include <google/protobuf/util/time_util.h>

#include <algorithm>
#include <string>

#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

namespace pgparsed::client {
namespace {

Reason ReasonOfCode(grpc::StatusCode code) {
  switch (code) {
    case grpc::StatusCode::DEADLINE_EXCEEDED:
      return Reason::kDeadline;
    case grpc::StatusCode::CANCELLED:
      return Reason::kCancelled;
    case grpc::StatusCode::UNIMPLEMENTED:
      return Reason::kUnimplemented;
    case grpc::StatusCode::UNAVAILABLE:
      return Reason::kUnavailable;
    default:
      return Reason::kNone;
  }
}

}  // namespace

SqlError FromProto(const v1::SqlError& proto) {
  SqlError error;
  error.message = proto.message();
  if (proto.has_position()) error.position = proto.position();
  error.line = proto.line();
  error.column = proto.column();
  error.source_function = proto.source_function();
  error.source_file = proto.source_file();
  error.source_line = proto.source_line();
  error.context = proto.context();
  return error;
}

std::optional<std::chrono::milliseconds> RetryDelayOf(const grpc::Status& status) {
  google::rpc::Status details;
  if (!details.ParseFromString(status.error_details())) return std::nullopt;
  for (const auto& detail : details.details()) {
    google::rpc::RetryInfo retry;
    if (!detail.UnpackTo(&retry) || !retry.has_retry_delay()) continue;
    constexpr int64_t kLongest = 3'600'000;
    return std::chrono::milliseconds(std::clamp<int64_t>(
        google::protobuf::util::TimeUtil::DurationToMilliseconds(retry.retry_delay()), 0,
        kLongest));
  }
  return std::nullopt;
}

absl::Status FromGrpcStatus(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();

  google::rpc::Status details;
  google::rpc::ErrorInfo info;
  std::optional<SqlError> sql_error;
  if (details.ParseFromString(status.error_details())) {
    for (const auto& detail : details.details()) {
      v1::SqlError proto;
      google::rpc::ErrorInfo found;
      if (detail.UnpackTo(&proto)) {
        sql_error = FromProto(proto);
      } else if (detail.UnpackTo(&found) && found.domain() == "pgparsed") {
        info = std::move(found);
      }
    }
  }

  const Reason named = ReasonFromName(info.reason());
  const Reason reason = named != Reason::kNone ? named : ReasonOfCode(status.error_code());
  absl::Status error;
  if (sql_error.has_value() && reason != Reason::kNone) {
    error = MakeSqlError(reason, *sql_error);
  } else if (reason != Reason::kNone) {
    error = MakeError(reason, status.error_message());
  } else {
    error =
        absl::Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
  }
  for (const auto& [key, value] : info.metadata()) AddErrorMetadata(error, key, value);
  if (named == Reason::kNone && !info.reason().empty()) {
    AddErrorMetadata(error, "reason", info.reason());
  }
  return error;
}

}  // namespace pgparsed::client
