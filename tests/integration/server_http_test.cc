// The HTTP door: what conversions cost by path, probes, and nothing else.
#include <arpa/inet.h>
#include <httplib.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include <gtest/gtest.h>

#include "test_server.h"

namespace pgparsed {
namespace {

// A port that nobody listens on at this moment.
int FreePort() {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  EXPECT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), length), 0);
  EXPECT_EQ(getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length), 0);
  close(fd);
  return ntohs(address.sin_port);
}

class ServerHttp : public testing::Test {
 protected:
  void SetUp() override {
    port_ = FreePort();
    server_ = test::StartTestServer({"--http-listen=127.0.0.1:" + std::to_string(port_)});
    ASSERT_NE(server_.client, nullptr);
  }

  std::string Get(const std::string& path, int status = 200) {
    const auto response = httplib::Client("127.0.0.1", port_).Get(path.c_str());
    if (!response) {
      ADD_FAILURE() << path << ": no answer";
      return "";
    }
    EXPECT_EQ(response->status, status) << path;
    return response->body;
  }

  int port_ = 0;
  test::TestServer server_;
};

TEST_F(ServerHttp, CountsConversionsByPath) {
  const uint32_t grammar = test::Grammars(*server_.client).front();
  const auto parse = [&](v1::Conversion conversion) {
    v1::ParseRequest request;
    request.set_query("SELECT 1");
    request.set_conversion(conversion);
    request.set_format(v1::TREE_FORMAT_PROTOBUF);
    EXPECT_TRUE(server_.client->Parse(request).ok());
  };
  parse(v1::CONVERSION_UNSPECIFIED);
  parse(v1::CONVERSION_DIRECT);
  parse(v1::CONVERSION_LIBRARY);
  const std::string metrics = Get("/metrics");
  const auto line = [&](const char* name, const char* path, const char* value) {
    return std::string(name) + "{grammar=\"" + std::to_string(grammar) +
           "\",operation=\"parse\",format=\"protobuf\",path=\"" + path + "\"} " + value;
  };
  EXPECT_NE(metrics.find(line("pgparsed_conversions_total", "direct", "2\n")), std::string::npos)
      << metrics;
  EXPECT_NE(metrics.find(line("pgparsed_conversions_total", "library", "1\n")), std::string::npos);
  EXPECT_EQ(metrics.find(line("pgparsed_conversion_seconds_total", "library", "0\n")),
            std::string::npos);
  EXPECT_NE(metrics.find(line("pgparsed_conversion_seconds_total", "library", "")),
            std::string::npos);
  EXPECT_NE(metrics.find("pgparsed_workers{grammar=\"" + std::to_string(grammar) + "\"}"),
            std::string::npos);
}

TEST_F(ServerHttp, CountsFailedCallsByReason) {
  EXPECT_FALSE(server_.client->ParseJson("SELEC").ok());
  EXPECT_FALSE(server_.client->ParseJson("SELEC").ok());
  EXPECT_FALSE(server_.client->ParseJson(std::string((16u << 20) + 1, ' ')).ok());
  const std::string metrics = Get("/metrics");
  for (const char* line : {"pgparsed_failed_calls_total{reason=\"SQL_SYNTAX_ERROR\"} 2\n",
                           "pgparsed_failed_calls_total{reason=\"QUERY_TOO_LARGE\"} 1\n",
                           "pgparsed_failed_calls_total{reason=\"OVERLOADED\"} 0\n"}) {
    EXPECT_NE(metrics.find(line), std::string::npos) << line;
  }
}

TEST_F(ServerHttp, TellsMemoryAndRecyclesByGrammar) {
  const std::string grammar = std::to_string(test::Grammars(*server_.client).front());
  const std::string metrics = Get("/metrics");
  for (const std::string& name :
       {"pgparsed_workers_memory_bytes{grammar=\"" + grammar + "\",kind=\"pss\"} ",
        std::string("pgparsed_front_memory_bytes{kind=\"rss\"} "),
        "pgparsed_worker_processes{grammar=\"" + grammar + "\"} ",
        "pgparsed_worker_recycles_total{grammar=\"" + grammar + "\",reason=\"crash\"} 0\n"}) {
    EXPECT_NE(metrics.find(name), std::string::npos) << name;
  }
}

TEST_F(ServerHttp, AnswersProbesAndNothingElse) {
  EXPECT_EQ(Get("/livez"), "ok\n");
  EXPECT_EQ(Get("/readyz"), "ok\n");
  Get("/", 404);
  Get("/metrics/../etc/passwd", 404);
}

TEST(ServerHttpOptions, OpenAddressesNeedConsent) {
  const test::ProgramResult result =
      test::RunProgram({test::ServerBinary(), "--http-listen=0.0.0.0:0"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.output.find("--allow-plaintext"), std::string::npos) << result.output;
}

}  // namespace
}  // namespace pgparsed
