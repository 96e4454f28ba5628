#include "pgparsed/client.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cpp/address.h"
#include "cpp/client_impl.h"

namespace pgparsed {
namespace {

// Room for one request of the server's largest size, so that gRPC can send it again.
constexpr int kRetryBufferBytes = 32 << 20;

// CANCELLED from the server is what gRPC makes of a call that comes when the server has begun to
// shut down and the client does not know yet. A call that the caller cancels is not tried again.
// Batch (batch.cc) goes on after a loss by itself: two that try would multiply their attempts.
std::string ServiceConfig(int max_attempts) {
  return absl::StrCat(R"({"methodConfig":[{"name":[)"
                      R"({"service":"pgparsed.v1.ParserService","method":"Batch"}]},)"
                      R"({"name":[{"service":"pgparsed.v1.ParserService"},)"
                      R"({"service":"pgparsed.v1.GrammarService"}],"retryPolicy":{"maxAttempts":)",
                      max_attempts,
                      R"(,"initialBackoff":"0.05s","maxBackoff":"1s","backoffMultiplier":2,)"
                      R"("retryableStatusCodes":["UNAVAILABLE","CANCELLED"]}}]})");
}

absl::Status InvalidOption(std::string_view message) {
  return MakeError(Reason::kInvalidRequest, message);
}

absl::Status CheckOptions(const ClientOptions& options) {
  if (options.max_attempts < 1 || options.max_attempts > 5) {
    return InvalidOption(absl::StrCat("max_attempts is ", options.max_attempts, "; 1 to 5"));
  }
  if (options.timeout.count() < 0) return InvalidOption("timeout is negative; zero is no limit");
  if (options.keepalive_interval.count() < 0 || options.keepalive_timeout.count() < 0) {
    return InvalidOption("a keepalive time is negative; zero is no pings");
  }
  if (options.max_receive_bytes == 0 ||
      options.max_receive_bytes > static_cast<size_t>(std::numeric_limits<int>::max())) {
    return InvalidOption("max_receive_bytes is not in 1 to 2147483647");
  }
  return absl::OkStatus();
}

int Milliseconds(std::chrono::milliseconds time) {
  constexpr auto kLongest = std::chrono::milliseconds(std::numeric_limits<int>::max());
  return static_cast<int>(std::min(time, kLongest).count());
}

grpc::ChannelArguments ChannelArguments(const ClientOptions& options) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(static_cast<int>(options.max_receive_bytes));
  arguments.SetUserAgentPrefix(options.user_agent);
  if (options.max_attempts > 1) {
    arguments.SetServiceConfigJSON(ServiceConfig(options.max_attempts));
    arguments.SetInt(GRPC_ARG_PER_RPC_RETRY_BUFFER_SIZE, kRetryBufferBytes);
  } else {
    arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  }
  // Where a name has several addresses the calls go to all of them: replicas share the load, and
  // one that drains or is gone is left out.
  arguments.SetLoadBalancingPolicyName("round_robin");
  // The server's operator may not change what is retried by way of DNS.
  arguments.SetInt(GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION, 1);
  if (options.keepalive_interval.count() > 0) {
    arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, Milliseconds(options.keepalive_interval));
    arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, Milliseconds(options.keepalive_timeout));
  }
  // A server that restarts is found again after a second at most, not after two minutes.
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
  if (!options.tls_server_name.empty()) {
    arguments.SetSslTargetNameOverride(options.tls_server_name);
  }
  if (client::IsLocalTarget(options.address)) {
    arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  }
  return arguments;
}

}  // namespace

Cancellation::Cancellation() : calls_(std::make_shared<client::CallSet>()) {}
void Cancellation::Cancel() { calls_->CancelAll(); }
bool Cancellation::IsCancelled() const { return calls_->cancelled(); }

