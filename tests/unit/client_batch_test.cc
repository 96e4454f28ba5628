// Client::Batch beside a server that follows a script: what it makes of lost connections, of
// refusals and of answers that are wrong.
#include <gmock/gmock.h>
#include <google/protobuf/util/time_util.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "cpp/batch_window.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "pgparsed/client.h"
#include "pgparsed/errors.h"
#include "pgparsed/v1/parser.grpc.pb.h"

namespace pgparsed {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;
using ServerStream = grpc::ServerReaderWriter<v1::BatchResponse, v1::BatchRequest>;

grpc::Status WithDetails(grpc::StatusCode code, const std::string& reason,
                         std::optional<milliseconds> delay = std::nullopt) {
  google::rpc::Status details;
  google::rpc::ErrorInfo info;
  info.set_domain("pgparsed");
  info.set_reason(reason);
  details.add_details()->PackFrom(info);
  if (delay.has_value()) {
    google::rpc::RetryInfo retry;
    *retry.mutable_retry_delay() =
        google::protobuf::util::TimeUtil::MillisecondsToDuration(delay->count());
    details.add_details()->PackFrom(retry);
  }
  return grpc::Status(code, "refused", details.SerializeAsString());
}

grpc::Status Lost() { return grpc::Status(grpc::StatusCode::UNAVAILABLE, "Broken pipe"); }

// What one stream does: answers as many chunks and ends so.
struct Act {
  int answers = 0;
  grpc::Status end;
  // Whether it waits for the client's end first.
  bool reads_all = false;
  // Changes an answer before it is sent.
  std::function<void(v1::BatchResponse&)> spoil = nullptr;
  // Waits until the client cancels.
  bool hangs = false;
};

class ScriptedServer final : public v1::ParserService::Service {
 public:
  // The last act is played again for every later stream.
  explicit ScriptedServer(std::vector<Act> acts) : acts_(std::move(acts)) {
    static std::atomic<int> number{0};
    path_ = testing::TempDir() + "/batch-" + std::to_string(::getpid()) + "-" +
            std::to_string(number++) + ".sock";
    ::unlink(path_.c_str());
    grpc::ServerBuilder builder;
    builder.AddListeningPort("unix:" + path_, grpc::InsecureServerCredentials());
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }

  ~ScriptedServer() override {
    server_->Shutdown(std::chrono::system_clock::now());
    ::unlink(path_.c_str());
  }

  std::string address() const { return "unix:" + path_; }
  int streams() const { return streams_; }
  int hanging() const { return hanging_; }

  // The queries that each stream has taken in.
  std::vector<std::vector<std::string>> queries() const {
    const std::lock_guard lock(mutex_);
    return queries_;
  }

  grpc::Status Batch(grpc::ServerContext* context, ServerStream* stream) override {
    const auto number = static_cast<size_t>(streams_++);
    const Act& act = acts_[std::min(number, acts_.size() - 1)];
    v1::BatchRequest request;
    if (!stream->Read(&request)) return act.end;  // cancelled on its way
    EXPECT_EQ(request.options().grammar(), 17u) << "the options come first in every stream";
    uint32_t first_index = 0;
    std::vector<std::string> taken;
    int answers = 0;
    while ((act.reads_all || answers < act.answers) && stream->Read(&request)) {
      const auto& queries = request.chunk().queries();
      taken.insert(taken.end(), queries.begin(), queries.end());
      if (answers == act.answers) continue;
      v1::BatchResponse response;
      response.set_first_index(first_index);
      response.set_count(static_cast<uint32_t>(queries.size()));
      first_index += static_cast<uint32_t>(queries.size());
      for (const std::string& query : queries)
        response.mutable_results()->add_fingerprints(std::stoull(query));
      if (act.spoil != nullptr) act.spoil(response);
      stream->Write(response);
      ++answers;
    }
    if (act.hangs) {
      ++hanging_;
      while (!context->IsCancelled()) std::this_thread::sleep_for(milliseconds(1));
    }
    const std::lock_guard lock(mutex_);
    queries_.push_back(std::move(taken));
    return act.end;
  }

