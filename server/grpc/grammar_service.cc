#include "grpc/services.h"
#include "grpc/unary_call.h"
#include "pgparsed/v1/grammar.grpc.pb.h"

namespace pgparsed::grpc_door {
namespace {

using v1::GrammarService;

class GrammarServiceImpl final
    : public GrammarService::WithRawCallbackMethod_ListGrammars<
          GrammarService::WithRawCallbackMethod_GetGrammarSchema<GrammarService::Service>> {
 public:
  explicit GrammarServiceImpl(service::Backend& backend) : backend_(backend) {}

  grpc::ServerUnaryReactor* ListGrammars(grpc::CallbackServerContext* context,
                                         const grpc::ByteBuffer* request,
                                         grpc::ByteBuffer* response) override {
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    v1::ListGrammarsRequest decoded;
    if (absl::Status status = DecodeRequest(*request, decoded, 0); !status.ok()) {
      reactor->Finish(FinishWith(status, *context));
      return reactor;
    }
    *response = EncodeAnswer(backend_.ListGrammars(), {}, nullptr);
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }

  grpc::ServerUnaryReactor* GetGrammarSchema(grpc::CallbackServerContext* context,
                                             const grpc::ByteBuffer* request,
                                             grpc::ByteBuffer* response) override {
    return UnaryCall<v1::GetGrammarSchemaRequest, v1::GetGrammarSchemaResponse>::Start(
        backend_, context, request, response);
  }

 private:
  service::Backend& backend_;
};

}  // namespace

std::unique_ptr<grpc::Service> MakeGrammarService(service::Backend& backend) {
  return std::make_unique<GrammarServiceImpl>(backend);
}

}  // namespace pgparsed::grpc_door