Client::Client(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Client::~Client() = default;

absl::StatusOr<std::unique_ptr<Client>> Client::Connect(ClientOptions options) {
  if (absl::Status status = CheckOptions(options); !status.ok()) return status;
  absl::StatusOr<std::string> target = client::TargetOfAddress(options.address);
  if (!target.ok()) return target.status();
  options.address = *std::move(target);
  if (options.user_agent.empty()) options.user_agent = "pgparsed-cpp/" PGPARSED_VERSION;
  const auto credentials =
      options.credentials != nullptr ? options.credentials : grpc::InsecureChannelCredentials();
  const auto channel =
      grpc::CreateCustomChannel(options.address, credentials, ChannelArguments(options));
  return std::unique_ptr<Client>(new Client(std::make_unique<Impl>(std::move(options), channel)));
}

const ClientOptions& Client::options() const { return impl_->options(); }

absl::StatusOr<v1::ParseResponse> Client::Parse(const v1::ParseRequest& request,
                                                const CallOptions& options) {
  return impl_->Parse(request, options);
}

void Client::ParseAsync(v1::ParseRequest request, Callback<v1::ParseResponse> callback,
                        const CallOptions& options) {
  impl_->ParseAsync(std::move(request), std::move(callback), options);
}

// The two forms of each other unary method.
#define PGPARSED_UNARY(stub, Stub, Method)                                                         \
  absl::StatusOr<v1::Method##Response> Client::Method(const v1::Method##Request& request,          \
                                                      const CallOptions& options) {                \
    return impl_->Call(impl_->stub(), &Impl::Stub::Method, request, options);                      \
  }                                                                                                \
  void Client::Method##Async(v1::Method##Request request, Callback<v1::Method##Response> callback, \
                             const CallOptions& options) {                                         \
    impl_->CallAsync<Impl::Stub::async_interface, v1::Method##Request, v1::Method##Response>(      \
        impl_->stub().async(), &Impl::Stub::async_interface::Method, std::move(request),           \
        std::move(callback), options);                                                             \
  }

PGPARSED_UNARY(parser, ParserStub, ParsePlpgsql)
PGPARSED_UNARY(parser, ParserStub, Fingerprint)
PGPARSED_UNARY(parser, ParserStub, Normalize)
PGPARSED_UNARY(parser, ParserStub, Scan)
PGPARSED_UNARY(parser, ParserStub, Split)
PGPARSED_UNARY(parser, ParserStub, Deparse)
PGPARSED_UNARY(parser, ParserStub, Format)
PGPARSED_UNARY(parser, ParserStub, ExtractComments)
PGPARSED_UNARY(parser, ParserStub, Summarize)
PGPARSED_UNARY(parser, ParserStub, Analyze)
PGPARSED_UNARY(grammar, GrammarStub, ListGrammars)
PGPARSED_UNARY(grammar, GrammarStub, GetGrammarSchema)
PGPARSED_UNARY(admin, AdminStub, GetStats)
PGPARSED_UNARY(admin, AdminStub, RecycleWorkers)
PGPARSED_UNARY(admin, AdminStub, PurgeMemory)

#undef PGPARSED_UNARY

absl::StatusOr<std::string> Client::ParseJson(std::string_view sql, const CallOptions& options) {
  v1::ParseRequest request;
  request.set_query(std::string(sql));
  request.set_grammar(this->options().grammar);
  request.set_format(v1::TREE_FORMAT_JSON);
  auto response = Parse(request, options);
  if (!response.ok()) return response.status();
  return std::move(*response->mutable_json());
}

absl::StatusOr<std::string> Client::ParseProtobuf(std::string_view sql,
                                                  const CallOptions& options) {
  v1::ParseRequest request;
  request.set_query(std::string(sql));
  request.set_grammar(this->options().grammar);
  request.set_format(v1::TREE_FORMAT_PROTOBUF);
  auto response = Parse(request, options);
  if (!response.ok()) return response.status();
  return std::move(*response->mutable_protobuf());
}

absl::StatusOr<uint64_t> Client::Fingerprint(std::string_view sql, const CallOptions& options) {
  v1::FingerprintRequest request;
  request.set_query(std::string(sql));
  request.set_grammar(this->options().grammar);
  auto response = Fingerprint(request, options);
  if (!response.ok()) return response.status();
  return response->fingerprint();
}

absl::StatusOr<std::string> Client::Normalize(std::string_view sql, const CallOptions& options) {
  v1::NormalizeRequest request;
  request.set_query(std::string(sql));
  request.set_grammar(this->options().grammar);
  auto response = Normalize(request, options);
  if (!response.ok()) return response.status();
  return std::move(*response->mutable_query());
}

absl::StatusOr<std::string> Client::Deparse(std::string_view protobuf_tree,
                                            const CallOptions& options) {
  v1::DeparseRequest request;
  request.set_protobuf(std::string(protobuf_tree));
  request.set_grammar(this->options().grammar);
  auto response = Deparse(request, options);
  if (!response.ok()) return response.status();
  return std::move(*response->mutable_query());
}

absl::StatusOr<std::string> Client::Format(std::string_view sql, const CallOptions& options) {
  v1::FormatRequest request;
  request.set_query(std::string(sql));
  request.set_grammar(this->options().grammar);
  auto response = Format(request, options);
  if (!response.ok()) return response.status();
  return std::move(*response->mutable_query());
}

}  // namespace pgparsed
