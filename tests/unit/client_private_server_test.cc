// The cases in which no server comes up, with small scripts in its place. What a real server does
// is in tests/integration/pgparse_private_server_test.cc.
#include "cpp/private_server.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "pgparsed/errors.h"

namespace pgparsed {
namespace {

namespace fs = std::filesystem;

class PrivateServerTest : public testing::Test {
 protected:
  PrivateServerTest() {
    folder_ = testing::TempDir() + "/private-server-XXXXXX";
    EXPECT_NE(::mkdtemp(folder_.data()), nullptr);
    fs::create_directory(folder_ + "/tmp");
    ::setenv("TMPDIR", (folder_ + "/tmp").c_str(), 1);
    ::unsetenv("PGPARSED_BIN");
  }
  ~PrivateServerTest() override {
    ::unsetenv("TMPDIR");
    ::unsetenv("PGPARSED_BIN");
    fs::remove_all(folder_);
  }

  std::string Script(const std::string& body) {
    const std::string path = folder_ + "/script";
    std::ofstream(path) << "#!/bin/sh\n" << body;
    ::chmod(path.c_str(), 0700);
    return path;
  }

  // The error of a start, after which nothing may be left in the temporary folder.
  absl::Status Failure(PrivateServerOptions options) {
    const absl::Status status = PrivateServer::Start(std::move(options)).status();
    EXPECT_EQ(ReasonOf(status), Reason::kUnavailable);
    EXPECT_TRUE(fs::is_empty(folder_ + "/tmp"));
    return status;
  }

  static bool Says(const absl::Status& status, const std::string& words) {
    return std::string(status.message()).find(words) != std::string::npos;
  }

  std::string folder_;
};

TEST_F(PrivateServerTest, AMissingExecutableIsNamed) {
  PrivateServerOptions options;
  options.binary = folder_ + "/none";
  EXPECT_TRUE(Says(Failure(options), folder_ + "/none is not an executable file"));
}

TEST_F(PrivateServerTest, TheExecutableOfTheEnvironmentIsTaken) {
  ::setenv("PGPARSED_BIN", (folder_ + "/other").c_str(), 1);
  EXPECT_TRUE(Says(Failure({}), "PGPARSED_BIN=" + folder_ + "/other is not"));
}

TEST_F(PrivateServerTest, TheLastWordsOfAServerThatEndsAreInTheError) {
  PrivateServerOptions options;
  options.binary = Script("echo 'pgparsed: no worker executable in /x' >&2; exit 7\n");
  const absl::Status status = Failure(options);
  EXPECT_TRUE(Says(status, "ended with status 7")) << status;
  EXPECT_TRUE(Says(status, "no worker executable in /x")) << status;
}

TEST_F(PrivateServerTest, AServerThatIsKilledIsToldFromOneThatEnds) {
  PrivateServerOptions options;
  options.binary = Script("kill -9 $$\n");
  EXPECT_TRUE(Says(Failure(options), "was killed by signal 9"));
}

TEST_F(PrivateServerTest, AServerThatNeverListensIsGivenUp) {
  PrivateServerOptions options;
  options.binary = Script("exec sleep 1000\n");
  options.start_timeout = std::chrono::milliseconds(50);
  EXPECT_TRUE(Says(Failure(options), "did not answer within 50 ms"));
}

TEST_F(PrivateServerTest,
       TheServerGetsASocketInAPrivateFolderAndItsFlagsAndNoOptionsByEnvironment) {
  ::setenv("PGPARSED_LISTEN", "0.0.0.0:1", 1);
  ::setenv("PGPARSED_WORKER_DIR", "/workers", 1);
  PrivateServerOptions options;
  options.flags = {"--workers=1", "--log-level=debug"};
  options.binary = Script(
      "echo \"$@\"; stat -c 'mode %a' \"$TMPDIR\"/pgparsed-private-*; env | grep PGPARSED_; exit "
      "1\n");
  const absl::Status status = Failure(options);
  ::unsetenv("PGPARSED_LISTEN");
  ::unsetenv("PGPARSED_WORKER_DIR");
  EXPECT_TRUE(Says(status, "--listen=unix:" + folder_ + "/tmp/pgparsed-private-")) << status;
  EXPECT_TRUE(Says(status, "/pgparsed.sock --exit-with-parent --workers=1 --log-level=debug"));
  EXPECT_TRUE(Says(status, "mode 700")) << status;
  EXPECT_TRUE(Says(status, "PGPARSED_WORKER_DIR=/workers")) << status;
  EXPECT_FALSE(Says(status, "PGPARSED_LISTEN")) << status;
}

}  // namespace
}  // namespace pgparsed
