#include "grpc/listen_address.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

namespace pgparsed::grpc_door {
namespace {

TEST(ListenAddress, ReadsAllForms) {
  EXPECT_EQ(ParseListenAddress("unix:/run/p.sock")->unix_path, "/run/p.sock");
  EXPECT_EQ(ParseListenAddress("unix:///run/p.sock")->unix_path, "/run/p.sock");
  EXPECT_EQ(ParseListenAddress("127.0.0.1:50051")->port, 50051);
  EXPECT_EQ(ParseListenAddress("[::1]:0")->host, "::1");
  EXPECT_EQ(ParseListenAddress("[::1]:7")->ToString(), "[::1]:7");
}

TEST(ListenAddress, RefusesWhatIsNone) {
  for (const char* text : {"", "unix:", "50051", "localhost", "127.0.0.1:", "127.0.0.1:x",
                           "127.0.0.1:65536", "::1:50051", ":50051"}) {
    EXPECT_FALSE(ParseListenAddress(text).ok()) << text;
  }
}

TEST(ListenAddress, KnowsLoopback) {
  EXPECT_TRUE(ParseListenAddress("127.0.0.2:1")->is_loopback());
  EXPECT_TRUE(ParseListenAddress("localhost:1")->is_loopback());
  EXPECT_TRUE(ParseListenAddress("unix:/x")->is_loopback());
  EXPECT_FALSE(ParseListenAddress("0.0.0.0:1")->is_loopback());
  EXPECT_FALSE(ParseListenAddress("[::]:1")->is_loopback());
}

class CheckListenAddressTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "/listenXXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  absl::Status CheckUnix(const std::string& path) {
    return CheckListenAddress({.unix_path = path, .host = "", .port = 0});
  }
  // A listening Unix socket; closing it leaves its file.
  static int Listen(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    EXPECT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(listen(fd, 1), 0);
    return fd;
  }

  std::string folder_;
};

TEST_F(CheckListenAddressTest, AFreshPathIsFine) { EXPECT_TRUE(CheckUnix(folder_ + "/s").ok()); }

TEST_F(CheckListenAddressTest, ASocketInUseIsRefusedAndKept) {
  const std::string path = folder_ + "/s";
  const int fd = Listen(path);
  EXPECT_FALSE(CheckUnix(path).ok());
  EXPECT_TRUE(std::filesystem::exists(path));
  close(fd);
}

TEST_F(CheckListenAddressTest, AStaleSocketIsRemoved) {
  const std::string path = folder_ + "/s";
  close(Listen(path));
  EXPECT_TRUE(CheckUnix(path).ok());
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(CheckListenAddressTest, AFileThatIsNoSocketIsRefusedAndKept) {
  const std::string path = folder_ + "/file";
  std::ofstream(path) << "precious";
  EXPECT_FALSE(CheckUnix(path).ok());
  EXPECT_TRUE(std::filesystem::exists(path));
}

TEST_F(CheckListenAddressTest, AMissingFolderAndAPathThatIsTooLongAreRefused) {
  EXPECT_FALSE(CheckUnix(folder_ + "/no/s").ok());
  EXPECT_FALSE(CheckUnix(folder_ + "/" + std::string(120, 'x')).ok());
}

TEST_F(CheckListenAddressTest, APortThatIsTakenIsRefused) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  ASSERT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  ASSERT_EQ(listen(fd, 1), 0);
  socklen_t length = sizeof(address);
  getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length);
  ListenAddress taken{.unix_path = "", .host = "127.0.0.1", .port = ntohs(address.sin_port)};
  EXPECT_FALSE(CheckListenAddress(taken).ok());
  close(fd);
  EXPECT_TRUE(CheckListenAddress(taken).ok());
}

TEST_F(CheckListenAddressTest, AHostThatIsNoAddressIsRefused) {
  EXPECT_FALSE(CheckListenAddress({.unix_path = "", .host = "example.invalid", .port = 1}).ok());
}

}  // namespace
}  // namespace pgparsed::grpc_door
