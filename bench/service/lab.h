// All that the figures need, started when the first of them asks for it: servers with clients, the
// echo server, libpg_query in-process, texts. The destructor stops every process.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bench/inputs.h"
#include "bench/service/commands.h"
#include "bench/service/in_process.h"
#include "bench/service/measure.h"
#include "bench/service/options.h"
#include "cpp/private_server.h"
#include "pgparsed/client.h"

namespace pgparsed::bench {

// One way to reach a server.
struct Endpoint {
  Target target;
  std::unique_ptr<Client> client;
};

struct Service {
  std::unique_ptr<PrivateServer> server;
  Endpoint unix_socket;
  Endpoint tcp;
};

// The floor (echo_main.cc).
class Echo {
 public:
  static absl::StatusOr<std::unique_ptr<Echo>> Start(const std::string& programs);
  ~Echo();

  // What it answers from now on: a serialized pgparsed.v1 response.
  absl::Status ShareAnswer(const std::string& bytes);
  absl::Status CopyAnswer(const std::string& bytes);

  const Endpoint& unix_socket() const { return unix_socket_; }
  const Endpoint& tcp() const { return tcp_; }

 private:
  explicit Echo(std::string folder) : folder_(std::move(folder)) {}

  const std::string folder_;  // with the socket
  std::unique_ptr<Child> child_;
  Endpoint unix_socket_;
  Endpoint tcp_;
};

class Lab {
 public:
  // Learns which grammars there are.
  static absl::StatusOr<std::unique_ptr<Lab>> Open(const Options& options);

  const Options& options() const { return options_; }
  Seconds seconds() const { return Seconds(options_.seconds); }

  bool HasGrammar(uint32_t grammar) const;
  // The one that is measured where nothing else is said: the server's default.
  uint32_t grammar() const { return grammars_.front(); }
  std::string grammar_name() const { return std::to_string(grammar()); }

  // Small inputs by name (bench/inputs.h); nullptr if the corpus lacks it.
  const std::string* Text(std::string_view name) const;

  // A server with so many workers. The same one every time.
  absl::StatusOr<Service*> WithWorkers(uint32_t workers);
  absl::StatusOr<Service*> TheService() { return WithWorkers(options_.workers); }
  // One that nobody has used yet.
  absl::StatusOr<std::unique_ptr<Service>> Fresh(uint32_t workers) const;

  absl::StatusOr<Echo*> TheEcho();
  absl::StatusOr<InProcess*> InProcessOf(uint32_t grammar);

 private:
  explicit Lab(const Options& options);

  const Options options_;
  const std::vector<Input> inputs_;
  std::vector<uint32_t> grammars_;  // the default first
  std::map<uint32_t, std::unique_ptr<Service>> services_;
  std::unique_ptr<Echo> echo_;
  std::map<uint32_t, std::unique_ptr<InProcess>> in_process_;
};

}  // namespace pgparsed::bench
