#include "grpc/server.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include "absl/strings/str_cat.h"
#include "grpc/services.h"
#include "pgparsed/v1/grammar.grpc.pb.h"
#include "pgparsed/v1/parser.grpc.pb.h"

namespace pgparsed::grpc_door {
namespace {

class ServerImpl final : public Server {
 public:
  ServerImpl(const ServerOptions& options, service::Backend& backend)
      : options_(options),
        addresses_(options.listen),
        parser_(MakeParserService(backend)),
        grammar_(MakeGrammarService(backend)),
        admin_(options.admin ? MakeAdminService() : nullptr) {}

  ~ServerImpl() override {
    if (server_ == nullptr) return;
    server_->Shutdown(absl::ToChronoTime(absl::Now()));
    server_->Wait();
  }

  absl::Status Listen(const service::Limits& limits) {
    grpc::EnableDefaultHealthCheckService(true);
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
    grpc::ServerBuilder builder;
    // Two servers must not share a port unknowingly: the second one fails instead.
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    builder.SetMaxReceiveMessageSize(static_cast<int>(
        std::max(limits.max_query_bytes + service::kMaxCommentBytes, limits.max_batch_bytes) +
        service::kRequestOverheadBytes));
    builder.SetMaxSendMessageSize(-1);
    // Clients may ping every 30 s, with and without calls (https://grpc.io/docs/guides/keepalive/).
    builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 20'000);
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
    builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, 16 << 10);
    std::vector<int> ports(addresses_.size(), 0);
    for (size_t i = 0; i < addresses_.size(); ++i) {
      builder.AddListeningPort(addresses_[i].ToString(), grpc::InsecureServerCredentials(),
                               &ports[i]);
    }
    builder.RegisterService(parser_.get());
    builder.RegisterService(grammar_.get());
    if (admin_ != nullptr) builder.RegisterService(admin_.get());

    // Nobody else may connect before the mode of the sockets is set.
    const mode_t mask = umask(0177);
    server_ = builder.BuildAndStart();
    umask(mask);
    for (size_t i = 0; i < addresses_.size(); ++i) {
      if (server_ == nullptr || ports[i] == 0) {
        return absl::InvalidArgumentError(absl::StrCat(
            "cannot listen on ", addresses_[i].ToString(), ": choose another with --listen"));
      }
      if (!addresses_[i].is_unix()) {
        addresses_[i].port = static_cast<uint16_t>(ports[i]);
      } else if (chmod(addresses_[i].unix_path.c_str(), options_.unix_mode) != 0) {
        return absl::InvalidArgumentError(absl::StrCat(
            "cannot set the mode of ", addresses_[i].ToString(), ": ", std::strerror(errno)));
      }
    }
    SetServing(true);
    return absl::OkStatus();
  }

  const std::vector<ListenAddress>& addresses() const override { return addresses_; }

  void SetNotServing() override { SetServing(false); }

  void Shutdown(absl::Time deadline) override {
    server_->Shutdown(absl::ToChronoTime(deadline));
    server_->Wait();
  }

 private:
  void SetServing(bool serving) {
    grpc::HealthCheckServiceInterface* health = server_->GetHealthCheckService();
    if (health == nullptr) return;
    health->SetServingStatus(serving);
    health->SetServingStatus(v1::ParserService::service_full_name(), serving);
    health->SetServingStatus(v1::GrammarService::service_full_name(), serving);
  }

  const ServerOptions options_;
  std::vector<ListenAddress> addresses_;
  const std::unique_ptr<grpc::Service> parser_;
  const std::unique_ptr<grpc::Service> grammar_;
  const std::unique_ptr<grpc::Service> admin_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Server>> Server::Start(const ServerOptions& options,
                                                      service::Backend& backend) {
  auto server = std::make_unique<ServerImpl>(options, backend);
  if (absl::Status status = server->Listen(backend.limits()); !status.ok()) return status;
  return server;
}

}  // namespace pgparsed::grpc_door
