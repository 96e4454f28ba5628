// chaos: clients ask for all kinds of things while everything beside them goes wrong, and no call
// may fail for a reason that is not its own, nor get another answer than libpg_query's.
//
//   storm     workers are killed every 100 ms, some are stopped for a while, memory limits are hit,
//             deadlines pass, clients vanish
//   replicas  two servers with TLS behind round robin are drained and started again in turn, and
//             their certificates change
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>

#include "absl/strings/str_cat.h"
#include "cpp/private_server.h"
#include "pgparsed/tls.h"
#include "tests/chaos/load.h"
#include "tests/chaos/queries.h"

namespace pgparsed::chaos {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

struct Options {
  std::string server;
  std::string oracle;
  std::string corpus;
  int seconds = 60;
  int clients = 4;
  uint64_t seed = 1;
};

int Fail(const absl::Status& status) {
  std::fprintf(stderr, "chaos: %s\n", std::string(status.message()).c_str());
  return 2;
}

std::vector<pid_t> ChildrenOf(pid_t pid) {
  std::vector<pid_t> children;
  for (const auto& task :
       std::filesystem::directory_iterator(absl::StrCat("/proc/", pid, "/task"))) {
    std::ifstream file(task.path() / "children");
    for (pid_t child; file >> child;) children.push_back(child);
  }
  return children;
}

// Prints what came of it; whether all is well.
bool Report(const char* name, const Tally& tally, const std::string& events) {
  std::printf("%s: %llu calls, %llu items of batches; %s\n", name,
              static_cast<unsigned long long>(tally.calls),
              static_cast<unsigned long long>(tally.items), events.c_str());
  std::printf("  own failures:");
  for (const auto& [reason, count] : tally.own_failures) {
    std::printf(" %s %llu", reason.c_str(), static_cast<unsigned long long>(count));
  }
  std::printf("\n  failures for a reason that is not their own: %llu\n  wrong answers: %llu\n",
              static_cast<unsigned long long>(tally.foreign_failures),
              static_cast<unsigned long long>(tally.wrong_answers));
  for (const std::string& example : tally.examples) std::printf("  %s\n", example.c_str());
  return tally.calls > 0 && tally.foreign_failures == 0 && tally.wrong_answers == 0;
}

absl::StatusOr<bool> Storm(const Options& options, const std::vector<Query>& queries) {
  auto server = PrivateServer::Start(
      {.binary = options.server,
       .flags = {"--workers=2", "--worker-memory-limit=64MiB", "--log-level=warn"}});
  if (!server.ok()) return server.status();
  Load load(queries, {.address = (*server)->address()}, options.clients, options.seed);
  std::mt19937_64 random(options.seed);
  uint64_t kills = 0;
  uint64_t stops = 0;
  pid_t stopped = 0;
  for (const auto end = Clock::now() + seconds(options.seconds); Clock::now() < end;) {
    std::this_thread::sleep_for(milliseconds(100));
    // A process that is gone takes no signal: its number is not given out again so soon.
    if (stopped != 0) kill(std::exchange(stopped, 0), SIGCONT);
    const std::vector<pid_t> workers = ChildrenOf((*server)->pid());
    if (workers.empty()) continue;
    const pid_t worker = workers[random() % workers.size()];
    if (random() % 10 == 0) {
      stopped = worker;
      stops += kill(worker, SIGSTOP) == 0;
    } else {
      kills += kill(worker, SIGKILL) == 0;
    }
  }
  if (stopped != 0) kill(stopped, SIGCONT);
  load.Stop();
  const bool runs = (*server)->IsRunning();
  if (!runs) std::printf("the front is gone\n");
  // What was not the storm's doing.
  std::istringstream log((*server)->Log());
  for (std::string line; std::getline(log, line);) {
    if (line.find("killed by signal 9") == std::string::npos) std::printf("%s\n", line.c_str());
  }
  return Report("storm", load.tally(),
                absl::StrCat(kills, " workers killed, ", stops, " stopped for a while")) &&
         runs;
}

// Certificates of one authority, made anew for the server again and again.
class Certificates {
 public:
  explicit Certificates(std::string folder) : folder_(std::move(folder)) {}

  std::string Path(const char* name) const { return absl::StrCat(folder_, "/", name); }

  bool MakeAuthority() const {
    return Run(
        absl::StrCat("req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 "
                     "-subj /CN=chaos -keyout ",
                     Path("ca.key"), " -out ", Path("ca.pem")));
  }

