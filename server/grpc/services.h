// The gRPC services. They hold no state but the backend; every method runs on gRPC's threads and
// never blocks, but for those of AdminService.
#pragma once

#include <memory>

#include <grpcpp/impl/codegen/service_type.h>

#include "service/backend.h"

namespace pgparsed::grpc_door {

// The backend must outlive the service.
std::unique_ptr<grpc::Service> MakeParserService(service::Backend& backend);
std::unique_ptr<grpc::Service> MakeGrammarService(service::Backend& backend);
std::unique_ptr<grpc::Service> MakeAdminService(pool::Pool& pool);

}  // namespace pgparsed::grpc_door
