// A pgparsed of one's own: a child process that listens on a Unix socket which only this user can
// reach, for as long as the object lives. For pgparse where no server runs, and for tests.
//
// Thread-safety: Start may be called from any thread; an object belongs to one thread at a time.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace pgparsed {

struct PrivateServerOptions {
  // The executable. Empty: $PGPARSED_BIN, else "pgparsed" beside the running executable, else
  // "pgparsed" in $PATH.
  std::string binary;

  // Flags behind those that make the server private (--listen, --exit-with-parent).
  std::vector<std::string> flags;

  // The longest that Start waits for the first answer.
  std::chrono::milliseconds start_timeout{10'000};

  // How long the destructor lets the server drain (SIGTERM) before it kills it. Zero: SIGKILL at
  // once; the server's workers die with it.
  std::chrono::milliseconds stop_timeout{0};
};

class PrivateServer {
 public:
  // Starts the server and blocks until it answers ListGrammars. kUnavailable when there is no
  // executable, when it ends by itself (the message holds the last lines that it wrote) or when
  // the time is over.
  //
  // The server gets the environment without PGPARSED_*, PGPARSED_WORKER_DIR excepted, so that it
  // does what the flags say. It dies with this process and also with the thread that called Start:
  // let that thread live as long as the object.
  static absl::StatusOr<std::unique_ptr<PrivateServer>> Start(PrivateServerOptions options = {});

  // Stops the server, waits until it is gone and removes its folder.
  ~PrivateServer();
  PrivateServer(const PrivateServer&) = delete;
  PrivateServer& operator=(const PrivateServer&) = delete;

  // "unix:…/pgparsed.sock": what ClientOptions::address takes.
  std::string address() const;
  std::string socket_path() const;
  // The folder (mode 0700) with the socket and the log.
  const std::string& directory() const { return directory_; }
  pid_t pid() const { return pid_; }

  // Everything that the server has written to its standard output and error so far.
  std::string Log() const;

  // Whether the server process still runs. Does not block.
  bool IsRunning();

  // Removes the folder while the server goes on: connections that exist stay, new ones cannot be
  // made. With it not even SIGKILL leaves anything behind.
  void RemoveDirectory();

 private:
  PrivateServer(PrivateServerOptions options, std::string directory);

  absl::Status Spawn(const std::string& binary);
  absl::Status WaitUntilItAnswers();
  absl::Status Ended(const std::string& what);
  void Stop();

  const PrivateServerOptions options_;
  const std::string directory_;
  pid_t pid_ = -1;  // -1: not started, or ended and waited for
  int exit_status_ = 0;
  bool directory_removed_ = false;
};

}  // namespace pgparsed
