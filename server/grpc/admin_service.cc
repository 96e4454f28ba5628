#include "grpc/services.h"
#include "grpc/unimplemented.h"
#include "pgparsed/v1/admin.grpc.pb.h"

namespace pgparsed::grpc_door {
namespace {

using v1::AdminService;

class AdminServiceImpl final
    : public AdminService::WithRawCallbackMethod_GetStats<
          AdminService::WithRawCallbackMethod_RecycleWorkers<
              AdminService::WithRawCallbackMethod_PurgeMemory<AdminService::Service>>> {
 public:
  grpc::ServerUnaryReactor* GetStats(grpc::CallbackServerContext* context, const grpc::ByteBuffer*,
                                     grpc::ByteBuffer*) override {
    return new UnimplementedUnary(*context);
  }
  grpc::ServerUnaryReactor* RecycleWorkers(grpc::CallbackServerContext* context,
                                           const grpc::ByteBuffer*, grpc::ByteBuffer*) override {
    return new UnimplementedUnary(*context);
  }
  grpc::ServerUnaryReactor* PurgeMemory(grpc::CallbackServerContext* context,
                                        const grpc::ByteBuffer*, grpc::ByteBuffer*) override {
    return new UnimplementedUnary(*context);
  }
};

}  // namespace

std::unique_ptr<grpc::Service> MakeAdminService() { return std::make_unique<AdminServiceImpl>(); }

}  // namespace pgparsed::grpc_door