 private:
  const std::vector<Act> acts_;
  std::string path_;
  std::atomic<int> streams_{0};
  std::atomic<int> hanging_{0};
  mutable std::mutex mutex_;
  std::vector<std::vector<std::string>> queries_;
  std::unique_ptr<grpc::Server> server_;
};

// The batch "0", "1", … in chunks of two.
struct Asked {
  int chunks = 3;
  ClientOptions client = {};
  CallOptions call = {};
  std::function<absl::Status()> in_source = [] { return absl::OkStatus(); };
  std::function<absl::Status()> in_sink = [] { return absl::OkStatus(); };
  std::vector<uint64_t> answered = {};  // the results, checked to be in their places

  absl::Status operator()(const ScriptedServer& server) {
    client.address = server.address();
    const auto connected = Client::Connect(client);
    if (!connected.ok()) return connected.status();
    int next = 0;
    v1::StreamOptions options;
    options.set_grammar(17);
    return (*connected)
        ->Batch(
            options,
            [&](v1::BatchRequest::Chunk& chunk) -> absl::StatusOr<bool> {
              if (absl::Status status = in_source(); !status.ok()) return status;
              if (next == 2 * chunks) return false;
              chunk.add_queries(std::to_string(next++));
              chunk.add_queries(std::to_string(next++));
              return true;
            },
            [&](const v1::BatchResponse& answer) {
              EXPECT_EQ(answer.first_index(), answered.size());
              answered.insert(answered.end(), answer.results().fingerprints().begin(),
                              answer.results().fingerprints().end());
              return in_sink();
            },
            call);
  }
};

TEST(ClientBatch, GoesOnInTheMiddleWithWhatIsNotAnswered) {
  for (const grpc::Status& end : {Lost(), WithDetails(grpc::StatusCode::UNAVAILABLE, "DRAINING"),
                                  grpc::Status(grpc::StatusCode::CANCELLED, "shut down")}) {
    SCOPED_TRACE(end.error_message());
    const ScriptedServer server({{.answers = 1, .end = end}, {.answers = 9, .reads_all = true}});
    Asked run;
    EXPECT_EQ(run(server), absl::OkStatus());
    EXPECT_THAT(run.answered, ElementsAre(0, 1, 2, 3, 4, 5));
    EXPECT_THAT(server.queries(),
                ElementsAre(ElementsAre("0", "1"), ElementsAre("2", "3", "4", "5")));
  }
}

TEST(ClientBatch, WhatWasTakenInAndNotAnsweredIsSentAgain) {
  const ScriptedServer server(
      {{.answers = 1, .end = Lost(), .reads_all = true}, {.answers = 9, .reads_all = true}});
  Asked run;
  EXPECT_EQ(run(server), absl::OkStatus());
  EXPECT_THAT(run.answered, ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(server.queries(), ElementsAre(ElementsAre("0", "1", "2", "3", "4", "5"),
                                            ElementsAre("2", "3", "4", "5")));
}

TEST(ClientBatch, AStreamThatIsLostAfterItsLastAnswerIsComplete) {
  const ScriptedServer server({{.answers = 3, .end = Lost(), .reads_all = true}});
  Asked run{.client = {.max_attempts = 1}};
  EXPECT_EQ(run(server), absl::OkStatus());
  EXPECT_THAT(run.answered, ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_EQ(server.streams(), 1);
}

TEST(ClientBatch, EveryAnswerBeginsTheCountOfAttemptsAgain) {
  const ScriptedServer server({{.answers = 1, .end = Lost()}});
  Asked run{.chunks = 6, .client = {.max_attempts = 2}};
  EXPECT_EQ(run(server), absl::OkStatus());
  EXPECT_EQ(run.answered.size(), 12u);
  EXPECT_GE(server.streams(), 6);
}

TEST(ClientBatch, AttemptsWithoutAnAnswerAreBounded) {
  for (const grpc::Status& end :
       {Lost(), WithDetails(grpc::StatusCode::UNAVAILABLE, "OVERLOADED", milliseconds(1))}) {
    SCOPED_TRACE(end.error_message());
    const ScriptedServer server({{.end = end}});
    Asked run{.client = {.max_attempts = 3}};
    const absl::Status status = run(server);
    EXPECT_EQ(ReasonOf(status),
              end.error_details().empty() ? Reason::kUnavailable : Reason::kOverloaded);
    EXPECT_EQ(server.streams(), 3);
    EXPECT_THAT(run.answered, IsEmpty());
  }
}

TEST(ClientBatch, OneAttemptIsOneStream) {
  const ScriptedServer server({{.answers = 1, .end = Lost()}});
  Asked run{.client = {.max_attempts = 1}};
  EXPECT_EQ(ReasonOf(run(server)), Reason::kUnavailable);
  EXPECT_EQ(server.streams(), 1);
}

TEST(ClientBatch, NothingElseIsTriedAgain) {
  for (const grpc::Status& end :
       {WithDetails(grpc::StatusCode::CANCELLED, "CANCELLED"),
        WithDetails(grpc::StatusCode::INVALID_ARGUMENT, "INVALID_REQUEST"),
        WithDetails(grpc::StatusCode::INTERNAL, "INTERNAL"),
        grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED, "no memory")}) {
    SCOPED_TRACE(end.error_code());
    const ScriptedServer server({{.answers = 1, .end = end}});
    Asked run;
    EXPECT_FALSE(run(server).ok());
    EXPECT_EQ(server.streams(), 1);
  }
}

TEST(ClientBatch, AWaitLongerThanTheTimeoutIsNotBegun) {
  const ScriptedServer server(
      {{.end = WithDetails(grpc::StatusCode::UNAVAILABLE, "OVERLOADED", std::chrono::hours(1))}});
  Asked run{.call = {.timeout = seconds(60)}};
  EXPECT_EQ(ReasonOf(run(server)), Reason::kOverloaded);
  EXPECT_EQ(server.streams(), 1);
}

TEST(ClientBatch, TheTimeoutIsThatOfAllStreams) {
  const ScriptedServer server({{.answers = 1, .end = Lost()}, {.hangs = true}});
  Asked run{.call = {.timeout = seconds(1)}};
  EXPECT_EQ(ReasonOf(run(server)), Reason::kDeadline);
  EXPECT_EQ(server.streams(), 2);
}

TEST(ClientBatch, CancellingEndsAStreamForGood) {
  const ScriptedServer server({{.answers = 1, .hangs = true}});
  Cancellation cancellation;
  Asked run{.call = {.cancellation = cancellation}};
  std::thread canceller([&] {
    while (server.hanging() == 0) std::this_thread::sleep_for(milliseconds(1));
    cancellation.Cancel();
  });
  EXPECT_EQ(ReasonOf(run(server)), Reason::kCancelled);
  canceller.join();
  EXPECT_EQ(server.streams(), 1);
}

TEST(ClientBatch, CancellingEndsTheWaitBetweenStreams) {
  const ScriptedServer server(
      {{.end = WithDetails(grpc::StatusCode::UNAVAILABLE, "OVERLOADED", std::chrono::hours(1))}});
  Cancellation cancellation;
  Asked run{.call = {.cancellation = cancellation}};
  std::thread canceller([&] {
    while (server.queries().empty()) std::this_thread::sleep_for(milliseconds(1));
    std::this_thread::sleep_for(milliseconds(20));
    cancellation.Cancel();
  });
  EXPECT_FALSE(run(server).ok());
  canceller.join();
  EXPECT_EQ(server.streams(), 1);
}

TEST(ClientBatch, TheErrorsOfSourceAndSinkEndIt) {
  const ScriptedServer server({{.answers = 9, .reads_all = true}});
  int calls = 0;
  Asked from_source{.in_source = [&] {
    return ++calls == 2 ? absl::DataLossError("the disk is gone") : absl::OkStatus();
  }};
  EXPECT_EQ(from_source(server), absl::DataLossError("the disk is gone"));
  Asked from_sink{.in_sink = [] { return absl::UnavailableError("the pipe is full"); }};
  EXPECT_EQ(from_sink(server), absl::UnavailableError("the pipe is full"));
  EXPECT_EQ(from_sink.answered.size(), 2u);
  EXPECT_LE(server.streams(), 2);
}

TEST(ClientBatch, AnswersThatDoNotFitTheQueriesAreRefused) {
  struct Case {
    const char* message;
    Act act;
  };
  const Case cases[] = {
      {"query 1 where 0 is the next",
       {.answers = 1, .spoil = [](v1::BatchResponse& answer) { answer.set_first_index(1); }}},
      {"answers to 3 of 2 queries",
       {.answers = 1, .spoil = [](v1::BatchResponse& answer) { answer.set_count(3); }}},
      {"the stream ends before the last query is answered", {.answers = 2, .reads_all = true}},
  };
  for (const Case& wrong : cases) {
    const ScriptedServer server({wrong.act});
    Asked run;
    const absl::Status status = run(server);
    EXPECT_EQ(ReasonOf(status), Reason::kInternal);
    EXPECT_THAT(std::string(status.message()), testing::HasSubstr(wrong.message));
    EXPECT_EQ(server.streams(), 1);
  }
}

TEST(BatchWindow, AnAnswerWithoutAQueryIsRefused) {
  const BatchSource source = [](v1::BatchRequest::Chunk&) -> absl::StatusOr<bool> { return false; };
  client::BatchWindow window(source);
  EXPECT_EQ(*window.Next(), nullptr);
  v1::BatchResponse answer;
  EXPECT_EQ(ReasonOf(window.Take(answer)), Reason::kInternal);
  EXPECT_TRUE(window.finished());
}

TEST(BatchWindow, ChunksWithoutQueriesAreNotSent) {
  int calls = 0;
  const BatchSource source = [&](v1::BatchRequest::Chunk& chunk) -> absl::StatusOr<bool> {
    if (++calls == 3) chunk.add_queries("SELECT 1");
    return calls <= 3;
  };
  client::BatchWindow window(source);
  const auto chunk = window.Next();
  ASSERT_TRUE(chunk.ok());
  ASSERT_NE(*chunk, nullptr);
  EXPECT_THAT((*chunk)->chunk().queries(), ElementsAre("SELECT 1"));
  EXPECT_EQ(*window.Next(), nullptr);
  EXPECT_EQ(calls, 4);
}

TEST(BatchWindow, WhatIsWrittenStaysWholeWhenItIsAnsweredMeanwhile) {
  int next = 0;
  const BatchSource source = [&](v1::BatchRequest::Chunk& chunk) -> absl::StatusOr<bool> {
    chunk.add_queries(std::to_string(next++));
    return true;
  };
  client::BatchWindow window(source);
  // More than it keeps to use again.
  const v1::BatchRequest* last = nullptr;
  for (int i = 0; i < 9; ++i) last = *window.Next();
  v1::BatchResponse answer;
  answer.set_count(1);
  for (uint64_t i = 0; i < 9; ++i) {
    answer.set_first_index(i);
    ASSERT_EQ(window.Take(answer), absl::OkStatus());
  }
  EXPECT_THAT(last->chunk().queries(), ElementsAre("8"));
  EXPECT_THAT((*window.Next())->chunk().queries(), ElementsAre("9"));
  window.Rewind();
  EXPECT_THAT((*window.Next())->chunk().queries(), ElementsAre("9"));
  EXPECT_EQ(window.answered(), 9u);
}

}  // namespace
}  // namespace pgparsed
