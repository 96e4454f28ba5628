// pgparse where no server was named: whom it trusts, its private server, and what it leaves behind.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "pgparse_process.h"
#include "test_server.h"

namespace pgparsed::test {
namespace {

constexpr uint16_t kDefaultPort = 50051;

// A socket that listens on the default address and answers nothing; -1 if it cannot be had.
int ListenOnDefaultPort() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(kDefaultPort);
  const int one = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
      ::listen(fd, 8) == 0) {
    return fd;
  }
  ::close(fd);
  return -1;
}

class PgparsePrivateServer : public ::testing::Test {
 protected:
  void SetUp() override {
    if (EnterPrivateNetwork()) return;
    const int fd = ListenOnDefaultPort();
    if (fd < 0) GTEST_SKIP() << "port 50051 is in use and a network of one's own is not permitted";
    ::close(fd);
  }

  PgparseResult Run(std::vector<std::string> arguments, std::vector<std::string> environment = {}) {
    PgparseRun run;
    run.arguments = std::move(arguments);
    run.environment = std::move(environment);
    return RunPgparse(place_, run);
  }

  std::string Script(const std::string& body) {
    const std::string path = place_.File("script", "#!/bin/sh\n" + body);
    ::chmod(path.c_str(), 0700);
    return path;
  }

  Workplace place_;
};

TEST_F(PgparsePrivateServer, IsStartedWhereNothingRunsAndLeavesNothingBehind) {
  const PgparseResult result = Run({"normalize", "SELECT 1"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, "SELECT $1\n");
  EXPECT_EQ(result.err, "");
  EXPECT_TRUE(place_.IsClean());
}

TEST_F(PgparsePrivateServer, LeavesNothingBehindAfterAnError) {
  EXPECT_EQ(Run({"parse", "SELECT ("}).exit_code, 1);
  EXPECT_TRUE(place_.IsClean());
}

TEST_F(PgparsePrivateServer, IsTakenFromTheEnvironment) {
  const PgparseResult result = Run({"parse", "SELECT 1"}, {"PGPARSED_BIN=/no/such/pgparsed"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_NE(result.err.find("PGPARSED_BIN=/no/such/pgparsed is not an executable file"),
            std::string::npos)
      << result.err;
  EXPECT_NE(result.err.find("--address"), std::string::npos) << result.err;
}

TEST_F(PgparsePrivateServer, ThatCannotStartSaysWhy) {
  const PgparseResult result =
      Run({"parse", "SELECT 1"}, {"PGPARSED_WORKER_DIR=" + place_.folder()});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_NE(result.err.find("pgparsed-worker"), std::string::npos) << result.err;
  EXPECT_TRUE(place_.IsClean());
}

TEST_F(PgparsePrivateServer, IsNotNeededWhereAServerOfTheUserListens) {
  const TestServer started = StartTestServer({"--listen=127.0.0.1:50051", "--workers=1"});
  ASSERT_NE(started.client, nullptr);
  const PgparseResult result = Run({"normalize", "SELECT 1"}, {"PGPARSED_BIN=/none"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "SELECT $1\n");
}

TEST_F(PgparsePrivateServer, IsStartedWhereSomethingElseListens) {
  const int fd = ListenOnDefaultPort();
  ASSERT_GE(fd, 0);
  const PgparseResult result = Run({"normalize", "SELECT 1"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "SELECT $1\n");
  ::close(fd);
}

TEST_F(PgparsePrivateServer, IsStartedWhereAnotherUserListensAndPgparseSaysSo) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to listen as somebody else";
  constexpr uid_t kNobody = 65534;
  int ready[2];
  ASSERT_EQ(::pipe2(ready, O_CLOEXEC), 0);
  const pid_t stranger = ::fork();
  if (stranger == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    // The process' sockets belong to the user that it is when it makes them.
    const bool other = ::setuid(kNobody) == 0;
    const char word = other && ListenOnDefaultPort() >= 0 ? 'y' : 'n';
    if (::write(ready[1], &word, 1) != 1) ::_exit(1);
    ::pause();
    ::_exit(0);
  }
  char word = 0;
  ASSERT_EQ(::read(ready[0], &word, 1), 1);
  EXPECT_EQ(word, 'y');
  const PgparseResult result = Run({"normalize", "SELECT 1"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "SELECT $1\n");
  EXPECT_NE(result.err.find("127.0.0.1:50051 belongs to user 65534"), std::string::npos)
      << result.err;
  ::kill(stranger, SIGKILL);
  ::waitpid(stranger, nullptr, 0);
  for (const int end : ready) ::close(end);
}

TEST_F(PgparsePrivateServer, IsGoneAfterPgparseWasKilledInTheMiddleOfItsOutput) {
  // A pipe that nobody empties holds pgparse back while its server lives.
  std::string sql = "SELECT 1";
  for (int i = 0; i < 20'000; ++i) sql += ", 1";
  PgparseRun run;
  run.arguments = {"parse", "-f", place_.File("large.sql", sql)};
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  const pid_t pid = SpawnPgparse(place_, run, null, ends[1], null);
  ::close(ends[1]);
  char byte = 0;
  ASSERT_EQ(::read(ends[0], &byte, 1), 1);
  EXPECT_EQ(ChildrenOf(pid).size(), 1u);
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  EXPECT_TRUE(place_.IsClean());
  ::close(ends[0]);
  ::close(null);
}

TEST_F(PgparsePrivateServer, IsGoneAfterAnInterruptDuringItsStart) {
  PgparseRun run;
  run.arguments = {"parse", "SELECT 1"};
  run.environment = {"PGPARSED_BIN=" + Script("exec sleep 1000\n")};
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  const pid_t pid = SpawnPgparse(place_, run, null, null, null);
  // Until the script runs as sleep, which ends at SIGINT as a server would.
  const auto sleeps = [&] {
    for (const pid_t child : ChildrenOf(pid)) {
      std::ifstream file("/proc/" + std::to_string(child) + "/comm");
      std::string name;
      if (std::getline(file, name) && name == "sleep") return true;
    }
    return false;
  };
  while (!sleeps()) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_FALSE(std::filesystem::is_empty(place_.temporary()));
  ::kill(-pid, SIGINT);  // as Ctrl-C: the whole group
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT) << status;
  EXPECT_TRUE(place_.IsClean());
  ::close(null);
}

TEST(PrivateServerProcess, RunsUntilItsObjectIsDestroyedAndCanDrain) {
  PrivateServerOptions options;
  options.binary = ServerBinary();
  options.flags = {"--workers=1"};
  options.stop_timeout = std::chrono::seconds(20);
  auto server = PrivateServer::Start(options);
  ASSERT_TRUE(server.ok()) << server.status();
  const pid_t pid = (*server)->pid();
  const std::string folder = (*server)->directory();
  struct stat info {};
  ASSERT_EQ(::stat(folder.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
  EXPECT_TRUE((*server)->IsRunning());
  EXPECT_FALSE((*server)->Log().empty());
  server->reset();
  EXPECT_EQ(::kill(pid, 0), -1);
  EXPECT_FALSE(std::filesystem::exists(folder));
}

}  // namespace
}  // namespace pgparsed::test
