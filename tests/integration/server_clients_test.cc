// Clients that are slow, silent or many: the others do not notice, and memory stays bounded.

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "pgparsed/errors.h"
#include "pgparsed/v1/parser.grpc.pb.h"
#include "test_server.h"

namespace pgparsed {
namespace {

uint64_t ResidentBytes(pid_t pid) {
  std::ifstream status(absl::StrCat("/proc/", pid, "/status"));
  for (std::string word; status >> word;) {
    uint64_t kilobytes = 0;
    if (word == "VmRSS:" && status >> kilobytes) return kilobytes << 10;
  }
  return 0;
}

class ServerClients : public ::testing::Test {
 protected:
  void Start(std::vector<std::string> flags = {}) {
    flags.push_back("--workers=1");
    server_ = test::StartTestServer(std::move(flags));
    ASSERT_NE(server_.client, nullptr);
  }
  ~ServerClients() override {
    for (const int fd : connections_) close(fd);
  }

  // A connection that says what it is given and then nothing.
  void Connect(std::string_view first_bytes = "") {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = server_.server->socket_path();
    std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ASSERT_GE(fd, 0);
    connections_.push_back(fd);
    ASSERT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    if (!first_bytes.empty()) {
      ASSERT_EQ(write(fd, first_bytes.data(), first_bytes.size()),
                static_cast<ssize_t>(first_bytes.size()));
    }
  }

  void ExpectQuickAnswers() {
    for (int i = 0; i < 20; ++i) {
      CallOptions options;
      options.timeout = std::chrono::seconds(10);
      EXPECT_TRUE(server_.client->ParseJson("SELECT 1", options).ok());
    }
  }

  test::TestServer server_;
  std::vector<int> connections_;
};

TEST_F(ServerClients, AThousandSilentConnectionsCostLittle) {
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur < 4096) GTEST_SKIP() << "too few descriptors are allowed here";
  Start();
  ExpectQuickAnswers();
  const uint64_t before = ResidentBytes(server_.server->pid());
  for (int i = 0; i < 1000; ++i) Connect();
  ExpectQuickAnswers();
  EXPECT_LT(ResidentBytes(server_.server->pid()), before + (64u << 20));
}

TEST_F(ServerClients, WhatIsNoHttpIsClosed) {
  Start();
  Connect("GET / HTTP/1.1\r\n\r\n");
  Connect(std::string(1000, '\xff'));
  Connect("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + std::string(32, '\xff'));
  for (const int fd : connections_) {
    const timeval patience{.tv_sec = 30, .tv_usec = 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    char buffer[4096];
    ssize_t got = 0;
    while ((got = read(fd, buffer, sizeof(buffer))) > 0) {
    }
    EXPECT_TRUE(got == 0 || errno == ECONNRESET) << std::strerror(errno);
  }
  ExpectQuickAnswers();
}

TEST_F(ServerClients, StreamsThatAreLeftOpenHoldNobodyUp) {
  Start();
  const auto stub = v1::ParserService::NewStub(
      grpc::CreateChannel(server_.server->address(), grpc::InsecureChannelCredentials()));
  using Stream = grpc::ClientReaderWriter<v1::BatchRequest, v1::BatchResponse>;
  std::vector<std::unique_ptr<grpc::ClientContext>> contexts;
  std::vector<std::unique_ptr<Stream>> streams;
  v1::BatchRequest options;
  options.mutable_options()->add_operations(v1::OPERATION_PARSE);
  v1::BatchRequest chunk;
  for (int i = 0; i < 100; ++i) chunk.mutable_chunk()->add_queries("SELECT a, b, c FROM t");
  for (int i = 0; i < 200; ++i) {
    contexts.push_back(std::make_unique<grpc::ClientContext>());
    streams.push_back(stub->Batch(contexts.back().get()));
    ASSERT_TRUE(streams.back()->Write(options));
    // Half of them send and never read.
    if (i % 2 == 0) {
      ASSERT_TRUE(streams.back()->Write(chunk));
    }
  }
  ExpectQuickAnswers();
  for (const auto& context : contexts) context->TryCancel();
  for (const auto& stream : streams) {
    EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::CANCELLED);
  }
  ExpectQuickAnswers();
}

TEST_F(ServerClients, OneThatReadsNoUnaryAnswersPinsItsOwnOnly) {
  Start();
  std::string sql = "SELECT 1";
  for (int i = 0; i < 20'000; ++i) absl::StrAppend(&sql, ", a", i);
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetInt(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, 65535);
  const auto stub = v1::ParserService::NewStub(grpc::CreateCustomChannel(
      server_.server->address(), grpc::InsecureChannelCredentials(), arguments));
  // Answers of some megabytes that nobody takes: the completion queue is never asked.
  grpc::CompletionQueue queue;
  std::vector<std::unique_ptr<grpc::ClientContext>> contexts;
  std::vector<std::unique_ptr<v1::ParseResponse>> responses;
  std::vector<std::unique_ptr<grpc::Status>> statuses;
  v1::ParseRequest request;
  request.set_query(sql);
  for (size_t i = 0; i < 20; ++i) {
    contexts.push_back(std::make_unique<grpc::ClientContext>());
    responses.push_back(std::make_unique<v1::ParseResponse>());
    statuses.push_back(std::make_unique<grpc::Status>());
    const auto reader = stub->AsyncParse(contexts.back().get(), request, &queue);
    reader->Finish(responses.back().get(), statuses.back().get(), reinterpret_cast<void*>(i + 1));
  }
  ExpectQuickAnswers();
  for (const auto& context : contexts) context->TryCancel();
  void* tag = nullptr;
  bool ok = false;
  for (size_t i = 0; i < contexts.size(); ++i) ASSERT_TRUE(queue.Next(&tag, &ok));
  queue.Shutdown();
  while (queue.Next(&tag, &ok)) {
  }
  ExpectQuickAnswers();
}

TEST_F(ServerClients, AFullQueueRefusesAtOnceAndSaysWhenToComeAgain) {
  Start({"--max-queue-length=1", "--max-queue-time=100ms"});
  // Longer than the queue's patience, many times over.
  std::string sql = "SELECT 1";
  for (int i = 0; i < 200'000; ++i) absl::StrAppend(&sql, ", a", i);
  const auto stub = v1::ParserService::NewStub(
      grpc::CreateChannel(server_.server->address(), grpc::InsecureChannelCredentials()));
  std::atomic<int> refused = 0;
  std::vector<std::thread> callers;
  for (int i = 0; i < 8; ++i) {
    callers.emplace_back([&] {
      for (int k = 0; k < 5; ++k) {
        grpc::ClientContext context;
        v1::FingerprintRequest request;
        request.set_query(sql);
        v1::FingerprintResponse response;
        const grpc::Status status = stub->Fingerprint(&context, request, &response);
        if (status.ok()) continue;
        EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE) << status.error_message();
        const auto trailers = context.GetServerTrailingMetadata();
        EXPECT_EQ(trailers.count("grpc-retry-pushback-ms"), 1u);
        ++refused;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_GT(refused, 0);
  ExpectQuickAnswers();
}

}  // namespace
}  // namespace pgparsed
