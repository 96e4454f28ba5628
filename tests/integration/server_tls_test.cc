// TLS of the TCP listeners: server and client certificates, files that change, files that are
// wrong.

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "pgparsed/errors.h"
#include "pgparsed/tls.h"
#include "test_server.h"

namespace pgparsed {
namespace {

using testing::HasSubstr;

// A folder with certificates of authorities of its own.
class Certificates {
 public:
  Certificates() {
    char folder[] = "/tmp/pgparsed-tls-XXXXXX";
    folder_ = mkdtemp(folder);
  }
  ~Certificates() { std::filesystem::remove_all(folder_); }

  std::string Path(const std::string& name) const { return folder_ + "/" + name; }

  // <name>.pem and <name>.key, an authority.
  void MakeAuthority(const std::string& name) const {
    Run("req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=" + name +
        " -keyout " + Path(name + ".key") + " -out " + Path(name + ".pem"));
  }

  // <name>.pem and <name>.key for the host "localhost", signed by an authority.
  void Make(const std::string& name, const std::string& authority) const {
    std::ofstream(Path("extensions")) << "subjectAltName=DNS:localhost,IP:127.0.0.1\n";
    Run("req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=" + name + " -keyout " +
        Path(name + ".key") + " -out " + Path(name + ".csr"));
    Run("x509 -req -days 2 -in " + Path(name + ".csr") + " -CA " + Path(authority + ".pem") +
        " -CAkey " + Path(authority + ".key") + " -CAcreateserial -extfile " + Path("extensions") +
        " -out " + Path(name + ".pem"));
  }

 private:
  static void Run(const std::string& arguments) {
    ASSERT_EQ(std::system(("openssl " + arguments + " >/dev/null 2>&1").c_str()), 0) << arguments;
  }

  std::string folder_;
};

class ServerTls : public ::testing::Test {
 protected:
  ServerTls() {
    files_.MakeAuthority("ca");
    files_.Make("server", "ca");
  }

  std::string Flag(const std::string& flag, const std::string& file) const {
    return absl::StrCat("--", flag, "=", files_.Path(file));
  }

  void Start(std::vector<std::string> flags) {
    flags.push_back("--listen=127.0.0.1:0");
    flags.push_back("--workers=1");
    server_ = test::StartTestServer(std::move(flags));
    ASSERT_NE(server_.client, nullptr);
    // The server answers before it says its port.
    constexpr std::string_view kListening = "listening on 127.0.0.1:";
    for (int i = 0; i < 1000 && port_ == 0; ++i) {
      const std::string log = server_.server->Log();
      const size_t at = log.find(kListening);
      if (at != std::string::npos && log.find('\n', at) != std::string::npos) {
        port_ = std::atoi(log.c_str() + at + kListening.size());
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    ASSERT_NE(port_, 0) << server_.server->Log();
  }

  absl::Status Parse(const TlsFiles& files) {
    const auto credentials = TlsCredentials(files);
    if (!credentials.ok()) return credentials.status();
    return ParseWith(*credentials);
  }

  absl::Status ParseWith(std::shared_ptr<grpc::ChannelCredentials> credentials) {
    auto client = Client::Connect({.address = absl::StrCat("localhost:", port_),
                                   .credentials = std::move(credentials),
                                   .max_attempts = 1});
    if (!client.ok()) return client.status();
    return (*client)->ParseJson("SELECT 1").status();
  }

  TlsFiles Trusting(const std::string& authority) const {
    return {.ca_file = files_.Path(authority + ".pem")};
  }

  Certificates files_;
  test::TestServer server_;
  int port_ = 0;
};

TEST_F(ServerTls, ClientsThatKnowTheAuthorityAreServed) {
  Start({Flag("tls-cert", "server.pem"), Flag("tls-key", "server.key")});
  EXPECT_TRUE(Parse(Trusting("ca")).ok());
  files_.MakeAuthority("other");
  EXPECT_EQ(ReasonOf(Parse(Trusting("other"))), Reason::kUnavailable);
  EXPECT_EQ(ReasonOf(ParseWith(nullptr)), Reason::kUnavailable) << "plaintext";
  EXPECT_TRUE(server_.client->ParseJson("SELECT 1").ok()) << "the Unix socket is plaintext";
}

TEST_F(ServerTls, ClientCertificatesAreRequiredWhenAnAuthorityIsGiven) {
  files_.MakeAuthority("clients");
  files_.MakeAuthority("strangers");
  files_.Make("client", "clients");
  files_.Make("stranger", "strangers");
  Start({Flag("tls-cert", "server.pem"), Flag("tls-key", "server.key"),
         Flag("tls-client-ca", "clients.pem")});
  TlsFiles files = Trusting("ca");
  EXPECT_EQ(ReasonOf(Parse(files)), Reason::kUnavailable);
  files.cert_file = files_.Path("stranger.pem");
  files.key_file = files_.Path("stranger.key");
  EXPECT_EQ(ReasonOf(Parse(files)), Reason::kUnavailable);
  files.cert_file = files_.Path("client.pem");
  files.key_file = files_.Path("client.key");
  EXPECT_TRUE(Parse(files).ok());
}

TEST_F(ServerTls, FilesAreReadAgainWhenTheyChange) {
  Start({Flag("tls-cert", "server.pem"), Flag("tls-key", "server.key"), "--tls-refresh=1s"});
  ASSERT_TRUE(Parse(Trusting("ca")).ok());
  files_.MakeAuthority("next");
  files_.Make("renewed", "next");
  std::filesystem::rename(files_.Path("renewed.pem"), files_.Path("server.pem"));
  std::filesystem::rename(files_.Path("renewed.key"), files_.Path("server.key"));
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!Parse(Trusting("next")).ok() && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  EXPECT_TRUE(Parse(Trusting("next")).ok());
  EXPECT_FALSE(Parse(Trusting("ca")).ok());
}

TEST_F(ServerTls, WrongFilesAreRefusedAtTheStartByTheNameOfTheOption) {
  files_.Make("other", "ca");
  std::ofstream(files_.Path("junk.pem")) << "junk\n";
  const auto refused = [&](std::vector<std::string> flags) {
    flags.insert(flags.begin(), {test::ServerBinary(), "--listen=127.0.0.1:0"});
    const test::ProgramResult result = test::RunProgram(flags);
    EXPECT_EQ(result.exit_code, 2) << result.output;
    return result.output;
  };
  EXPECT_THAT(refused({Flag("tls-cert", "server.pem"), Flag("tls-key", "other.key")}),
              HasSubstr("--tls-key"));
  EXPECT_THAT(refused({Flag("tls-cert", "none.pem"), Flag("tls-key", "server.key")}),
              HasSubstr("--tls-cert"));
  EXPECT_THAT(refused({Flag("tls-cert", "junk.pem"), Flag("tls-key", "server.key")}),
              HasSubstr("--tls-cert"));
  EXPECT_THAT(refused({Flag("tls-cert", "server.pem"), Flag("tls-key", "server.key"),
                       Flag("tls-client-ca", "junk.pem")}),
              HasSubstr("--tls-client-ca"));
  EXPECT_THAT(refused({Flag("tls-key", "server.key")}), HasSubstr("--tls-cert"));
  EXPECT_THAT(refused({Flag("tls-cert", "server.pem")}), HasSubstr("--tls-key"));
  EXPECT_THAT(refused({"--listen=0.0.0.0:0"}), HasSubstr("--tls-cert"));
  EXPECT_THAT(refused({"--unix-owner=no-such-user-here"}), HasSubstr("--unix-owner"));
}

}  // namespace
}  // namespace pgparsed
