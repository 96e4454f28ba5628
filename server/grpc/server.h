// The gRPC door: listeners, services, health, reflection, drain.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "grpc/listen_address.h"
#include "grpc/tls.h"
#include "service/backend.h"

namespace pgparsed::grpc_door {

struct ServerOptions {
  std::vector<ListenAddress> listen;
  // Of Unix sockets: permission bits, and who they belong to (unset: the process' own).
  uint32_t unix_mode = 0660;
  std::optional<uid_t> unix_user;
  std::optional<gid_t> unix_group;
  // Of TCP listeners. Without it they are plaintext.
  std::optional<TlsOptions> tls;
  // Calls of one connection at a time; more wait at the client.
  uint32_t max_concurrent_streams = 1024;
  // Memory of gRPC for requests and answers of all connections; calls beyond fail.
  uint64_t max_rpc_memory = 1ull << 30;
  // A connection is closed (GOAWAY) after so long, give or take a tenth, so that clients look for
  // servers anew; its calls may then go on for the grace. Infinite: never.
  absl::Duration max_connection_age = absl::InfiniteDuration();
  absl::Duration max_connection_age_grace = absl::Minutes(5);
  // A connection without calls is closed after so long.
  absl::Duration max_connection_idle = absl::Minutes(30);
  // A connection that is silent for so long gets a ping, and is closed if no answer comes in
  // keepalive_timeout.
  absl::Duration keepalive_interval = absl::Minutes(1);
  absl::Duration keepalive_timeout = absl::Seconds(20);
};

class Server {
 public:
  // Listens and serves. The addresses were checked (CheckListenAddress). The backend must outlive
  // the server. Errors are for the operator.
  static absl::StatusOr<std::unique_ptr<Server>> Start(const ServerOptions& options,
                                                       service::Backend& backend);

  // The same for AdminService alone, on the listeners of `options`.
  static absl::StatusOr<std::unique_ptr<Server>> StartAdmin(const ServerOptions& options,
                                                            pool::Pool& pool);

  virtual ~Server() = default;

  // Where it listens: ports that the system chose are filled in.
  virtual const std::vector<ListenAddress>& addresses() const = 0;

  // Health answers NOT_SERVING from now on; calls are still served.
  virtual void SetNotServing() = 0;

  // Takes no new calls (clients get a GOAWAY), waits until those in flight are answered or the
  // deadline has passed, then cancels what is left. Blocks.
  virtual void Shutdown(absl::Time deadline) = 0;
};

}  // namespace pgparsed::grpc_door
