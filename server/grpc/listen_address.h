// Where the server listens, checked before anything starts: gRPC itself would take over a socket
// file that another server uses, and says little about a port that is taken.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace pgparsed::grpc_door {

struct ListenAddress {
  // A Unix socket's path, or empty for TCP.
  std::string unix_path;
  // Host and port for TCP. The host is an IP address or "localhost".
  std::string host;
  uint16_t port = 0;

  bool is_unix() const { return !unix_path.empty(); }
  bool is_loopback() const;
  // As gRPC takes it and as people write it: "unix:/path", "127.0.0.1:50051", "[::1]:50051".
  std::string ToString() const;
};

// Takes "unix:/path", "host:port" and "[v6]:port". Port 0 lets the system choose.
absl::StatusOr<ListenAddress> ParseListenAddress(std::string_view text);

// Whether the address can be listened on at this moment. Removes a socket file that no server
// uses. Errors say what to do.
absl::Status CheckListenAddress(const ListenAddress& address);

}  // namespace pgparsed::grpc_door
