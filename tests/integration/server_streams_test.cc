// ParseChunked and Batch of a running server, over gRPC's own stubs.

#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "cpp/rpc_errors.h"
#include "pgparsed/errors.h"
#include "pgparsed/v1/parser.grpc.pb.h"
#include "test_server.h"

namespace pgparsed {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr uint64_t kMaxChunk = 1u << 20;
constexpr auto kGenerous = std::chrono::seconds(60);

// About 1 MB of SQL and 10 MB of JSON for each unit.
std::string LargeQuery(int units) {
  std::string sql = "SELECT 1";
  for (int i = 0; i < units * 35'000; ++i) {
    absl::StrAppend(&sql, ", a", i, " + 'é text ", i, "' AS b", i);
  }
  return sql + " FROM t";
}

bool Eventually(const std::function<bool()>& is_true) {
  const auto end = std::chrono::steady_clock::now() + kGenerous;
  while (!is_true()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

// Memory of a process in bytes, shared pages of channels included.
uint64_t ResidentBytes(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string word; status >> word;) {
    uint64_t kilobytes = 0;
    if (word == "VmRSS:" && status >> kilobytes) return kilobytes << 10;
  }
  return 0;
}

// What came of one ParseChunked.
struct Chunked {
  bool begins_with_header = false;
  v1::ParseChunkedResponse::Header header;
  std::string tree;
  std::vector<size_t> chunks;
  bool ends_with_trailer = false;
  v1::ParseChunkedResponse::Trailer trailer;
  absl::Status status;
};

// A server with a stub; each test has its own unless it says otherwise.
class StreamsTest : public ::testing::Test {
 protected:
  using BatchStream = grpc::ClientReaderWriter<v1::BatchRequest, v1::BatchResponse>;

  void Start(std::vector<std::string> flags = {}) {
    server_ = test::StartTestServer(std::move(flags));
    ASSERT_NE(server_.client, nullptr);
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(-1);
    stub_ = v1::ParserService::NewStub(grpc::CreateCustomChannel(
        server_.server->address(), grpc::InsecureChannelCredentials(), arguments));
  }

  pid_t pid() const { return server_.server->pid(); }

  // A process for each worker and spare.
  size_t Workers() const { return test::ChildrenOf(pid()).size(); }

  // The server answers, and has as many workers as before.
  void ExpectWell(size_t workers) {
    EXPECT_TRUE(server_.client->ParseJson("SELECT 1").ok());
    EXPECT_TRUE(Eventually([&] { return Workers() == workers; }));
    EXPECT_TRUE(server_.client->ParseJson("SELECT 1").ok());
  }

  Chunked ParseChunked(const v1::ParseChunkedRequest& request) {
    Chunked result;
    grpc::ClientContext context;
    const auto reader = stub_->ParseChunked(&context, request);
    v1::ParseChunkedResponse part;
    for (bool first = true; reader->Read(&part); first = false) {
      EXPECT_FALSE(result.ends_with_trailer) << "something comes behind the trailer";
      switch (part.part_case()) {
        case v1::ParseChunkedResponse::kHeader:
          result.begins_with_header = first;
          result.header = part.header();
          break;
        case v1::ParseChunkedResponse::kChunk:
          result.tree += part.chunk();
          result.chunks.push_back(part.chunk().size());
          break;
        case v1::ParseChunkedResponse::kTrailer:
          result.ends_with_trailer = true;
          result.trailer = part.trailer();
          break;
        default:
          ADD_FAILURE() << "an empty part";
      }
    }
    result.status = client::FromGrpcStatus(reader->Finish());
    return result;
  }

  // The tree as Parse gives it.
  std::string Parsed(const v1::ParseChunkedRequest& request) {
    v1::ParseRequest unary;
    unary.set_query(request.query());
    unary.set_grammar(request.grammar());
    unary.set_position_encoding(request.position_encoding());
    unary.set_format(request.format());
    unary.set_conversion(request.conversion());
    grpc::ClientContext context;
    v1::ParseResponse response;
    const grpc::Status status = stub_->Parse(&context, unary, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    if (response.has_columnar()) return response.columnar().SerializeAsString();
    return response.has_json() ? response.json() : response.protobuf();
  }

  static v1::BatchRequest Options(std::vector<v1::Operation> operations, uint32_t grammar = 0) {
    v1::BatchRequest request;
    for (const v1::Operation operation : operations) {
      request.mutable_options()->add_operations(operation);
    }
    request.mutable_options()->set_grammar(grammar);
    return request;
  }

  static v1::BatchRequest Chunk(const std::vector<std::string>& queries) {
    v1::BatchRequest request;
    request.mutable_chunk();
    for (const std::string& query : queries) request.mutable_chunk()->add_queries(query);
    return request;
  }

  // Sends the messages, then reads to the end.
  std::pair<std::vector<v1::BatchResponse>, absl::Status> Batch(
      const std::vector<v1::BatchRequest>& requests) {
    grpc::ClientContext context;
    const auto stream = stub_->Batch(&context);
    std::thread writer([&] {
      for (const v1::BatchRequest& request : requests) {
        if (!stream->Write(request)) return;
      }
      stream->WritesDone();
    });
    std::vector<v1::BatchResponse> answers;
    v1::BatchResponse answer;
    while (stream->Read(&answer)) answers.push_back(answer);
    writer.join();
    return {std::move(answers), client::FromGrpcStatus(stream->Finish())};
  }

  Reason BatchError(const std::vector<v1::BatchRequest>& requests) {
    auto [answers, status] = Batch(requests);
    EXPECT_THAT(std::string(status.message()), testing::Not(IsEmpty()));
    return ReasonOf(status);
  }

  test::TestServer server_;
  std::unique_ptr<v1::ParserService::Stub> stub_;
};

class ServerChunked : public StreamsTest {
 protected:
  static v1::ParseChunkedRequest Request(std::string sql, uint32_t grammar = 0,
                                         v1::TreeFormat format = v1::TREE_FORMAT_JSON) {
    v1::ParseChunkedRequest request;
    request.set_query(std::move(sql));
    request.set_grammar(grammar);
    request.set_format(format);
    return request;
  }
};

TEST_F(ServerChunked, TreesAreThoseOfParse) {
  Start();
  for (const uint32_t grammar : test::Grammars(*server_.client)) {
    for (const std::string& sql : {std::string("SELECT 1"), std::string(), LargeQuery(1)}) {
      for (const v1::TreeFormat format :
           {v1::TREE_FORMAT_JSON, v1::TREE_FORMAT_PROTOBUF, v1::TREE_FORMAT_COLUMNAR}) {
        for (const v1::Conversion conversion :
             {v1::CONVERSION_UNSPECIFIED, v1::CONVERSION_LIBRARY}) {
          if (format == v1::TREE_FORMAT_COLUMNAR && conversion == v1::CONVERSION_LIBRARY) continue;
          auto request = Request(sql, grammar, format);
          request.set_conversion(conversion);
          Chunked chunked = ParseChunked(request);
          ASSERT_TRUE(chunked.status.ok()) << chunked.status;
          EXPECT_TRUE(chunked.begins_with_header);
          EXPECT_EQ(chunked.header.grammar(), grammar);
          EXPECT_EQ(chunked.header.postgres_version_num() / 10000, grammar);
          EXPECT_EQ(chunked.header.format(), format);
          EXPECT_TRUE(chunked.ends_with_trailer);
          EXPECT_EQ(chunked.trailer.total_bytes(), chunked.tree.size());
          EXPECT_FALSE(chunked.trailer.has_timing());
          for (size_t i = 0; i < chunked.chunks.size(); ++i) {
            EXPECT_LE(chunked.chunks[i], kMaxChunk);
            if (i + 1 < chunked.chunks.size()) {
              EXPECT_GT(chunked.chunks[i], kMaxChunk - (64 << 10)) << "nearly full";
            }
          }
          if (format == v1::TREE_FORMAT_COLUMNAR) {
            v1::ColumnarTree tree;
            ASSERT_TRUE(tree.ParseFromString(chunked.tree));
            chunked.tree = tree.SerializeAsString();
          }
          EXPECT_TRUE(chunked.tree == Parsed(request))
              << grammar << " " << v1::TreeFormat_Name(format) << " " << sql.size();
        }
      }
    }
  }
}

TEST_F(ServerChunked, TheTrailerHasTheTimeWhenAskedForAndJsonIsTheDefault) {
  Start();
  v1::ParseChunkedRequest request;
  request.set_query(LargeQuery(1));
  request.set_want_timing(true);
  const Chunked chunked = ParseChunked(request);
  ASSERT_TRUE(chunked.status.ok()) << chunked.status;
  EXPECT_EQ(chunked.header.format(), v1::TREE_FORMAT_JSON);
  EXPECT_GT(chunked.trailer.timing().parse_ns(), 0u);
  EXPECT_GE(chunked.trailer.timing().total_ns(), chunked.trailer.timing().parse_ns());
  EXPECT_EQ(chunked.trailer.timing().bytes_produced(), chunked.tree.size());
}

TEST_F(ServerChunked, ATreeMayBeLargerThanAUnaryAnswer) {
  Start({"--max-unary-result-bytes=100000"});
  const std::string sql = LargeQuery(1);
  EXPECT_EQ(ReasonOf(server_.client->ParseJson(sql, {.join_chunks = false}).status()),
            Reason::kResultTooLarge);
  for (const v1::TreeFormat format :
       {v1::TREE_FORMAT_JSON, v1::TREE_FORMAT_PROTOBUF, v1::TREE_FORMAT_COLUMNAR}) {
    const Chunked chunked = ParseChunked(Request(sql, 0, format));
    EXPECT_TRUE(chunked.status.ok()) << chunked.status;
    EXPECT_GT(chunked.tree.size(), 100'000u);
    EXPECT_EQ(chunked.trailer.total_bytes(), chunked.tree.size());
  }
}

TEST_F(ServerChunked, AProtobufTreeOverItsLimitIsRefused) {
  Start({"--max-chunked-protobuf-bytes=1048576", "--max-unary-result-bytes=100000"});
  const Chunked chunked = ParseChunked(Request(LargeQuery(1), 0, v1::TREE_FORMAT_PROTOBUF));
  EXPECT_EQ(ReasonOf(chunked.status), Reason::kResultTooLarge);
  EXPECT_FALSE(chunked.begins_with_header);
}

TEST_F(ServerChunked, ErrorsHaveNoHeader) {
  Start();
  const Chunked syntax = ParseChunked(Request("SELECT 'é' FROM @"));
  EXPECT_EQ(ReasonOf(syntax.status), Reason::kSqlSyntaxError);
  EXPECT_EQ(SqlErrorOf(syntax.status)->position, 17u);
  EXPECT_FALSE(syntax.begins_with_header);
  EXPECT_THAT(syntax.chunks, IsEmpty());
  EXPECT_EQ(ReasonOf(ParseChunked(Request(std::string("a\0b", 3))).status),
            Reason::kInvalidQueryText);
  EXPECT_EQ(ReasonOf(ParseChunked(Request("SELECT \xff")).status), Reason::kInvalidQueryText);
  EXPECT_EQ(ReasonOf(ParseChunked(Request("SELECT 1", 12)).status), Reason::kUnsupportedGrammar);
  auto format = Request("SELECT 1");
  format.set_format(static_cast<v1::TreeFormat>(77));
  EXPECT_EQ(ReasonOf(ParseChunked(format).status), Reason::kInvalidRequest);
  auto columnar = Request("SELECT 1", 0, v1::TREE_FORMAT_COLUMNAR);
  columnar.set_conversion(v1::CONVERSION_LIBRARY);
  EXPECT_EQ(ReasonOf(ParseChunked(columnar).status), Reason::kUnsupportedOption);
}

TEST_F(ServerChunked, ACancelledOneFreesTheWorker) {
  Start({"--workers=1"});
  ASSERT_TRUE(Eventually([&] { return Workers() == 2; }));  // with the spare
  const auto request = Request(LargeQuery(6));
  for (int parts = 0; parts < 6; ++parts) {
    grpc::ClientContext context;
    const auto reader = stub_->ParseChunked(&context, request);
    v1::ParseChunkedResponse part;
    for (int i = 0; i < parts; ++i) ASSERT_TRUE(reader->Read(&part));
    context.TryCancel();
    while (reader->Read(&part)) {
    }
    EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::CANCELLED);
    ExpectWell(2);
  }
}

TEST_F(ServerChunked, TheDeadlineEndsIt) {
  Start({"--workers=1"});
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(700));
  const auto reader = stub_->ParseChunked(&context, Request(LargeQuery(6)));
  v1::ParseChunkedResponse part;
  std::this_thread::sleep_for(std::chrono::milliseconds(1000));
  while (reader->Read(&part)) {
  }
  EXPECT_EQ(ReasonOf(client::FromGrpcStatus(reader->Finish())), Reason::kDeadline);
  ExpectWell(2);
}

TEST_F(ServerChunked, ASlowReaderCostsTheFrontNoMemory) {
  Start({"--workers=1"});
  const auto request = Request(LargeQuery(6));
  ASSERT_TRUE(ParseChunked(Request("SELECT 1")).status.ok());
  const uint64_t before = ResidentBytes(pid());
  uint64_t most = 0;
  grpc::ClientContext context;
  const auto reader = stub_->ParseChunked(&context, request);
  v1::ParseChunkedResponse part;
  uint64_t bytes = 0;
  for (int i = 0; reader->Read(&part); ++i) {
    bytes += part.chunk().size();
    std::this_thread::sleep_for(std::chrono::milliseconds(i == 1 ? 1000 : 20));
    most = std::max(most, ResidentBytes(pid()));
  }
  EXPECT_TRUE(reader->Finish().ok());
  EXPECT_GT(bytes, 50u << 20);
  // The request, the windows, and what gRPC buffers.
  EXPECT_LT(most, before + (28u << 20)) << "before: " << before;
}

TEST_F(ServerChunked, WhoReadsNothingIsGivenUp) {
  Start({"--workers=1", "--max-stall=500ms"});
  grpc::ClientContext context;
  const auto reader = stub_->ParseChunked(&context, Request(LargeQuery(6)));
  v1::ParseChunkedResponse part;
  ASSERT_TRUE(reader->Read(&part));
  // The one worker is free again, though the call goes on.
  ASSERT_TRUE(Eventually([&] { return server_.client->ParseJson("SELECT 1").ok(); }));
  while (reader->Read(&part)) {
  }
  const absl::Status status = client::FromGrpcStatus(reader->Finish());
  EXPECT_EQ(ReasonOf(status), Reason::kCancelled) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("read faster"));
}

TEST_F(ServerChunked, AWorkerThatIsKilledCostsNothing) {
  Start({"--workers=1"});
  const auto request = Request(LargeQuery(6));
  grpc::ClientContext context;
  const auto reader = stub_->ParseChunked(&context, request);
  v1::ParseChunkedResponse part;
  std::string tree;
  while (tree.size() < 5u << 20 && reader->Read(&part)) tree += part.chunk();
  for (const pid_t worker : test::ChildrenOf(pid())) kill(worker, SIGKILL);
  uint64_t total = 0;
  while (reader->Read(&part)) {
    tree += part.chunk();
    total = part.trailer().total_bytes();
  }
  const grpc::Status status = reader->Finish();
  EXPECT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(tree.size(), total);
  EXPECT_TRUE(tree == ParseChunked(request).tree);
}

class ServerBatch : public StreamsTest {};

TEST_F(ServerBatch, GivesWhatSingleCallsGive) {
  Start();
  const std::vector<std::string> queries = {"SELECT a FROM t WHERE b = 'é'", "",
                                            "UPDATE t SET a = 1; SELECT 2", "-- c\nSELECT 3"};
  for (const uint32_t grammar : test::Grammars(*server_.client)) {
    const auto [answers, status] =
        Batch({Options({v1::OPERATION_PARSE, v1::OPERATION_NORMALIZE, v1::OPERATION_FINGERPRINT,
                        v1::OPERATION_SCAN, v1::OPERATION_SPLIT, v1::OPERATION_FORMAT,
                        v1::OPERATION_SUMMARIZE, v1::OPERATION_CHECK},
                       grammar),
               Chunk(queries)});
    ASSERT_TRUE(status.ok()) << status;
    ASSERT_EQ(answers.size(), 1u);
    EXPECT_EQ(answers[0].grammar(), grammar);
    EXPECT_EQ(answers[0].postgres_version_num() / 10000, grammar);
    EXPECT_EQ(answers[0].count(), queries.size());
    EXPECT_FALSE(answers[0].has_timing());
    const v1::ResultColumns& results = answers[0].results();
    EXPECT_EQ(results.errors_size(), 0) << results.errors(0).ShortDebugString();
    for (size_t i = 0; i < queries.size(); ++i) {
      const auto at = static_cast<int>(i);
      v1::AnalyzeRequest request;
      request.set_query(queries[i]);
      request.set_grammar(grammar);
      for (const v1::Operation operation :
           {v1::OPERATION_PARSE, v1::OPERATION_NORMALIZE, v1::OPERATION_FINGERPRINT,
            v1::OPERATION_SCAN, v1::OPERATION_SPLIT, v1::OPERATION_FORMAT,
            v1::OPERATION_SUMMARIZE}) {
        request.add_operations(operation);
      }
      const auto single = server_.client->Analyze(request);
      ASSERT_TRUE(single.ok()) << single.status();
      EXPECT_EQ(results.trees(at), single->json());
      EXPECT_EQ(results.normalized(at), single->normalized_query());
      EXPECT_EQ(results.fingerprints(at), single->fingerprint());
      EXPECT_EQ(results.tokens(at).SerializeAsString(), single->tokens().SerializeAsString());
      EXPECT_EQ(results.pieces(at).SerializeAsString(), single->pieces().SerializeAsString());
      EXPECT_EQ(results.formatted(at), single->formatted_query());
      EXPECT_EQ(results.summaries(at).SerializeAsString(), single->summary().SerializeAsString());
    }
  }
}

TEST_F(ServerBatch, AnErrorStandsBesideItsQuery) {
  Start();
  auto options = Options({v1::OPERATION_NORMALIZE, v1::OPERATION_SCAN});
  options.mutable_options()->set_position_encoding(v1::POSITION_ENCODING_UTF32);
  options.mutable_options()->set_want_timing(true);
  const auto [answers, status] = Batch({options, Chunk({"SELECT 1", "SELECT 'é' FROM @", "SELECT '",
                                                        std::string("a\0b", 3), "SELECT \xff"})});
  ASSERT_TRUE(status.ok()) << status;
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_GT(answers[0].timing().parse_ns(), 0u);
  EXPECT_GT(answers[0].timing().total_ns(), 0u);
  const v1::ResultColumns& results = answers[0].results();
  EXPECT_EQ(results.normalized_size(), 5);
  EXPECT_EQ(results.normalized(0), "SELECT $1");
  EXPECT_EQ(results.normalized(1), "");
  EXPECT_EQ(results.tokens_size(), 5);
  EXPECT_GT(results.tokens(1).start_size(), 0) << "the tokens are not lost with the tree";
  ASSERT_EQ(results.errors_size(), 4);
  EXPECT_EQ(results.errors(0).item(), 1u);
  EXPECT_EQ(results.errors(0).error().operation(), v1::OPERATION_NORMALIZE);
  EXPECT_EQ(results.errors(0).error().reason(), "SQL_SYNTAX_ERROR");
  EXPECT_EQ(results.errors(0).error().sql_error().position(), 16u);
  EXPECT_EQ(results.errors(1).item(), 2u);
  EXPECT_EQ(results.errors(1).error().operation(), v1::OPERATION_UNSPECIFIED) << "both failed";
  EXPECT_EQ(results.errors(2).error().reason(), "INVALID_QUERY_TEXT");
  EXPECT_EQ(results.errors(3).item(), 4u);
  EXPECT_EQ(results.errors(3).error().reason(), "INVALID_QUERY_TEXT");
}

TEST_F(ServerBatch, AnswersComeInTheOrderOfTheChunks) {
  Start();
  std::vector<v1::BatchRequest> requests = {Options({v1::OPERATION_NORMALIZE})};
  uint64_t queries = 0;
  for (int i = 0; i < 300; ++i) {
    std::vector<std::string> chunk;
    for (int k = 0; k < (i % 10 == 0 ? 500 : i % 4); ++k) {
      chunk.push_back(absl::StrCat("SELECT a", queries++, " + 1"));
    }
    requests.push_back(Chunk(chunk));
  }
  const auto [answers, status] = Batch(requests);
  ASSERT_TRUE(status.ok()) << status;
  ASSERT_EQ(answers.size(), 300u);
  uint64_t next = 0;
  for (const v1::BatchResponse& answer : answers) {
    ASSERT_EQ(answer.first_index(), next);
    ASSERT_EQ(answer.count(), static_cast<uint32_t>(answer.results().normalized_size()));
    for (const std::string& text : answer.results().normalized()) {
      ASSERT_EQ(text, absl::StrCat("SELECT a", next++, " + $1"));
    }
  }
  EXPECT_EQ(next, queries);
}

TEST_F(ServerBatch, NothingIsLostWhileWorkersAreKilled) {
  Start();
  std::atomic<bool> over{false};
  std::atomic<int> kills{0};
  std::thread killer([&] {
    for (size_t next = 0; !over; ++next) {
      std::this_thread::sleep_for(std::chrono::milliseconds(150));
      const std::vector<pid_t> workers = test::ChildrenOf(pid());
      if (!workers.empty() && kill(workers[next % workers.size()], SIGKILL) == 0) ++kills;
    }
  });
  grpc::ClientContext context;
  const auto stream = stub_->Batch(&context);
  constexpr int kChunks = 150;
  constexpr int kQueries = 400;
  std::thread writer([&] {
    stream->Write(Options({v1::OPERATION_NORMALIZE}));
    for (int i = 0; i < kChunks; ++i) {
      std::vector<std::string> chunk;
      for (int k = 0; k < kQueries; ++k) {
        chunk.push_back(absl::StrCat("SELECT a", i * kQueries + k, " FROM t WHERE b IN (1, 2)"));
      }
      stream->Write(Chunk(chunk));
    }
    stream->WritesDone();
  });
  int next = 0;
  v1::BatchResponse answer;
  while (stream->Read(&answer)) {
    EXPECT_EQ(answer.results().errors_size(), 0) << answer.results().errors(0).ShortDebugString();
    for (const std::string& text : answer.results().normalized()) {
      EXPECT_EQ(text, absl::StrCat("SELECT a", next++, " FROM t WHERE b IN ($1, $2)"));
    }
  }
  over = true;
  killer.join();
  writer.join();
  const grpc::Status status = stream->Finish();
  EXPECT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(next, kChunks * kQueries);
  EXPECT_GT(kills, 0);
}

TEST_F(ServerBatch, WhoDoesNotReadIsNotReadFrom) {
  Start({"--max-chunks-in-flight=4"});
  grpc::ClientContext context;
  const auto stream = stub_->Batch(&context);
  constexpr int kChunks = 400;
  // Answers as large as the chunks.
  const std::string query = "SELECT " + std::string(256 << 10, 'a');
  std::atomic<int> written{0};
  std::thread writer([&] {
    stream->Write(Options({v1::OPERATION_NORMALIZE}));
    for (int i = 0; i < kChunks; ++i) {
      if (!stream->Write(Chunk({query}))) return;
      ++written;
    }
    stream->WritesDone();
  });
  // Until nothing more is taken for two seconds.
  for (int before = -1; before != written;) {
    before = written;
    std::this_thread::sleep_for(std::chrono::seconds(2));
  }
  EXPECT_LT(written, kChunks / 2);
  EXPECT_LT(ResidentBytes(pid()), 150u << 20);
  int answers = 0;
  v1::BatchResponse answer;
  for (; stream->Read(&answer); ++answers) EXPECT_EQ(answer.results().normalized(0), query);
  writer.join();
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_EQ(answers, kChunks);
}

TEST_F(ServerBatch, ProtocolErrorsAreInvalidRequests) {
  Start({"--max-batch-queries=3", "--max-batch-bytes=1024"});
  const auto options = Options({v1::OPERATION_NORMALIZE});
  EXPECT_EQ(BatchError({Chunk({"SELECT 1"})}), Reason::kInvalidRequest) << "no options";
  EXPECT_EQ(BatchError({options, options}), Reason::kInvalidRequest) << "options twice";
  EXPECT_EQ(BatchError({v1::BatchRequest()}), Reason::kInvalidRequest) << "an empty message";
  EXPECT_EQ(BatchError({options, v1::BatchRequest()}), Reason::kInvalidRequest);
  EXPECT_EQ(BatchError({Options({})}), Reason::kInvalidRequest) << "no operation";
  EXPECT_EQ(BatchError({Options({v1::OPERATION_SCAN, v1::OPERATION_SCAN})}),
            Reason::kInvalidRequest);
  EXPECT_EQ(BatchError({Options({static_cast<v1::Operation>(99)})}), Reason::kInvalidRequest);
  EXPECT_EQ(BatchError({Options({v1::OPERATION_SCAN}, 12)}), Reason::kUnsupportedGrammar);
  EXPECT_EQ(BatchError({options, Chunk({"a", "b", "c", "d"})}), Reason::kInvalidRequest);
  EXPECT_EQ(BatchError({options, Chunk({std::string(600, 'a'), std::string(600, 'b')})}),
            Reason::kInvalidRequest);
  // One query may be larger than a chunk of several.
  const auto [answers, status] =
      Batch({options, Chunk({"SELECT " + std::string(2000, 'a')}), Chunk({"SELECT 1"})});
  EXPECT_TRUE(status.ok()) << status;
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(answers[1].results().normalized(0), "SELECT $1");
}

TEST_F(ServerBatch, ChunksMayBeLargerThanTheLargestQuery) {
  Start({"--max-query-bytes=100000", "--max-batch-bytes=20000000"});
  const std::vector<std::string> queries(180, "SELECT " + std::string(90'000, 'a'));
  const auto [answers, status] = Batch({Options({v1::OPERATION_CHECK}), Chunk(queries)});
  EXPECT_TRUE(status.ok()) << status;
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].count(), 180u);
}

TEST_F(ServerBatch, AStreamWithoutChunksEndsWell) {
  Start();
  for (const auto& requests : {std::vector<v1::BatchRequest>{}, {Options({v1::OPERATION_CHECK})}}) {
    const auto [answers, status] = Batch(requests);
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_THAT(answers, IsEmpty());
  }
  const auto [answers, status] = Batch({Options({v1::OPERATION_CHECK}), Chunk({}), Chunk({})});
  EXPECT_TRUE(status.ok()) << status;
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(answers[0].count(), 0u);
}

TEST_F(ServerBatch, ACancelledOneFreesTheWorkers) {
  Start({"--workers=2"});
  ASSERT_TRUE(Eventually([&] { return Workers() == 3; }));
  const std::vector<std::string> queries(2000, "SELECT " + std::string(1000, 'a'));
  for (int round = 0; round < 8; ++round) {
    grpc::ClientContext context;
    const auto stream = stub_->Batch(&context);
    stream->Write(Options({v1::OPERATION_PARSE, v1::OPERATION_FORMAT}));
    for (int i = 0; i < round; ++i) stream->Write(Chunk(queries));
    v1::BatchResponse answer;
    if (round % 2 == 1) {
      EXPECT_TRUE(stream->Read(&answer));
    }
    context.TryCancel();
    EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::CANCELLED);
  }
  ExpectWell(3);
  const auto [answers, status] = Batch({Options({v1::OPERATION_CHECK}), Chunk(queries)});
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(answers.size(), 1u);
}

