#include "cli/connection.h"

#include <grpc/grpc.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cli/loopback_listener.h"
#include "cli/stream_commands.h"
#include "cpp/address.h"
#include "cpp/private_server.h"

namespace pgparsed::cli {
namespace {

constexpr const char* kDefaultHost = "127.0.0.1";
constexpr std::chrono::milliseconds kQuickCheck{1'000};

// Holds back the signals that end the process. Threads that start meanwhile inherit it.
class HeldSignals {
 public:
  HeldSignals() {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int signal : {SIGHUP, SIGINT, SIGTERM}) sigaddset(&signals, signal);
    pthread_sigmask(SIG_BLOCK, &signals, &before_);
  }
  ~HeldSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

 private:
  sigset_t before_;
};

absl::StatusOr<std::unique_ptr<Client>> Connect(const Arguments& arguments, std::string address) {
  ClientOptions options;
  options.address = std::move(address);
  options.timeout = arguments.timeout;
  options.grammar = arguments.grammar;
  options.user_agent = "pgparse/" PGPARSED_VERSION;
  const TlsFiles& files = arguments.tls_files;
  if (arguments.tls || !files.ca_file.empty() || !files.cert_file.empty() ||
      !files.key_file.empty() || !arguments.tls_server_name.empty()) {
    auto credentials = TlsCredentials(files);
    if (!credentials.ok()) return credentials.status();
    options.credentials = *std::move(credentials);
    options.tls_server_name = arguments.tls_server_name;
  }
  return Client::Connect(std::move(options));
}

enum class Listener { kNone, kTrusted, kStranger };

Listener WhoListens(uid_t* stranger) {
  const std::vector<uid_t> owners = LoopbackListenerOwners(client::kDefaultPort);
  if (owners.empty()) return Listener::kNone;
  for (const uid_t owner : owners) {
    if (owner == 0 || owner == geteuid()) continue;
    *stranger = owner;
    return Listener::kStranger;
  }
  return Listener::kTrusted;
}

}  // namespace

Connection::Connection() {
  // Never undone: the last grpc_shutdown of a process can wait up to 10 s for a poller of gRPC's,
  // and nobody should wait for that at the end of a command.
  grpc_init();
}
Connection::Connection(Connection&&) noexcept = default;
Connection& Connection::operator=(Connection&&) noexcept = default;

Connection::~Connection() {
  client_.reset();  // before its server goes
}

absl::StatusOr<Connection> Connection::Open(const Arguments& arguments, std::string* note) {
  const HeldSignals held;
  Connection connection;
  if (!arguments.address.empty()) {
    auto client = Connect(arguments, arguments.address);
    if (!client.ok()) return client.status();
    connection.client_ = *std::move(client);
    return connection;
  }

  const std::string default_address = absl::StrCat(kDefaultHost, ":", client::kDefaultPort);
  uid_t stranger = 0;
  const Listener listener = WhoListens(&stranger);
  if (listener == Listener::kTrusted) {
    auto client = Connect(arguments, default_address);
    if (!client.ok()) return client.status();
    CallOptions quick;
    quick.timeout = kQuickCheck;
    if ((*client)->ListGrammars({}, quick).ok()) {
      connection.client_ = *std::move(client);
      return connection;
    }
  }

  PrivateServerOptions options;
  if (!IsStreamCommand(arguments.command)) options.flags = {"--workers=1"};  // for one call
  auto server = PrivateServer::Start(std::move(options));
  if (!server.ok()) {
    return MakeError(
        ReasonOf(server.status()),
        absl::StrCat(
            listener == Listener::kNone ? "no server listens on "
                                        : "what listens on the default address is not taken: ",
            default_address, ", and none can be started: ", std::string(server.status().message()),
            "\nName a server with --address."));
  }
  if (listener == Listener::kStranger) {
    *note = absl::StrCat(default_address, " belongs to user ", stranger,
                         ", not to you or root: using a private server (--address ",
                         default_address, " takes it all the same)");
  }
  connection.server_ = *std::move(server);
  auto client = Connect(arguments, connection.server_->address());
  if (!client.ok()) return client.status();
  CallOptions first;
  first.wait_for_ready = true;
  first.timeout = PrivateServerOptions().start_timeout;
  if (const auto grammars = (*client)->ListGrammars({}, first); !grammars.ok()) {
    return grammars.status();
  }
  // The connection stands, so nobody needs the socket any more.
  connection.server_->RemoveDirectory();
  connection.client_ = *std::move(client);
  return connection;
}

}  // namespace pgparsed::cli