  // The server's folder is a symbolic link, so that certificate and key change together.
  bool Renew(int number) const {
    const std::string made = absl::StrCat(folder_, "/", number);
    std::filesystem::create_directory(made);
    std::ofstream(made + "/extensions") << "subjectAltName=DNS:localhost,IP:127.0.0.1\n";
    const bool done =
        Run(absl::StrCat("req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=server",
                         number, " -keyout ", made, "/key.pem -out ", made, "/request")) &&
        Run(absl::StrCat("x509 -req -days 2 -in ", made, "/request -CA ", Path("ca.pem"),
                         " -CAkey ", Path("ca.key"), " -CAcreateserial -extfile ", made,
                         "/extensions -out ", made, "/cert.pem"));
    std::filesystem::create_directory_symlink(made, Path("next"));
    std::filesystem::rename(Path("next"), Path("current"));
    return done;
  }

 private:
  static bool Run(const std::string& arguments) {
    return std::system(absl::StrCat("openssl ", arguments, " >/dev/null 2>&1").c_str()) == 0;
  }

  const std::string folder_;
};

// The port that the system chose for a server. It answers before it says so.
absl::StatusOr<int> PortOf(const PrivateServer& server) {
  constexpr std::string_view kListening = "listening on 127.0.0.1:";
  for (const auto end = Clock::now() + seconds(10); Clock::now() < end;) {
    const std::string log = server.Log();
    const size_t at = log.find(kListening);
    if (at != std::string::npos && log.find('\n', at) != std::string::npos) {
      return std::atoi(log.c_str() + at + kListening.size());
    }
    std::this_thread::sleep_for(milliseconds(10));
  }
  return absl::InternalError("the server does not say its port");
}

absl::StatusOr<bool> Replicas(const Options& options, const std::vector<Query>& queries) {
  char folder[] = "/tmp/pgparsed-chaos-XXXXXX";
  const Certificates certificates(mkdtemp(folder));
  if (!certificates.MakeAuthority() || !certificates.Renew(0)) {
    return absl::FailedPreconditionError("cannot make certificates: is openssl installed?");
  }
  const auto start = [&](int port) {
    return PrivateServer::Start(
        {.binary = options.server,
         .flags = {absl::StrCat("--listen=127.0.0.1:", port),
                   "--tls-cert=" + certificates.Path("current/cert.pem"),
                   "--tls-key=" + certificates.Path("current/key.pem"), "--tls-refresh=1s",
                   "--workers=1", "--drain-delay=200ms"}});
  };
  std::vector<std::unique_ptr<PrivateServer>> servers;
  std::vector<int> ports;
  for (int i = 0; i < 2; ++i) {
    auto server = start(0);
    if (!server.ok()) return server.status();
    auto port = PortOf(**server);
    if (!port.ok()) return port.status();
    servers.push_back(*std::move(server));
    ports.push_back(*port);
  }
  const auto credentials = TlsCredentials({.ca_file = certificates.Path("ca.pem")});
  if (!credentials.ok()) return credentials.status();
  Load load(queries,
            {.address = absl::StrCat("ipv4:127.0.0.1:", ports[0], ",127.0.0.1:", ports[1]),
             .credentials = *credentials,
             .tls_server_name = "localhost"},
            options.clients, options.seed);
  int restarts = 0;
  int renewals = 0;
  for (const auto end = Clock::now() + seconds(options.seconds); Clock::now() < end;) {
    std::this_thread::sleep_for(milliseconds(500));
    renewals += certificates.Renew(renewals + 1);
    const size_t turn = static_cast<size_t>(restarts++) % 2;
    kill(servers[turn]->pid(), SIGTERM);
    while (servers[turn]->IsRunning()) std::this_thread::sleep_for(milliseconds(10));
    auto again = start(ports[turn]);
    if (!again.ok()) return again.status();
    servers[turn] = *std::move(again);
    // Clients that had lost it find it again within a second.
    std::this_thread::sleep_for(milliseconds(1500));
  }
  load.Stop();
  std::filesystem::remove_all(folder);
  return Report("replicas", load.tally(),
                absl::StrCat(restarts, " restarts, ", renewals, " new certificates"));
}

int Main(int argc, char** argv) {
  Options options;
  CLI::App app("Clients ask while everything beside them goes wrong");
  app.add_option("--server-bin", options.server, "pgparsed")->required();
  app.add_option("--oracle", options.oracle, "The oracle of the default grammar")->required();
  app.add_option("--corpus", options.corpus, "The folder with the corpus")->required();
  app.add_option("--seconds", options.seconds, "Of each of the two parts")->capture_default_str();
  app.add_option("--clients", options.clients, "Threads that ask")->capture_default_str();
  app.add_option("--seed", options.seed, "Of what is chosen at random")->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  const auto queries = LoadQueries(options.corpus, options.oracle, 500);
  if (!queries.ok()) return Fail(queries.status());
  const auto storm = Storm(options, *queries);
  if (!storm.ok()) return Fail(storm.status());
  const auto replicas = Replicas(options, *queries);
  if (!replicas.ok()) return Fail(replicas.status());
  return *storm && *replicas ? 0 : 1;
}

}  // namespace
}  // namespace pgparsed::chaos

int main(int argc, char** argv) { return pgparsed::chaos::Main(argc, argv); }
