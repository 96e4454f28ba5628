// The options of pgparsed: one source for flags, environment variables (PGPARSED_*) and the
// configuration file. The defaults stand at the fields of the structs that the options fill.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "grpc/server.h"
#include "http/server.h"
#include "pool/pool.h"
#include "service/limits.h"

namespace pgparsed {

struct LogOptions {
  std::string format = "text";  // or "json"
  std::string level = "info";   // debug, info, warn, error, off
};

struct Options {
  grpc_door::ServerOptions server;
  pool::PoolOptions pool;
  service::Limits limits;
  LogOptions log;
  http_door::HttpOptions http;
  grpc_door::ServerOptions admin;  // without listeners: no AdminService
  // After SIGTERM: how long health says NOT_SERVING before new calls are refused, so that load
  // balancers notice; then how long calls in flight may take.
  absl::Duration drain_delay = absl::ZeroDuration();
  absl::Duration drain_timeout = absl::Seconds(30);
  // End with the process that started this one: for private servers of clients.
  bool exit_with_parent = false;
};

// What the command line comes to. Without options the process ends at once with `exit_code`: help
// or the version was printed, or one line about what is wrong (exit code 2).
struct ParsedOptions {
  std::optional<Options> options;
  int exit_code = 0;
};
ParsedOptions ParseOptions(int argc, char** argv);

}  // namespace pgparsed
