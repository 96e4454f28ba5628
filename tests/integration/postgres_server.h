// A PostgreSQL server of a test's own: the one that script/setup fetched, on a Unix socket in a
// temporary folder. It listens on no network, syncs nothing to disk, and is gone with the object;
// should the test die first, it stops by itself.
//
// PostgreSQL does not run as root: a test that does starts it as the user nobody.
// Everything blocks. Not thread-safe; the thread that calls Start must live as long as the object.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "test_server.h"

namespace pgparsed::test {

class PostgresServer {
 public:
  // `settings` are "name=value", as in postgresql.conf. Fails the running test and returns null if
  // the server does not start.
  static std::unique_ptr<PostgresServer> Start(const std::vector<std::string>& settings = {});

  ~PostgresServer();
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  // Mode 0700 and the server's user's. Tests may put files into it.
  const std::string& folder() const { return folder_; }
  // With logging_collector=on: log_directory, where the logs are postgresql.log, .csv and .json.
  std::string LogFile(const std::string& extension) const;

  // Runs psql, pg_dump or another of PostgreSQL's clients as the superuser, for 30 seconds at most.
  // `environment` is all of it beside what the connection needs.
  ProgramResult Run(const std::string& program, const std::vector<std::string>& arguments,
                    const std::vector<std::string>& environment = {}) const;

  // Ends sessions and processes in order and waits for the last one, so that all logs are whole.
  void Stop();

 private:
  explicit PostgresServer(std::string folder);

  std::vector<std::string> Command(const std::string& program) const;
  bool CreateCluster();
  void Spawn(const std::vector<std::string>& settings);
  bool WaitUntilReady();
  void StopWith(int signal);

  const std::string folder_;
  std::string prefix_;  // of PostgreSQL's files
  pid_t pid_ = -1;      // of the postmaster; -1: not started, or ended and waited for
  int alive_ = -1;      // ends when no process of the server is left
};

}  // namespace pgparsed::test
