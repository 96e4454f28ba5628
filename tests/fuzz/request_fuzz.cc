// What a client may send: bytes as every kind of request, unary and of streams.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>

#include "channel/message.h"
#include "grpc/byte_buffer.h"
#include "grpc/wire_message.h"
#include "pgparsed/v1/parser.pb.h"
#include "service/requests.h"

namespace pgparsed {
namespace {

template <typename Request>
void ReadAs(const grpc::ByteBuffer& bytes) {
  Request request;
  if (!grpc_door::DecodeRequest(bytes, request, 1).ok()) return;
  pool::Job job;
  (void)service::FillJob(request, service::Limits(), job);
}

void Check(std::string_view input) {
  grpc::Slice slice(input.data(), input.size());
  const grpc::ByteBuffer bytes(&slice, 1);
  ReadAs<v1::ParseRequest>(bytes);
  ReadAs<v1::ParsePlpgsqlRequest>(bytes);
  ReadAs<v1::FingerprintRequest>(bytes);
  ReadAs<v1::NormalizeRequest>(bytes);
  ReadAs<v1::ScanRequest>(bytes);
  ReadAs<v1::SplitRequest>(bytes);
  ReadAs<v1::DeparseRequest>(bytes);
  ReadAs<v1::FormatRequest>(bytes);
  ReadAs<v1::SummarizeRequest>(bytes);
  ReadAs<v1::AnalyzeRequest>(bytes);
  ReadAs<v1::ParseChunkedRequest>(bytes);
  const grpc_door::WireMessage message(bytes);
  if (const auto field = message.LastOf({1, 2, 3})) {
    (void)grpc_door::StringsOf(field->bytes, 1, 100);
    (void)grpc_door::NumbersOf(field->bytes, 2, 100);
    v1::StreamOptions options;
    channel::JobHeader header;
    if (options.ParseFromArray(field->bytes.data(), static_cast<int>(field->bytes.size()))) {
      (void)service::FillStreamHeader(options, service::Limits(), header);
    }
  }
}

}  // namespace
}  // namespace pgparsed

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  pgparsed::Check({reinterpret_cast<const char*>(data), size});
  return 0;
}
