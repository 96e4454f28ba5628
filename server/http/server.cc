#include "http/server.h"

#include <httplib.h>

#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace pgparsed::http_door {
namespace {

// Scrapes and probes: few, small, one after the other.
constexpr size_t kThreads = 2;
constexpr size_t kMaxRequestBytes = 4096;
constexpr time_t kTimeoutSeconds = 5;

class HttplibServer final : public HttpServer {
 public:
  explicit HttplibServer(HttpHandlers handlers) : handlers_(std::move(handlers)) {
    server_.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
    server_.set_payload_max_length(kMaxRequestBytes);
    server_.set_read_timeout(kTimeoutSeconds);
    server_.set_write_timeout(kTimeoutSeconds);
    server_.set_keep_alive_timeout(kTimeoutSeconds);
    server_.Get("/metrics", [this](const httplib::Request&, httplib::Response& response) {
      response.set_content(handlers_.metrics(), "text/plain; version=0.0.4; charset=utf-8");
    });
    server_.Get("/livez", [](const httplib::Request&, httplib::Response& response) {
      response.set_content("ok\n", "text/plain");
    });
    server_.Get("/readyz", [this](const httplib::Request&, httplib::Response& response) {
      const bool ready = handlers_.ready();
      response.status = ready ? 200 : 503;
      response.set_content(ready ? "ok\n" : "not ready\n", "text/plain");
    });
  }

  ~HttplibServer() override {
    server_.stop();
    if (thread_.joinable()) thread_.join();
  }

  absl::Status Listen(const HttpOptions& options) {
    int port = options.port;
    if (port == 0) {
      port = server_.bind_to_any_port(options.host);
    } else if (!server_.bind_to_port(options.host, port)) {
      port = -1;
    }
    if (port < 0) {
      return absl::InvalidArgumentError(absl::StrCat("cannot listen for HTTP on ", options.host,
                                                     ":", options.port,
                                                     ": choose another with --http-listen"));
    }
    port_ = static_cast<uint16_t>(port);
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    // stop() does nothing before the server runs.
    while (!server_.is_running()) absl::SleepFor(absl::Milliseconds(1));
    return absl::OkStatus();
  }

  uint16_t port() const override { return port_; }

 private:
  const HttpHandlers handlers_;
  httplib::Server server_;
  uint16_t port_ = 0;
  std::thread thread_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<HttpServer>> HttpServer::Start(const HttpOptions& options,
                                                              HttpHandlers handlers) {
  auto server = std::make_unique<HttplibServer>(std::move(handlers));
  if (absl::Status status = server->Listen(options); !status.ok()) return status;
  return server;
}

}  // namespace pgparsed::http_door
