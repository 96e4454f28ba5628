#include "pgparsed/client.h"

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <mutex>
#include <thread>

#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "pgparsed/v1/grammar.grpc.pb.h"
#include "pgparsed/v1/parser.grpc.pb.h"

namespace pgparsed {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

grpc::Status Refuse(grpc::StatusCode code, const std::string& reason, const std::string& message) {
  google::rpc::ErrorInfo info;
  info.set_domain("pgparsed");
  info.set_reason(reason);
  google::rpc::Status details;
  details.add_details()->PackFrom(info);
  if (reason == "SQL_SYNTAX_ERROR") {
    v1::SqlError error;
    error.set_message(message);
    error.set_position(7);
    error.set_line(1);
    error.set_column(8);
    details.add_details()->PackFrom(error);
  }
  return grpc::Status(code, message, details.SerializeAsString());
}

// Answers by the words in the query.
class FakeServer final : public v1::ParserService::Service, public v1::GrammarService::Service {
 public:
  FakeServer() {
    path_ = testing::TempDir() + "/client-" + std::to_string(::getpid()) + ".sock";
    ::unlink(path_.c_str());
    grpc::ServerBuilder builder;
    builder.AddListeningPort("unix:" + path_, grpc::InsecureServerCredentials());
    builder.SetMaxReceiveMessageSize(64 << 20);
    builder.RegisterService(static_cast<v1::ParserService::Service*>(this));
    builder.RegisterService(static_cast<v1::GrammarService::Service*>(this));
    server_ = builder.BuildAndStart();
  }

  ~FakeServer() override {
    server_->Shutdown(std::chrono::system_clock::now());
    ::unlink(path_.c_str());
  }

  std::string address() const { return "unix:" + path_; }
  int calls() const { return calls_; }
  std::string user_agent() {
    const std::lock_guard lock(mutex_);
    return user_agent_;
  }

  // Calls of "wait" that have reached the server.
  std::atomic<int> waiting{0};
  // How many calls are refused before the first one succeeds.
  std::atomic<int> refusals{0};

  grpc::Status Parse(grpc::ServerContext* context, const v1::ParseRequest* request,
                     v1::ParseResponse* response) override {
    ++calls_;
    {
      const std::lock_guard lock(mutex_);
      const auto agent = context->client_metadata().find("user-agent");
      if (agent != context->client_metadata().end()) {
        user_agent_.assign(agent->second.data(), agent->second.size());
      }
    }
    if (request->query() == "wrong") {
      return Refuse(grpc::StatusCode::INVALID_ARGUMENT, "SQL_SYNTAX_ERROR", "syntax error");
    }
    if (request->query() == "crash") {
      return Refuse(grpc::StatusCode::INTERNAL, "PARSER_CRASHED", "crashed twice");
    }
    if (request->query() == "wait") {
      ++waiting;
      while (!context->IsCancelled()) std::this_thread::sleep_for(milliseconds(1));
      return grpc::Status::CANCELLED;
    }
    if (refusals > 0) {
      --refusals;
      return Refuse(grpc::StatusCode::UNAVAILABLE, "OVERLOADED", "no room");
    }
    response->set_grammar(request->grammar());
    if (request->format() == v1::TREE_FORMAT_PROTOBUF) {
      response->set_protobuf("protobuf of " + request->query());
    } else if (request->query() == "large") {
      response->set_json(std::string(40u << 20, 'x'));
    } else {
      response->set_json("json of " + request->query());
    }
    return grpc::Status::OK;
  }

  grpc::Status Fingerprint(grpc::ServerContext*, const v1::FingerprintRequest*,
                           v1::FingerprintResponse* response) override {
    response->set_fingerprint(0x50fde20626009aba);
    return grpc::Status::OK;
  }

  grpc::Status Deparse(grpc::ServerContext*, const v1::DeparseRequest* request,
                       v1::DeparseResponse* response) override {
    response->set_query("sql of " + request->protobuf());
    return grpc::Status::OK;
  }

  grpc::Status ListGrammars(grpc::ServerContext*, const v1::ListGrammarsRequest*,
                            v1::ListGrammarsResponse* response) override {
    response->add_grammars()->set_major(18);
    return grpc::Status::OK;
  }

