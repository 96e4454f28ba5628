#include "test_server.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

namespace pgparsed::test {

std::string ServerBinary() { return PGPARSED_TEST_BIN_DIR "/pgparsed"; }

TestServer StartTestServer(std::vector<std::string> flags) {
  TestServer result;
  auto server = PrivateServer::Start({.binary = ServerBinary(), .flags = std::move(flags)});
  if (!server.ok()) {
    ADD_FAILURE() << server.status();
    return result;
  }
  result.server = *std::move(server);
  auto client = Client::Connect({.address = result.server->address()});
  EXPECT_TRUE(client.ok()) << client.status();
  if (client.ok()) result.client = *std::move(client);
  return result;
}

std::vector<uint32_t> Grammars(Client& client) {
  std::vector<uint32_t> majors;
  const auto response = client.ListGrammars();
  EXPECT_TRUE(response.ok()) << response.status();
  if (!response.ok()) return majors;
  for (const v1::Grammar& grammar : response->grammars()) majors.push_back(grammar.major());
  return majors;
}

std::unique_ptr<TestServer> SharedServer::server_;

void SharedServer::SetUpTestSuite() { server_ = std::make_unique<TestServer>(StartTestServer()); }

void SharedServer::TearDownTestSuite() { server_ = nullptr; }

void SharedServer::SetUp() {
  ASSERT_NE(server_->client, nullptr);
  grammars_ = Grammars(client());
  ASSERT_FALSE(grammars_.empty());
}

Client& SharedServer::client() { return *server_->client; }

std::vector<pid_t> ChildrenOf(pid_t pid) {
  std::vector<pid_t> children;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream stat(entry.path() / "stat");
    std::string line;
    if (!std::getline(stat, line)) continue;  // it ended meanwhile
    // pid (name) state ppid …: the name may hold anything, so look behind its last parenthesis.
    std::istringstream rest(line.substr(line.rfind(')') + 1));
    char state = 0;
    pid_t parent = 0;
    rest >> state >> parent;
    if (parent == pid && state != 'Z') children.push_back(std::stoi(name));
  }
  return children;
}

namespace {
constexpr unsigned kProgramSeconds = 30;
}  // namespace

ProgramResult RunProgram(const std::vector<std::string>& command) {
  ProgramResult result;
  int pipe_fds[2];
  if (pipe2(pipe_fds, O_CLOEXEC) != 0) return result;
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const pid_t pid = fork();
  if (pid == 0) {
    alarm(kProgramSeconds);  // survives exec: a program that should end and does not is ended
    dup2(pipe_fds[1], STDOUT_FILENO);
    dup2(pipe_fds[1], STDERR_FILENO);
    execv(argv[0], argv.data());
    _exit(127);
  }
  close(pipe_fds[1]);
  char buffer[4096];
  for (ssize_t n; (n = read(pipe_fds[0], buffer, sizeof(buffer))) > 0;) {
    result.output.append(buffer, static_cast<size_t>(n));
  }
  close(pipe_fds[0]);
  int status = 0;
  waitpid(pid, &status, 0);
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace pgparsed::test