TEST_F(ServerBatch, TheDeadlineEndsIt) {
  Start();
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(500));
  const auto stream = stub_->Batch(&context);
  stream->Write(Options({v1::OPERATION_CHECK}));
  v1::BatchResponse answer;
  EXPECT_FALSE(stream->Read(&answer)) << "it waits for chunks";
  EXPECT_EQ(ReasonOf(client::FromGrpcStatus(stream->Finish())), Reason::kDeadline);
  EXPECT_TRUE(server_.client->ParseJson("SELECT 1").ok());
}

TEST_F(ServerBatch, AServerThatDrainsFinishesTheStreamsThatAreOpen) {
  Start({"--drain-delay=0s", "--drain-timeout=30s"});
  grpc::ClientContext context;
  const auto stream = stub_->Batch(&context);
  v1::BatchResponse answer;
  stream->Write(Options({v1::OPERATION_NORMALIZE}));
  stream->Write(Chunk({"SELECT 1"}));
  ASSERT_TRUE(stream->Read(&answer));
  kill(pid(), SIGTERM);
  ASSERT_TRUE(
      Eventually([&] { return server_.server->Log().find("draining") != std::string::npos; }));
  stream->Write(Chunk({"SELECT 2"}));
  ASSERT_TRUE(stream->Read(&answer));
  EXPECT_EQ(answer.first_index(), 1u);
  stream->WritesDone();
  EXPECT_FALSE(stream->Read(&answer));
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_TRUE(Eventually([&] { return !server_.server->IsRunning(); }));
}

TEST_F(ServerBatch, AnIdleStreamDoesNotKeepTheServerLongerThanItsDrainMayTake) {
  Start({"--drain-delay=0s", "--drain-timeout=500ms"});
  grpc::ClientContext context;
  const auto stream = stub_->Batch(&context);
  v1::BatchResponse answer;
  stream->Write(Options({v1::OPERATION_NORMALIZE}));
  stream->Write(Chunk({"SELECT 1"}));
  ASSERT_TRUE(stream->Read(&answer));
  kill(pid(), SIGTERM);
  EXPECT_FALSE(stream->Read(&answer));
  EXPECT_FALSE(stream->Finish().ok());
  EXPECT_TRUE(Eventually([&] { return !server_.server->IsRunning(); }));
}

}  // namespace
}  // namespace pgparsed