 private:
  std::string path_;
  std::atomic<int> calls_{0};
  std::mutex mutex_;
  std::string user_agent_;
  std::unique_ptr<grpc::Server> server_;
};

class ClientTest : public testing::Test {
 protected:
  std::unique_ptr<Client> Connect(ClientOptions options = {}) {
    options.address = server_.address();
    auto client = Client::Connect(std::move(options));
    EXPECT_TRUE(client.ok()) << client.status();
    return client.ok() ? *std::move(client) : nullptr;
  }

  static v1::ParseRequest Query(const std::string& query) {
    v1::ParseRequest request;
    request.set_query(query);
    return request;
  }

  // Waits until `count` calls of "wait" are in the server.
  void AwaitWaiting(int count) {
    while (server_.waiting < count) std::this_thread::sleep_for(milliseconds(1));
  }

  FakeServer server_;
};

TEST_F(ClientTest, CallsReturnTheAnswer) {
  const auto client = Connect();
  auto request = Query("SELECT 1");
  request.set_grammar(17);
  const auto response = client->Parse(request);
  ASSERT_TRUE(response.ok()) << response.status();
  EXPECT_EQ(response->json(), "json of SELECT 1");
  EXPECT_EQ(response->grammar(), 17u);
  const auto grammars = client->ListGrammars();
  ASSERT_TRUE(grammars.ok());
  EXPECT_EQ(grammars->grammars(0).major(), 18u);
}

TEST_F(ClientTest, ShortcutsTakeBareSqlAndTheGrammarOfTheOptions) {
  ClientOptions options;
  options.grammar = 15;
  const auto client = Connect(options);
  EXPECT_EQ(*client->ParseJson("x"), "json of x");
  EXPECT_EQ(*client->ParseProtobuf("x"), "protobuf of x");
  EXPECT_EQ(*client->Fingerprint("x"), 0x50fde20626009abau);
  EXPECT_EQ(*client->Deparse("tree"), "sql of tree");
}

TEST_F(ClientTest, ErrorsCarryTheReasonAndThePlace) {
  const auto client = Connect();
  const auto tree = client->ParseJson("wrong");
  ASSERT_FALSE(tree.ok());
  EXPECT_EQ(tree.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ReasonOf(tree.status()), Reason::kSqlSyntaxError);
  ASSERT_TRUE(SqlErrorOf(tree.status()).has_value());
  EXPECT_EQ(SqlErrorOf(tree.status())->position, 7u);
  EXPECT_EQ(SqlErrorOf(tree.status())->message, "syntax error");
}

TEST_F(ClientTest, ResultsBeyondGrpcsDefaultLimitAreTaken) {
  const auto client = Connect();
  const auto tree = client->ParseJson("large");
  ASSERT_TRUE(tree.ok()) << tree.status();
  EXPECT_EQ(tree->size(), 40u << 20);
}

TEST_F(ClientTest, ResultsBeyondTheClientsLimitAreAnError) {
  ClientOptions options;
  options.max_receive_bytes = 1u << 20;
  const auto client = Connect(options);
  const auto tree = client->ParseJson("large");
  ASSERT_FALSE(tree.ok());
  EXPECT_EQ(tree.status().code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(ClientTest, UnavailableIsTriedAgain) {
  const auto client = Connect();
  server_.refusals = 2;
  EXPECT_TRUE(client->ParseJson("x").ok());
  EXPECT_EQ(server_.calls(), 3);
}

TEST_F(ClientTest, LargeRequestsAreTriedAgainToo) {
  const auto client = Connect();
  server_.refusals = 1;
  EXPECT_TRUE(client->ParseJson(std::string(8u << 20, ' ')).ok());
  EXPECT_EQ(server_.calls(), 2);
}

TEST_F(ClientTest, RetriesAreBounded) {
  ClientOptions options;
  options.max_attempts = 2;
  const auto client = Connect(options);
  server_.refusals = 1000;
  const auto tree = client->ParseJson("x");
  EXPECT_EQ(ReasonOf(tree.status()), Reason::kOverloaded);
  EXPECT_EQ(server_.calls(), 2);
}

TEST_F(ClientTest, RetriesCanBeSwitchedOff) {
  ClientOptions options;
  options.max_attempts = 1;
  const auto client = Connect(options);
  server_.refusals = 1;
  EXPECT_EQ(ReasonOf(client->ParseJson("x").status()), Reason::kOverloaded);
  EXPECT_EQ(server_.calls(), 1);
}

TEST_F(ClientTest, NothingElseIsTriedAgain) {
  const auto client = Connect();
  EXPECT_EQ(ReasonOf(client->ParseJson("crash").status()), Reason::kParserCrashed);
  EXPECT_EQ(ReasonOf(client->ParseJson("wrong").status()), Reason::kSqlSyntaxError);
  EXPECT_EQ(server_.calls(), 2);
}

TEST_F(ClientTest, TheTimeoutOfACallOverridesTheClients) {
  ClientOptions options;
  options.timeout = seconds(3600);
  const auto client = Connect(options);
  CallOptions call;
  call.timeout = milliseconds(20);
  const auto tree = client->ParseJson("wait", call);
  EXPECT_EQ(ReasonOf(tree.status()), Reason::kDeadline);
  EXPECT_EQ(tree.status().code(), absl::StatusCode::kDeadlineExceeded);
}

TEST_F(ClientTest, TheClientsTimeoutHoldsForEveryCall) {
  ClientOptions options;
  options.timeout = milliseconds(20);
  const auto client = Connect(options);
  EXPECT_EQ(ReasonOf(client->ParseJson("wait").status()), Reason::kDeadline);
}

TEST_F(ClientTest, ACallCanBeCancelledFromAnotherThread) {
  const auto client = Connect();
  Cancellation cancellation;
  CallOptions call;
  call.cancellation = cancellation;
  std::thread other([&] {
    AwaitWaiting(1);
    cancellation.Cancel();
  });
  EXPECT_EQ(ReasonOf(client->ParseJson("wait", call).status()), Reason::kCancelled);
  other.join();
  EXPECT_TRUE(cancellation.IsCancelled());
}

TEST_F(ClientTest, ACancellationStopsLaterCallsToo) {
  const auto client = Connect();
  Cancellation cancellation;
  CallOptions call;
  call.cancellation = cancellation;
  EXPECT_TRUE(client->ParseJson("x", call).ok());
  cancellation.Cancel();
  EXPECT_EQ(ReasonOf(client->ParseJson("x", call).status()), Reason::kCancelled);
  EXPECT_EQ(server_.calls(), 1);
  EXPECT_TRUE(client->ParseJson("x").ok());  // others go on
}

TEST_F(ClientTest, AsyncCallsRunTheirCallbackOnceOnAnotherThread) {
  // Before the client, which waits for the callback when it goes: set_value may still run.
  std::promise<std::pair<absl::StatusOr<v1::ParseResponse>, std::thread::id>> promise;
  const auto client = Connect();
  client->ParseAsync(Query("SELECT 1"), [&](absl::StatusOr<v1::ParseResponse> response) {
    promise.set_value({std::move(response), std::this_thread::get_id()});
  });
  const auto [response, thread] = promise.get_future().get();
  ASSERT_TRUE(response.ok()) << response.status();
  EXPECT_EQ(response->json(), "json of SELECT 1");
  EXPECT_NE(thread, std::this_thread::get_id());
}

TEST_F(ClientTest, ManyAsyncCallsAtOnceAreAllAnswered) {
  constexpr int kCalls = 500;
  std::atomic<int> right{0};
  {
    std::atomic<int> left{kCalls};
    std::promise<void> done;
    const auto client = Connect();
    for (int i = 0; i < kCalls; ++i) {
      const std::string query = std::to_string(i);
      client->ParseAsync(Query(query), [&, query](absl::StatusOr<v1::ParseResponse> response) {
        if (response.ok() && response->json() == "json of " + query) ++right;
        if (--left == 0) done.set_value();
      });
    }
    done.get_future().wait();
  }
  EXPECT_EQ(right, kCalls);
}

TEST_F(ClientTest, AsyncErrorsArriveInTheCallback) {
  std::promise<absl::Status> promise;
  const auto client = Connect();
  client->ParseAsync(Query("wrong"), [&](absl::StatusOr<v1::ParseResponse> response) {
    promise.set_value(response.status());
  });
  EXPECT_EQ(ReasonOf(promise.get_future().get()), Reason::kSqlSyntaxError);
}

// The channel must not go on the thread of the callback: gRPC would free that thread's queue.
TEST_F(ClientTest, AClientMayGoAsSoonAsACallbackHasRun) {
  for (int i = 0; i < 100; ++i) {
    std::promise<bool> answered;
    const auto client = Connect();
    client->ParseAsync(Query("SELECT 1"), [&](absl::StatusOr<v1::ParseResponse> response) {
      answered.set_value(response.ok());
    });
    ASSERT_TRUE(answered.get_future().get());
  }
}

TEST_F(ClientTest, DestroyingTheClientCancelsAndAwaitsItsCalls) {
  auto client = Connect();
  std::atomic<int> called{0};
  for (int i = 0; i < 3; ++i) {
    client->ParseAsync(Query("wait"), [&](absl::StatusOr<v1::ParseResponse> response) {
      EXPECT_EQ(ReasonOf(response.status()), Reason::kCancelled);
      ++called;
    });
  }
  AwaitWaiting(1);
  client.reset();
  EXPECT_EQ(called, 3);
}

TEST_F(ClientTest, TextThatIsNoQueryIsRefusedWithoutACall) {
  std::promise<std::pair<absl::Status, std::thread::id>> promise;
  const auto client = Connect();
  for (const std::string& text : {std::string("SELECT \xFF"), std::string("SELECT\0 1", 9)}) {
    const auto tree = client->ParseJson(text);
    EXPECT_EQ(ReasonOf(tree.status()), Reason::kInvalidQueryText);
    EXPECT_EQ(ErrorMetadataOf(tree.status()).at("byte"), text[7] == '\xFF' ? "7" : "6");
  }
  client->ParseAsync(Query("\xFF"), [&](absl::StatusOr<v1::ParseResponse> response) {
    promise.set_value({response.status(), std::this_thread::get_id()});
  });
  const auto [status, thread] = promise.get_future().get();
  EXPECT_EQ(ReasonOf(status), Reason::kInvalidQueryText);
  EXPECT_NE(thread, std::this_thread::get_id());
  EXPECT_EQ(server_.calls(), 0);
}

TEST_F(ClientTest, MethodsThatTheServerLacksAreUnimplemented) {
  const auto client = Connect();
  EXPECT_EQ(ReasonOf(client->Normalize("x").status()), Reason::kUnimplemented);
  EXPECT_EQ(ReasonOf(client->Format("x").status()), Reason::kUnimplemented);
}

TEST_F(ClientTest, TheUserAgentIsSent) {
  ClientOptions options;
  options.user_agent = "linter/1.2";
  const auto client = Connect(options);
  ASSERT_TRUE(client->ParseJson("x").ok());
  EXPECT_TRUE(server_.user_agent().starts_with("linter/1.2 ")) << server_.user_agent();
}

TEST(Client, WhereNobodyListensCallsAreUnavailable) {
  ClientOptions options;
  options.address = "unix:" + testing::TempDir() + "/nobody.sock";
  const auto client = Client::Connect(options);
  ASSERT_TRUE(client.ok());
  const auto tree = (*client)->ParseJson("x");
  EXPECT_EQ(tree.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(ReasonOf(tree.status()), Reason::kUnavailable);
  EXPECT_NE(std::string(tree.status().message()).find("cannot reach " + options.address),
            std::string::npos);
}

TEST(Client, WaitForReadyWaitsUntilTheTimeout) {
  ClientOptions options;
  options.address = "unix:" + testing::TempDir() + "/nobody.sock";
  options.max_attempts = 1;  // else the time may be over while a retry waits
  const auto client = Client::Connect(options);
  ASSERT_TRUE(client.ok());
  CallOptions call;
  call.wait_for_ready = true;
  call.timeout = milliseconds(50);
  EXPECT_EQ(ReasonOf((*client)->ParseJson("x", call).status()), Reason::kDeadline);
}

TEST(Client, OptionsOutOfRangeAreRefused) {
  const auto refused = [](auto change) {
    ClientOptions options;
    change(options);
    return ReasonOf(Client::Connect(options).status());
  };
  EXPECT_EQ(refused([](auto& o) { o.address = "no such"; }), Reason::kInvalidRequest);
  EXPECT_EQ(refused([](auto& o) { o.max_attempts = 0; }), Reason::kInvalidRequest);
  EXPECT_EQ(refused([](auto& o) { o.max_attempts = 6; }), Reason::kInvalidRequest);
  EXPECT_EQ(refused([](auto& o) { o.timeout = milliseconds(-1); }), Reason::kInvalidRequest);
  EXPECT_EQ(refused([](auto& o) { o.max_receive_bytes = 0; }), Reason::kInvalidRequest);
  EXPECT_EQ(refused([](auto& o) { o.keepalive_interval = milliseconds(-1); }),
            Reason::kInvalidRequest);
  EXPECT_EQ(refused([](auto&) {}), Reason::kNone);
}

}  // namespace
}  // namespace pgparsed
