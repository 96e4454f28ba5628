// Starting, stopping, bad options, grammars on first use, methods that are not there yet.

#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <string>
#include <thread>

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "pgparsed/errors.h"
#include "pgparsed/v1/parser.grpc.pb.h"
#include "test_server.h"

namespace pgparsed {
namespace {

using test::ProgramResult;
using test::RunProgram;
using test::ServerBinary;

class ServerBadInput : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "/pgparsedXXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // One line that names the fault, the given exit code.
  void ExpectRefusal(std::vector<std::string> flags, int exit_code, const std::string& says) {
    flags.insert(flags.begin(), ServerBinary());
    const ProgramResult result = RunProgram(flags);
    EXPECT_EQ(result.exit_code, exit_code) << result.output;
    EXPECT_NE(result.output.find(says), std::string::npos) << result.output;
    EXPECT_EQ(std::count(result.output.begin(), result.output.end(), '\n'), 1) << result.output;
    EXPECT_EQ(result.output.rfind("pgparsed: ", 0), 0u) << result.output;
  }
  std::string Socket() const { return "--listen=unix:" + folder_ + "/s"; }

  std::string folder_;
};

TEST_F(ServerBadInput, AnUnknownOptionIsRefused) {
  ExpectRefusal({"--no-such-option"}, 2, "--help");
}

TEST_F(ServerBadInput, ValuesOutOfRangeAreRefused) {
  ExpectRefusal({Socket(), "--max-job-time=soon"}, 2, "--max-job-time");
  ExpectRefusal({Socket(), "--max-query-bytes=1"}, 2, "--max-query-bytes");
  ExpectRefusal({Socket(), "--max-query-bytes=99999999999999999999"}, 2, "--max-query-bytes");
  ExpectRefusal({Socket(), "--workers=-1"}, 2, "--workers");
  ExpectRefusal({Socket(), "--log-format=xml"}, 2, "--log-format");
  ExpectRefusal({Socket(), "--unix-mode=999"}, 2, "--unix-mode");
}

TEST_F(ServerBadInput, AGrammarThatIsNotThereIsRefusedWithTheList) {
  ExpectRefusal({Socket(), "--default-grammar=99", "--log-level=off"}, 1, "99");
}

TEST_F(ServerBadInput, ASocketPathThatCannotBeUsedIsRefused) {
  ExpectRefusal({"--listen=unix:" + folder_ + "/missing/s"}, 2, "does not exist");
  ExpectRefusal({"--listen=unix:" + folder_ + "/" + std::string(120, 'x')}, 2, "shorter");
  std::ofstream(folder_ + "/file") << "precious";
  ExpectRefusal({"--listen=unix:" + folder_ + "/file"}, 2, "no socket");
}

TEST_F(ServerBadInput, APortThatIsTakenIsRefused) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  ASSERT_EQ(listen(fd, 1), 0);
  socklen_t length = sizeof(address);
  getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length);
  ExpectRefusal({"--listen=127.0.0.1:" + std::to_string(ntohs(address.sin_port))}, 2, "is taken");
  close(fd);
}

TEST_F(ServerBadInput, AnAddressOpenToTheNetworkNeedsAnExplicitWord) {
  ExpectRefusal({"--listen=0.0.0.0:0"}, 2, "--allow-plaintext");
}

TEST_F(ServerBadInput, AFolderWithoutWorkersIsRefused) {
  ExpectRefusal({Socket(), "--worker-dir=" + folder_, "--log-level=off"}, 1, "pgparsed-worker-");
  ExpectRefusal({Socket(), "--worker-dir=" + folder_ + "/missing", "--log-level=off"}, 1,
                "missing");
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/s"));
}

TEST_F(ServerBadInput, AWorkerThatIsNoWorkerIsRefused) {
  std::filesystem::create_symlink("/bin/false", folder_ + "/pgparsed-worker-18");
  ExpectRefusal({Socket(), "--worker-dir=" + folder_, "--log-level=off"}, 1, "pgparsed-worker-18");
}

TEST_F(ServerBadInput, AConfigurationFileThatIsMissingOrWrongIsRefused) {
  ExpectRefusal({"--config=" + folder_ + "/none.toml"}, 2, "none.toml");
  std::ofstream(folder_ + "/bad.toml") << "no-such-option = 1\n";
  ExpectRefusal({"--config=" + folder_ + "/bad.toml"}, 2, "no-such-option");
}

