// pgparsed, the front: reads the options, starts the pool and the doors, waits for a signal,
// drains.

#include <grpc/grpc.h>
#include <pthread.h>
#include <signal.h>
#include <spdlog/spdlog.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <memory>

#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "grpc/server.h"
#include "http/metrics.h"
#include "http/server.h"
#include "logging.h"
#include "options.h"
#include "pool/pool.h"
#include "service/backend.h"

namespace pgparsed {
namespace {

constexpr int kExitOptions = 2;
constexpr int kExitStart = 1;

// One line for the operator; the log may be off.
int Fail(const absl::Status& status, int exit_code) {
  std::fprintf(stderr, "pgparsed: %.*s\n", static_cast<int>(status.message().size()),
               status.message().data());
  return exit_code;
}

// Blocked before any thread exists, so that all threads inherit the mask and only Wait sees them.
sigset_t BlockEndSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

// Each connection and each worker takes descriptors; what is allowed beyond the usual 1,024 is
// there for servers.
void RaiseDescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

int Run(const Options& options) {
  const sigset_t end_signals = BlockEndSignals();
  signal(SIGPIPE, SIG_IGN);
  // Debian builds Abseil with checks for deadlocks in every lock of gRPC.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  // Never undone: the last grpc_shutdown of a process waits up to 10 s for a poller that gRPC
  // keeps after large answers.
  grpc_init();
  if (options.exit_with_parent) {
    const pid_t parent = getppid();
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) return kExitStart;  // it died before the signal was asked for
  }
  StartLogging(options.log);

  for (const auto* listen : {&options.server.listen, &options.admin.listen}) {
    for (const grpc_door::ListenAddress& address : *listen) {
      if (absl::Status status = grpc_door::CheckListenAddress(address); !status.ok()) {
        return Fail(status, kExitOptions);
      }
    }
  }
  if (options.server.tls) {
    if (absl::Status status = grpc_door::CheckTlsFiles(*options.server.tls); !status.ok()) {
      return Fail(status, kExitOptions);
    }
  }
  RaiseDescriptorLimit();
  absl::StatusOr<std::unique_ptr<pool::Pool>> pool = pool::Pool::Start(options.pool);
  if (!pool.ok()) return Fail(pool.status(), kExitStart);
  service::Backend backend(**pool, options.limits);
  absl::StatusOr<std::unique_ptr<grpc_door::Server>> server =
      grpc_door::Server::Start(options.server, backend);
  if (!server.ok()) return Fail(server.status(), kExitStart);

  std::unique_ptr<grpc_door::Server> admin;
  if (!options.admin.listen.empty()) {
    auto started = grpc_door::Server::StartAdmin(options.admin, **pool);
    if (!started.ok()) return Fail(started.status(), kExitStart);
    admin = *std::move(started);
    for (const grpc_door::ListenAddress& address : admin->addresses()) {
      spdlog::info("AdminService on {}", address.ToString());
    }
  }

  std::unique_ptr<http_door::HttpServer> http;
  std::atomic<bool> draining = false;
  if (!options.http.host.empty()) {
    auto started = http_door::HttpServer::Start(
        options.http, {.metrics = [&] { return http_door::MetricsText(backend, **pool); },
                       .ready = [&] { return !draining && (*pool)->Ready(); }});
    if (!started.ok()) return Fail(started.status(), kExitStart);
    http = *std::move(started);
    spdlog::info("metrics and probes on http://{}:{}", options.http.host, http->port());
  }
  for (const grpc_door::ListenAddress& address : (*server)->addresses()) {
    spdlog::info("listening on {}", address.ToString());
  }
  for (const pool::GrammarStatus& grammar : (*pool)->Grammars()) {
    spdlog::info("grammar {}: libpg_query {}, PostgreSQL {}, {} workers{}", grammar.major,
                 grammar.library_version, grammar.postgres_version, grammar.workers,
                 grammar.is_default ? ", the default" : "");
  }

  int signal_number = 0;
  sigwait(&end_signals, &signal_number);
  spdlog::info("{}: draining", signal_number == SIGTERM ? "SIGTERM" : "SIGINT");
  draining = true;
  (*server)->SetNotServing();
  absl::SleepFor(options.drain_delay);
  const absl::Time deadline = absl::Now() + options.drain_timeout;
  (*server)->Shutdown(deadline);
  if (admin != nullptr) admin->Shutdown(deadline);
  (*pool)->Drain(deadline);
  spdlog::info("stopped");
  return 0;
}

}  // namespace
}  // namespace pgparsed

int main(int argc, char** argv) {
  pgparsed::ParsedOptions parsed = pgparsed::ParseOptions(argc, argv);
  if (!parsed.options) return parsed.exit_code;
  return pgparsed::Run(*parsed.options);
}
