// Addresses as people write them, as gRPC targets. Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace pgparsed::client {

inline constexpr int kDefaultPort = 50051;

// "host:port", "[v6]:port", "host" (the default port), "unix:/path" or "/path" to a gRPC target. A
// target in a scheme of gRPC's ("dns:///host:port", "ipv4:…", "unix-abstract:…") passes as it is.
// kInvalidRequest, with what an address looks like, for anything else.
absl::StatusOr<std::string> TargetOfAddress(std::string_view address);

// Whether a target stays on this machine: a Unix socket or a loopback address. Such connections
// must not go through a proxy.
bool IsLocalTarget(std::string_view target);

}  // namespace pgparsed::client
