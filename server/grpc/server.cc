#include "grpc/server.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include "absl/strings/str_cat.h"
#include "grpc/services.h"
#include "pgparsed/v1/admin.grpc.pb.h"
#include "pgparsed/v1/grammar.grpc.pb.h"
#include "pgparsed/v1/parser.grpc.pb.h"

namespace pgparsed::grpc_door {
namespace {

class ServerImpl final : public Server {
 public:
  // Health is told for each service by its full name.
  struct NamedService {
    std::string name;
    std::unique_ptr<grpc::Service> service;
  };

  ServerImpl(const ServerOptions& options, const char* flag, std::vector<NamedService> services)
      : options_(options),
        flag_(flag),
        addresses_(options.listen),
        services_(std::move(services)) {}

  ~ServerImpl() override {
    if (server_ == nullptr) return;
    server_->Shutdown(absl::ToChronoTime(absl::Now()));
    server_->Wait();
  }

  absl::Status Listen(uint64_t max_request_bytes) {
    grpc::EnableDefaultHealthCheckService(true);
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
    grpc::ServerBuilder builder;
    // Two servers must not share a port unknowingly: the second one fails instead.
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    builder.SetMaxReceiveMessageSize(static_cast<int>(max_request_bytes));
    builder.SetMaxSendMessageSize(-1);
    // Clients may ping every 30 s, with and without calls (https://grpc.io/docs/guides/keepalive/).
    builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 20'000);
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
    builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, 16 << 10);
    BoundConnections(builder);
    std::vector<int> ports(addresses_.size(), 0);
    for (size_t i = 0; i < addresses_.size(); ++i) {
      builder.AddListeningPort(addresses_[i].ToString(),
                               options_.tls && !addresses_[i].is_unix()
                                   ? MakeTlsCredentials(*options_.tls)
                                   : grpc::InsecureServerCredentials(),
                               &ports[i]);
    }
    for (const NamedService& named : services_) builder.RegisterService(named.service.get());

    // Nobody else may connect before the mode of the sockets is set.
    const mode_t mask = umask(0177);
    server_ = builder.BuildAndStart();
    umask(mask);
    for (size_t i = 0; i < addresses_.size(); ++i) {
      if (server_ == nullptr || ports[i] == 0) {
        return absl::InvalidArgumentError(absl::StrCat(
            "cannot listen on ", addresses_[i].ToString(), ": choose another with ", flag_));
      }
      if (!addresses_[i].is_unix()) {
        addresses_[i].port = static_cast<uint16_t>(ports[i]);
      } else if (absl::Status set = SetAccess(addresses_[i]); !set.ok()) {
        return set;
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
  void BoundConnections(grpc::ServerBuilder& builder) const {
    const auto milliseconds = [&](const char* argument, absl::Duration duration) {
      const int64_t value = absl::ToInt64Milliseconds(duration);
      builder.AddChannelArgument(
          argument, static_cast<int>(std::min<int64_t>(value, std::numeric_limits<int>::max())));
    };
    milliseconds(GRPC_ARG_MAX_CONNECTION_AGE_MS, options_.max_connection_age);
    milliseconds(GRPC_ARG_MAX_CONNECTION_AGE_GRACE_MS, options_.max_connection_age_grace);
    milliseconds(GRPC_ARG_MAX_CONNECTION_IDLE_MS, options_.max_connection_idle);
    milliseconds(GRPC_ARG_KEEPALIVE_TIME_MS, options_.keepalive_interval);
    milliseconds(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, options_.keepalive_timeout);
    builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS,
                               static_cast<int>(options_.max_concurrent_streams));
    grpc::ResourceQuota quota("pgparsed");
    builder.SetResourceQuota(quota.Resize(options_.max_rpc_memory));
  }

  // Before this only the process' own user can connect.
  absl::Status SetAccess(const ListenAddress& address) const {
    const char* const path = address.unix_path.c_str();
    if ((options_.unix_user || options_.unix_group) &&
        chown(path, options_.unix_user.value_or(-1), options_.unix_group.value_or(-1)) != 0) {
      return absl::InvalidArgumentError(absl::StrCat("cannot set the owner of ", address.ToString(),
                                                     " (--unix-owner): ", std::strerror(errno)));
    }
    if (chmod(path, options_.unix_mode) != 0) {
      return absl::InvalidArgumentError(absl::StrCat("cannot set the mode of ", address.ToString(),
                                                     " (--unix-mode): ", std::strerror(errno)));
    }
    return absl::OkStatus();
  }

  void SetServing(bool serving) {
    grpc::HealthCheckServiceInterface* health = server_->GetHealthCheckService();
    if (health == nullptr) return;
    health->SetServingStatus(serving);
    for (const NamedService& named : services_) health->SetServingStatus(named.name, serving);
  }

  const ServerOptions options_;
  const char* const flag_;  // that the addresses came with
  std::vector<ListenAddress> addresses_;
  const std::vector<NamedService> services_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Server>> Server::Start(const ServerOptions& options,
                                                      service::Backend& backend) {
  std::vector<ServerImpl::NamedService> services;
  services.push_back({v1::ParserService::service_full_name(), MakeParserService(backend)});
  services.push_back({v1::GrammarService::service_full_name(), MakeGrammarService(backend)});
  auto server = std::make_unique<ServerImpl>(options, "--listen", std::move(services));
  const service::Limits& limits = backend.limits();
  const uint64_t largest =
      std::max(limits.max_query_bytes + service::kMaxCommentBytes, limits.max_batch_bytes) +
      service::kRequestOverheadBytes;
  if (absl::Status status = server->Listen(largest); !status.ok()) return status;
  return server;
}

absl::StatusOr<std::unique_ptr<Server>> Server::StartAdmin(const ServerOptions& options,
                                                           pool::Pool& pool) {
  std::vector<ServerImpl::NamedService> services;
  services.push_back({v1::AdminService::service_full_name(), MakeAdminService(pool)});
  auto server = std::make_unique<ServerImpl>(options, "--admin-listen", std::move(services));
  if (absl::Status status = server->Listen(service::kRequestOverheadBytes); !status.ok()) {
    return status;
  }
  return server;
}

}  // namespace pgparsed::grpc_door
