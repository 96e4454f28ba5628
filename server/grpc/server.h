// The gRPC door: listeners, services, health, reflection, drain.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "grpc/listen_address.h"
#include "service/backend.h"

namespace pgparsed::grpc_door {

struct ServerOptions {
  std::vector<ListenAddress> listen;
  // Permission bits of Unix sockets.
  uint32_t unix_mode = 0660;
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
