// The server that pgparse talks to: the one that it was told, the one on the default address, or a
// private one.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "cli/arguments.h"
#include "pgparsed/client.h"

namespace pgparsed {
class PrivateServer;
}  // namespace pgparsed

namespace pgparsed::cli {

class Connection {
 public:
  // With an address: a client of it, without a call. Without one: the server on 127.0.0.1:50051 if
  // it answers ListGrammars and its socket belongs to this user or to root, because SQL holds
  // secrets and every user of a machine may listen there; else a private server, started and asked
  // before this returns. `note` gets a line for people when somebody else listens there.
  //
  // Until a private server's folder is removed again, signals that would end the process are held
  // back, so that not even Ctrl-C leaves anything behind.
  static absl::StatusOr<Connection> Open(const Arguments& arguments, std::string* note);

  Connection(Connection&&) noexcept;
  Connection& operator=(Connection&&) noexcept;
  ~Connection();

  Client& client() { return *client_; }

 private:
  Connection();

  std::unique_ptr<PrivateServer> server_;  // null: somebody else's
  std::unique_ptr<Client> client_;
};

}  // namespace pgparsed::cli
