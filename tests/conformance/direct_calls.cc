#include "tests/conformance/direct_calls.h"

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/support/byte_buffer.h>

#include <chrono>

#include "absl/strings/str_cat.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "pgparsed/errors.h"
#include "pgparsed/v1/parser.grpc.pb.h"

namespace pgparsed::conformance {
namespace {

constexpr std::chrono::seconds kTimeout(60);
constexpr size_t kScriptChunkBytes = 7;  // Small, so that chunks end in the middle of everything.

void AppendVarint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

// Fields 1 (query) and 2 (grammar) of every request. The rest is merged in from `more`, a request
// of the method's own type.
std::string Request(std::string_view query, uint32_t grammar, const std::string& more) {
  std::string bytes(1, '\x0a');
  AppendVarint(bytes, query.size());
  bytes.append(query);
  bytes.push_back('\x10');
  AppendVarint(bytes, grammar);
  return bytes.append(more);
}

Reason ReasonIn(const std::string& details) {
  google::rpc::Status status;
  google::rpc::ErrorInfo info;
  if (!status.ParseFromString(details)) return Reason::kNone;
  for (const google::protobuf::Any& detail : status.details()) {
    if (detail.UnpackTo(&info)) return ReasonFromName(info.reason());
  }
  return Reason::kNone;
}

absl::Status ToStatus(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  const auto code = static_cast<absl::StatusCode>(status.error_code());
  const Reason reason = ReasonIn(status.error_details());
  if (reason == Reason::kNone) return absl::Status(code, status.error_message());
  if (ReasonCode(reason) != code) {
    return absl::InternalError(
        absl::StrCat("the code ", static_cast<int>(code), " does not belong to the reason"));
  }
  return MakeError(reason, status.error_message());
}

void SetDeadline(grpc::ClientContext& context) {
  context.set_deadline(std::chrono::system_clock::now() + kTimeout);
}

}  // namespace

DirectCalls::DirectCalls(const std::string& target) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(80 << 20);
  channel_ = grpc::CreateCustomChannel(target, grpc::InsecureChannelCredentials(), arguments);
}

DirectCalls::~DirectCalls() = default;

absl::Status DirectCalls::Unary(std::string_view method, std::string_view query, uint32_t grammar) {
  grpc::GenericStub stub(channel_);
  grpc::ClientContext context;
  SetDeadline(context);
  v1::AnalyzeRequest analyze;
  analyze.add_operations(v1::OPERATION_FINGERPRINT);
  const std::string more = method == "Analyze" ? analyze.SerializeAsString() : std::string();
  const grpc::Slice slice(Request(query, grammar, more));
  const grpc::ByteBuffer request(&slice, 1);
  grpc::CompletionQueue queue;
  std::string path = "/pgparsed.v1.ParserService/";
  path.append(method);
  const auto call = stub.PrepareUnaryCall(&context, path, request, &queue);
  call->StartCall();
  grpc::ByteBuffer response;
  grpc::Status status;
  call->Finish(&response, &status, nullptr);
  void* tag = nullptr;
  bool ok = false;
  queue.Next(&tag, &ok);
  return ToStatus(status);
}

absl::StatusOr<std::string> DirectCalls::ParseChunkedJson(const std::string& query,
                                                          uint32_t grammar) {
  const auto stub = v1::ParserService::NewStub(channel_);
  grpc::ClientContext context;
  SetDeadline(context);
  v1::ParseChunkedRequest request;
  request.set_query(query);
  request.set_grammar(grammar);
  request.set_format(v1::TREE_FORMAT_JSON);
  const auto reader = stub->ParseChunked(&context, request);
  std::string tree;
  v1::ParseChunkedResponse part;
  while (reader->Read(&part)) tree += part.chunk();
  if (const grpc::Status status = reader->Finish(); !status.ok()) return ToStatus(status);
  if (!part.has_trailer() || part.trailer().total_bytes() != tree.size()) {
    return absl::DataLossError("the trailer does not fit the chunks");
  }
  return tree;
}

absl::StatusOr<ScriptCounts> DirectCalls::ParseScript(const std::string& script, uint32_t grammar) {
  const auto stub = v1::ParserService::NewStub(channel_);
  grpc::ClientContext context;
  SetDeadline(context);
  const auto stream = stub->ParseScript(&context);
  v1::ParseScriptRequest request;
  request.mutable_start()->mutable_options()->set_grammar(grammar);
  // A write fails when the server has ended the call: Finish says why.
  bool open = stream->Write(request);
  for (size_t at = 0; open && at < script.size(); at += kScriptChunkBytes) {
    request.set_chunk(script.substr(at, kScriptChunkBytes));
    open = stream->Write(request);
  }
  stream->WritesDone();
  ScriptCounts counts;
  v1::ParseScriptResponse response;
  while (stream->Read(&response)) {
    for (const int kind : response.kind()) {
      counts.statements += kind == v1::PIECE_KIND_STATEMENT ? 1 : 0;
      counts.meta_commands += kind == v1::PIECE_KIND_META_COMMAND ? 1 : 0;
    }
    for (const uint64_t rows : response.copy_rows()) counts.copy_rows += rows;
  }
  if (const grpc::Status status = stream->Finish(); !status.ok()) return ToStatus(status);
  return counts;
}

}  // namespace pgparsed::conformance
