#include "bench/service/lab.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"

namespace pgparsed::bench {
namespace {

absl::StatusOr<Endpoint> Connect(std::string address, pid_t front) {
  // No retries: a call that fails is a failed measurement.
  auto client =
      Client::Connect({.address = address, .max_receive_bytes = 128u << 20, .max_attempts = 1});
  if (!client.ok()) return client.status();
  return Endpoint{{std::move(address), front}, *std::move(client)};
}

// "… listening on 127.0.0.1:40123": the port that the system chose.
absl::StatusOr<std::string> TcpAddressIn(const std::string& log) {
  constexpr std::string_view kBefore = "listening on 127.0.0.1:";
  const size_t at = log.find(kBefore);
  if (at == std::string::npos) return absl::InternalError("pgparsed says no TCP address:\n" + log);
  const size_t begin = at + kBefore.size();
  const size_t end = log.find_first_not_of("0123456789", begin);
  return absl::StrCat("127.0.0.1:", log.substr(begin, end - begin));
}

absl::StatusOr<std::unique_ptr<Service>> StartService(const Options& options, uint32_t workers) {
  auto server = PrivateServer::Start(
      {.binary = options.programs + "/pgparsed",
       .flags = {"--listen=127.0.0.1:0", absl::StrCat("--workers=", workers)}});
  if (!server.ok()) return server.status();
  auto service = std::make_unique<Service>();
  service->server = *std::move(server);
  const pid_t pid = service->server->pid();
  auto unix_socket = Connect(service->server->address(), pid);
  if (!unix_socket.ok()) return unix_socket.status();
  service->unix_socket = *std::move(unix_socket);
  const auto address = TcpAddressIn(service->server->Log());
  if (!address.ok()) return address.status();
  auto tcp = Connect(*address, pid);
  if (!tcp.ok()) return tcp.status();
  service->tcp = *std::move(tcp);
  return service;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Echo>> Echo::Start(const std::string& programs) {
  std::string folder = "/tmp/pgparsed-echo-XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) {
    return absl::ResourceExhaustedError("cannot make a folder in /tmp");
  }
  std::unique_ptr<Echo> echo(new Echo(std::move(folder)));
  const std::string socket = echo->folder_ + "/socket";
  auto child = Child::Start({programs + "/service_echo", socket});
  if (!child.ok()) return child.status();
  echo->child_ = *std::move(child);
  // It listens when it answers.
  const auto address = echo->child_->Ask("address");
  if (!address.ok()) return address.status();
  const pid_t pid = echo->child_->pid();
  auto unix_socket = Connect("unix:" + socket, pid);
  if (!unix_socket.ok()) return unix_socket.status();
  echo->unix_socket_ = *std::move(unix_socket);
  auto tcp = Connect(address->front(), pid);
  if (!tcp.ok()) return tcp.status();
  echo->tcp_ = *std::move(tcp);
  return echo;
}

Echo::~Echo() {
  child_ = nullptr;
  unlink((folder_ + "/socket").c_str());
  rmdir(folder_.c_str());
}

absl::Status Echo::ShareAnswer(const std::string& bytes) {
  return child_->Ask("answer shared", bytes).status();
}

absl::Status Echo::CopyAnswer(const std::string& bytes) {
  return child_->Ask("answer copied", bytes).status();
}

Lab::Lab(const Options& options) : options_(options), inputs_(Inputs(options.corpus)) {}

absl::StatusOr<std::unique_ptr<Lab>> Lab::Open(const Options& options) {
  std::unique_ptr<Lab> lab(new Lab(options));
  const auto service = lab->TheService();
  if (!service.ok()) return service.status();
  const auto grammars = (*service)->unix_socket.client->ListGrammars();
  if (!grammars.ok()) return grammars.status();
  for (const v1::Grammar& grammar : grammars->grammars()) {
    lab->grammars_.push_back(grammar.major());
  }
  return lab;
}

bool Lab::HasGrammar(uint32_t grammar) const {
  return std::find(grammars_.begin(), grammars_.end(), grammar) != grammars_.end();
}

const std::string* Lab::Text(std::string_view name) const {
  for (const Input& input : inputs_) {
    if (input.name == name) return &input.texts.front();
  }
  return nullptr;
}

absl::StatusOr<Service*> Lab::WithWorkers(uint32_t workers) {
  std::unique_ptr<Service>& service = services_[workers];
  if (service == nullptr) {
    auto started = StartService(options_, workers);
    if (!started.ok()) return started.status();
    service = *std::move(started);
  }
  return service.get();
}

absl::StatusOr<std::unique_ptr<Service>> Lab::Fresh(uint32_t workers) const {
  return StartService(options_, workers);
}

absl::StatusOr<Echo*> Lab::TheEcho() {
  if (echo_ == nullptr) {
    auto started = Echo::Start(options_.programs);
    if (!started.ok()) return started.status();
    echo_ = *std::move(started);
  }
  return echo_.get();
}

absl::StatusOr<InProcess*> Lab::InProcessOf(uint32_t grammar) {
  std::unique_ptr<InProcess>& program = in_process_[grammar];
  if (program == nullptr) {
    auto started = InProcess::Start(options_.programs, grammar);
    if (!started.ok()) return started.status();
    program = *std::move(started);
  }
  return program.get();
}

}  // namespace pgparsed::bench