TEST(ServerOptions, ComeFromTheFileAndTheEnvironmentAndTheFlagInThisOrder) {
  std::string pattern = testing::TempDir() + "/pgparsedXXXXXX";
  const std::string folder = mkdtemp(pattern.data());
  std::ofstream(folder + "/a.toml") << "max-query-bytes = \"2KiB\"\n";
  {
    test::TestServer server = test::StartTestServer({"--config=" + folder + "/a.toml"});
    ASSERT_NE(server.client, nullptr);
    EXPECT_EQ(server.client->ListGrammars()->limits().max_query_bytes(), 2048u);
  }
  {
    test::TestServer server =
        test::StartTestServer({"--config=" + folder + "/a.toml", "--max-query-bytes=4KiB"});
    ASSERT_NE(server.client, nullptr);
    EXPECT_EQ(server.client->ListGrammars()->limits().max_query_bytes(), 4096u);
  }
  // The environment wins over the file, and a flag over both: seen by whose nonsense is refused.
  const auto refusal = [&](const std::string& variable, std::vector<std::string> flags) {
    std::vector<std::string> command = {"/usr/bin/env", variable, ServerBinary(),
                                        "--listen=unix:" + folder + "/none/s"};
    command.insert(command.end(), flags.begin(), flags.end());
    return RunProgram(command).output;
  };
  const std::string config = "--config=" + folder + "/a.toml";
  const std::string nonsense = "PGPARSED_MAX_QUERY_BYTES=nonsense";
  EXPECT_NE(refusal(nonsense, {config}).find("'nonsense'"), std::string::npos);
  EXPECT_NE(refusal(nonsense, {config, "--max-query-bytes=4KiB"}).find("does not exist"),
            std::string::npos);
  EXPECT_NE(refusal("PGPARSED_MAX_QUERY_BYTES=", {config}).find("does not exist"),
            std::string::npos);
  std::ofstream(folder + "/b.toml") << "max-query-bytes = \"nonsense\"\n";
  EXPECT_NE(refusal("PGPARSED_CONFIG=" + folder + "/b.toml", {}).find("'nonsense'"),
            std::string::npos);
  std::filesystem::remove_all(folder);
}

TEST(ServerStart, AnotherServersSocketIsNotTaken) {
  test::TestServer server = test::StartTestServer();
  ASSERT_NE(server.client, nullptr);
  const ProgramResult second = RunProgram({ServerBinary(), "--listen=" + server.server->address()});
  EXPECT_EQ(second.exit_code, 2);
  EXPECT_NE(second.output.find("another server"), std::string::npos) << second.output;
  EXPECT_TRUE(server.client->ParseJson("SELECT 1").ok());
}

TEST(ServerStart, GrammarsOtherThanTheDefaultSleepUntilTheyAreUsed) {
  test::TestServer server = test::StartTestServer();
  ASSERT_NE(server.client, nullptr);
  const auto before = server.client->ListGrammars();
  ASSERT_TRUE(before.ok());
  for (int i = 1; i < before->grammars_size(); ++i) {
    EXPECT_EQ(before->grammars(i).workers(), 0u);
    v1::ParseRequest request;
    request.set_query("SELECT 1");
    request.set_grammar(before->grammars(i).major());
    EXPECT_TRUE(server.client->Parse(request).ok());
    EXPECT_GT(server.client->ListGrammars()->grammars(i).workers(), 0u);
  }
}

TEST(ServerStop, SigtermDrainsAndLeavesNothing) {
  std::promise<absl::StatusOr<v1::ParseResponse>> answer;  // outlives the client and its callback
  test::TestServer server = test::StartTestServer();
  ASSERT_NE(server.client, nullptr);
  ASSERT_TRUE(server.client->ParseJson("SELECT 1").ok());
  const std::vector<pid_t> workers = test::ChildrenOf(server.server->pid());
  EXPECT_FALSE(workers.empty());

  // A call in flight when the signal comes is answered.
  std::string sql = "SELECT 1";
  for (int i = 0; i < 100'000; ++i) sql += "," + std::to_string(i);
  v1::ParseRequest request;
  request.set_query(sql);
  server.client->ParseAsync(request,
                            [&](absl::StatusOr<v1::ParseResponse> a) { answer.set_value(a); });
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  kill(server.server->pid(), SIGTERM);
  const auto result = answer.get_future().get();
  EXPECT_TRUE(result.ok()) << result.status();

  for (int i = 0; i < 500 && server.server->IsRunning(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_FALSE(server.server->IsRunning());
  EXPECT_NE(server.server->Log().find("stopped"), std::string::npos);
  for (const pid_t worker : workers) EXPECT_NE(kill(worker, 0), 0) << worker;
}

TEST(ServerStop, WorkersDieWithAFrontThatIsKilled) {
  test::TestServer server = test::StartTestServer();
  ASSERT_NE(server.client, nullptr);
  const std::vector<pid_t> workers = test::ChildrenOf(server.server->pid());
  ASSERT_FALSE(workers.empty());
  kill(server.server->pid(), SIGKILL);
  for (int i = 0; i < 500; ++i) {
    bool any = false;
    for (const pid_t worker : workers) any = any || kill(worker, 0) == 0;
    if (!any) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  FAIL() << "a worker outlived the front";
}

TEST(ServerLog, NeverHoldsTheQuery) {
  test::TestServer server = test::StartTestServer({"--log-level=debug", "--log-format=json"});
  ASSERT_NE(server.client, nullptr);
  (void)server.client->ParseJson("SELECT 'rosebud'");
  (void)server.client->ParseJson("SELECT 'rosebud' rosebud rosebud");
  for (const pid_t worker : test::ChildrenOf(server.server->pid())) kill(worker, SIGKILL);
  (void)server.client->ParseJson("SELECT 'rosebud'");
  EXPECT_EQ(server.server->Log().find("rosebud"), std::string::npos) << server.server->Log();
  EXPECT_NE(server.server->Log().find("{\"time\""), std::string::npos);
}

}  // namespace
}  // namespace pgparsed
