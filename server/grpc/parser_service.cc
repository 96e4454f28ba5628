#include "grpc/batch_call.h"
#include "grpc/chunked_call.h"
#include "grpc/script_call.h"
#include "grpc/services.h"
#include "grpc/unary_call.h"
#include "grpc/workload_call.h"
#include "pgparsed/v1/parser.grpc.pb.h"

namespace pgparsed::grpc_door {
namespace {

using v1::ParserService;

// Unary methods take and give raw byte buffers: large results go out without a copy.
template <typename Base>
using RawUnaryMethods =
    ParserService::WithRawCallbackMethod_Parse<ParserService::WithRawCallbackMethod_ParsePlpgsql<
        ParserService::WithRawCallbackMethod_Fingerprint<
            ParserService::WithRawCallbackMethod_Normalize<
                ParserService::WithRawCallbackMethod_Scan<
                    ParserService::WithRawCallbackMethod_Split<
                        ParserService::WithRawCallbackMethod_Deparse<
                            ParserService::WithRawCallbackMethod_Format<
                                ParserService::WithRawCallbackMethod_ExtractComments<
                                    ParserService::WithRawCallbackMethod_Summarize<
                                        ParserService::WithRawCallbackMethod_Analyze<
                                            Base>>>>>>>>>>>;

template <typename Base>
using StreamMethods = ParserService::WithRawCallbackMethod_ParseChunked<
    ParserService::WithRawCallbackMethod_Batch<ParserService::WithRawCallbackMethod_ParseScript<
        ParserService::WithRawCallbackMethod_AggregateWorkload<Base>>>>;

class ParserServiceImpl final : public RawUnaryMethods<StreamMethods<ParserService::Service>> {
 public:
  explicit ParserServiceImpl(service::Backend& backend) : backend_(backend) {}

#define PGPARSED_UNARY(Method)                                                                     \
  grpc::ServerUnaryReactor* Method(grpc::CallbackServerContext* context,                           \
                                   const grpc::ByteBuffer* request, grpc::ByteBuffer* response)    \
      override {                                                                                   \
    return UnaryCall<v1::Method##Request, v1::Method##Response>::Start(backend_, context, request, \
                                                                       response);                  \
  }
  PGPARSED_UNARY(Parse)
  PGPARSED_UNARY(ParsePlpgsql)
  PGPARSED_UNARY(Fingerprint)
  PGPARSED_UNARY(Normalize)
  PGPARSED_UNARY(Scan)
  PGPARSED_UNARY(Split)
  PGPARSED_UNARY(Deparse)
  PGPARSED_UNARY(Format)
  PGPARSED_UNARY(ExtractComments)
  PGPARSED_UNARY(Summarize)
  PGPARSED_UNARY(Analyze)
#undef PGPARSED_UNARY

  grpc::ServerWriteReactor<grpc::ByteBuffer>* ParseChunked(
      grpc::CallbackServerContext* context, const grpc::ByteBuffer* request) override {
    return StartParseChunked(backend_, context, request);
  }
  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* Batch(
      grpc::CallbackServerContext* context) override {
    return StartBatch(backend_, context);
  }
  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* ParseScript(
      grpc::CallbackServerContext* context) override {
    return StartParseScript(backend_, context);
  }
  grpc::ServerReadReactor<grpc::ByteBuffer>* AggregateWorkload(
      grpc::CallbackServerContext* context, grpc::ByteBuffer* response) override {
    return StartAggregateWorkload(backend_, context, response);
  }

 private:
  service::Backend& backend_;
};

}  // namespace

std::unique_ptr<grpc::Service> MakeParserService(service::Backend& backend) {
  return std::make_unique<ParserServiceImpl>(backend);
}

}  // namespace pgparsed::grpc_door
