#include "service/rpc_status.h"

#include <optional>

#include "google/rpc/error_details.pb.h"

namespace pgparsed::service {

v1::SqlError ToProto(const SqlError& error) {
  v1::SqlError proto;
  proto.set_message(error.message);
  if (error.position) proto.set_position(*error.position);
  proto.set_line(error.line);
  proto.set_column(error.column);
  proto.set_source_function(error.source_function);
  proto.set_source_file(error.source_file);
  proto.set_source_line(error.source_line);
  proto.set_context(error.context);
  return proto;
}

google::rpc::Status ToRpcStatus(const absl::Status& status) {
  const Reason reason = ReasonOf(status);
  google::rpc::Status rpc;
  rpc.set_code(static_cast<int>(ReasonCode(reason)));
  rpc.set_message(std::string(status.message()));

  google::rpc::ErrorInfo info;
  info.set_reason(std::string(ReasonName(reason)));
  info.set_domain("pgparsed");
  for (const auto& [key, value] : ErrorMetadataOf(status)) (*info.mutable_metadata())[key] = value;
  rpc.add_details()->PackFrom(info);

  if (const std::optional<SqlError> sql = SqlErrorOf(status)) {
    rpc.add_details()->PackFrom(ToProto(*sql));
  }
  if (reason == Reason::kOverloaded) {
    google::rpc::RetryInfo retry;
    retry.mutable_retry_delay()->set_nanos(kOverloadedRetryMs * 1'000'000);
    rpc.add_details()->PackFrom(retry);
  }
  return rpc;
}

}  // namespace pgparsed::service
