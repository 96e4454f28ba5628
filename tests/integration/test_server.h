// A server of the build under test, and clients of it.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cpp/private_server.h"
#include "pgparsed/client.h"

namespace pgparsed::test {

// The executables under test.
std::string ServerBinary();

struct TestServer {
  std::unique_ptr<PrivateServer> server;
  std::unique_ptr<Client> client;
};

// Fails the running test and returns an empty one if the server does not start.
TestServer StartTestServer(std::vector<std::string> flags = {});

// The grammars that the build under test has, from the server itself.
std::vector<uint32_t> Grammars(Client& client);

// A suite of tests that share one server.
class SharedServer : public ::testing::Test {
 protected:
  static void SetUpTestSuite();
  static void TearDownTestSuite();
  void SetUp() override;

  static Client& client();

  std::vector<uint32_t> grammars_;  // that the server has, the default first

 private:
  static std::unique_ptr<TestServer> server_;
};

// Processes whose parent is `pid` at this moment.
std::vector<pid_t> ChildrenOf(pid_t pid);

// Runs a program to its end, for 30 seconds at most; output and error output together.
struct ProgramResult {
  int exit_code = -1;  // 128 + signal when a signal ended it
  std::string output;
};
ProgramResult RunProgram(const std::vector<std::string>& command);

}  // namespace pgparsed::test
