#include "grpc/status.h"

#include "absl/strings/str_cat.h"
#include "pgparsed/errors.h"
#include "service/rpc_status.h"

namespace pgparsed::grpc_door {

grpc::Status FinishWith(const absl::Status& status, grpc::ServerContextBase& context) {
  const google::rpc::Status rpc = service::ToRpcStatus(status);
  if (ReasonOf(status) == Reason::kOverloaded) {
    context.AddTrailingMetadata("grpc-retry-pushback-ms",
                                absl::StrCat(service::kOverloadedRetryMs));
  }
  return grpc::Status(static_cast<grpc::StatusCode>(rpc.code()), rpc.message(),
                      rpc.SerializeAsString());
}

}  // namespace pgparsed::grpc_door
