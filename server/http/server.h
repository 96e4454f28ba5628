// The HTTP door: figures for Prometheus and probes for Kubernetes, in plaintext.
//
//   GET /metrics   Prometheus' text format
//   GET /livez     200 while the process works
//   GET /readyz    200 while the pool can take jobs, else 503
//
// Everything else is 404. Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace pgparsed::http_door {

struct HttpOptions {
  // An IP address or "localhost"; empty: there is no HTTP door.
  std::string host;
  // 0: the system chooses.
  uint16_t port = 0;
};

struct HttpHandlers {
  std::function<std::string()> metrics;
  std::function<bool()> ready;
};

class HttpServer {
 public:
  // Listens and serves on threads of its own until it is destroyed. The handlers may be called from
  // several threads at a time.
  static absl::StatusOr<std::unique_ptr<HttpServer>> Start(const HttpOptions& options,
                                                           HttpHandlers handlers);
  virtual ~HttpServer() = default;

  // The port that it listens on.
  virtual uint16_t port() const = 0;
};

}  // namespace pgparsed::http_door
