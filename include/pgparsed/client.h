// The C++ client of a pgparsed server.
//
//   auto client = pgparsed::Client::Connect({.address = "unix:/run/pgparsed/pgparsed.sock"});
//   if (!client.ok()) return client.status();
//   absl::StatusOr<std::string> tree = (*client)->ParseJson("SELECT 1");
//   if (!tree.ok()) {
//     if (auto error = pgparsed::SqlErrorOf(tree.status())) {  // pgparsed/errors.h
//       std::cerr << error->line << ":" << error->column << ": " << error->message << "\n";
//     }
//   }
//
// Requests and answers are the messages of the contract (pgparsed/v1/parser.proto,
// pgparsed/v1/grammar.proto), where every field's unit and default is written. Each unary method
// exists twice:
//
//   Method(request, options)                 blocks until the answer is there or the deadline
//                                            passed; absl::StatusOr<Response>.
//   MethodAsync(request, callback, options)  returns at once; the callback runs exactly once, on a
//                                            thread of gRPC.
//
// The streams block: ParseChunked, Batch, ParseScript, AggregateWorkload (pgparsed/streams.h).
//
// Errors are absl::Status values. ReasonOf, SqlErrorOf and ErrorMetadataOf of pgparsed/errors.h
// read them. What the server did not say itself has the reason of its code: kDeadline, kCancelled,
// kUnimplemented, kUnavailable (no connection), else kInternal.
//
// Thread-safety: every member function may be called from any thread at any time.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "pgparsed/errors.h"
#include "pgparsed/streams.h"
#include "pgparsed/v1/admin.pb.h"
#include "pgparsed/v1/grammar.pb.h"
#include "pgparsed/v1/parser.pb.h"
#include "pgparsed/v1/streams.pb.h"

namespace grpc {
class ChannelCredentials;
}  // namespace grpc

namespace pgparsed {

namespace client {
class CallSet;
}  // namespace client

// How a client connects, and what its calls do by default.
struct ClientOptions {
  // Where the server listens: "host:port", "[::1]:50051", "host" (port 50051), "unix:/path" or
  // "/path". A target in another of gRPC's schemes ("dns:///name:port",
  // "ipv4:127.0.0.1:50051,127.0.0.1:50052") is taken as it is. Calls go round all addresses of it.
  std::string address = "127.0.0.1:50051";

  // TLS (TlsCredentials of pgparsed/tls.h) or other credentials. Null: plaintext.
  std::shared_ptr<grpc::ChannelCredentials> credentials;
  // With TLS: the name that the server's certificate must have. Empty: the host of `address`.
  std::string tls_server_name;

  // The longest that a call may take, retries included, unless CallOptions say otherwise. Zero: no
  // limit but the server's. Batch, ParseScript and AggregateWorkload have no limit of their own.
  std::chrono::milliseconds timeout{30'000};

  // The largest answer that is taken. Unary results are up to 64 MiB (the server's
  // max_unary_result_bytes); gRPC's own default of 4 MiB would refuse them.
  size_t max_receive_bytes = 80u << 20;

  // The largest tree, in bytes, that Parse and ParseAsync join from chunks where the server says
  // that it is too large for one answer (RESULT_TOO_LARGE): they then call ParseChunked, within the
  // same timeout. Zero: they never do, and return the server's error.
  size_t max_joined_bytes = 1u << 30;

  // How often a call is tried in all when the server answers UNAVAILABLE (overloaded, draining) or
  // cannot be reached. 1 to 5; 1: no retries. A Batch goes on so in the middle too. Nothing else is
  // ever retried. Between tries gRPC waits for 50 ms and more, or for as long as the server says.
  int max_attempts = 4;

  // A ping on a connection with calls that has been silent for so long; an answer must come within
  // keepalive_timeout, else the connection is given up. Zero: no pings. The server permits 30 s
  // and more.
  std::chrono::milliseconds keepalive_interval{60'000};
  std::chrono::milliseconds keepalive_timeout{20'000};

  // The grammar of the shortcuts that take bare SQL. 0: the server's default.
  uint32_t grammar = 0;

  // Stands before gRPC's own user agent in the server's logs. Empty: "pgparsed-cpp/<version>".
  std::string user_agent;
};

// Stops calls. Copies share one state: give a copy to the calls in CallOptions, keep one, and call
// Cancel from any thread, as often as you like. Calls that run end with kCancelled soon after;
// calls that begin later end so at once.
class Cancellation {
 public:
  Cancellation();

  // Does not block and does not wait for the calls to end.
  void Cancel();
  bool IsCancelled() const;

 private:
  friend class Client;
  std::shared_ptr<client::CallSet> calls_;
};

// What one call does differently.
struct CallOptions {
  // Negative: ClientOptions::timeout, and none for Batch, ParseScript and AggregateWorkload. Zero:
  // no limit but the server's.
  std::chrono::milliseconds timeout{-1};

  // What stops the call. Empty: nothing but the timeout does.
  std::optional<Cancellation> cancellation;

  // Wait for a connection until the timeout, instead of failing when there is none.
  bool wait_for_ready = false;

  // Whether Parse and ParseAsync may call ParseChunked: see ClientOptions::max_joined_bytes.
  bool join_chunks = true;
};

// A connection to a server. It is made when the first call needs it, kept, and made again when it
// breaks: Connect itself does not block and succeeds although nothing listens.
//
// The destructor cancels the calls that run and waits until their callbacks have returned. So a
// client must not be destroyed by a callback of its own, and a callback must not wait for another
// one of the same client.
class Client {
 public:
  template <typename Response>
  using Callback = std::function<void(absl::StatusOr<Response>)>;

  // kInvalidRequest when an option is out of its range or the address cannot be one.
  static absl::StatusOr<std::unique_ptr<Client>> Connect(ClientOptions options);

  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // The options in force, `address` as the gRPC target that it stands for.
  const ClientOptions& options() const;

  // --- ParserService ---------------------------------------------------------------------------
  // Query text must be UTF-8 without NUL bytes: else kInvalidQueryText, without a call.

  // A tree that is too large for one answer comes in chunks and is joined; where it is larger than
  // ClientOptions::max_joined_bytes the error is kResultTooLarge.
  absl::StatusOr<v1::ParseResponse> Parse(const v1::ParseRequest& request,
                                          const CallOptions& options = {});
  void ParseAsync(v1::ParseRequest request, Callback<v1::ParseResponse> callback,
                  const CallOptions& options = {});

  absl::StatusOr<v1::ParsePlpgsqlResponse> ParsePlpgsql(const v1::ParsePlpgsqlRequest& request,
                                                        const CallOptions& options = {});
  void ParsePlpgsqlAsync(v1::ParsePlpgsqlRequest request,
                         Callback<v1::ParsePlpgsqlResponse> callback,
                         const CallOptions& options = {});

  absl::StatusOr<v1::FingerprintResponse> Fingerprint(const v1::FingerprintRequest& request,
                                                      const CallOptions& options = {});
  void FingerprintAsync(v1::FingerprintRequest request, Callback<v1::FingerprintResponse> callback,
                        const CallOptions& options = {});

  absl::StatusOr<v1::NormalizeResponse> Normalize(const v1::NormalizeRequest& request,
                                                  const CallOptions& options = {});
  void NormalizeAsync(v1::NormalizeRequest request, Callback<v1::NormalizeResponse> callback,
                      const CallOptions& options = {});

  absl::StatusOr<v1::ScanResponse> Scan(const v1::ScanRequest& request,
                                        const CallOptions& options = {});
  void ScanAsync(v1::ScanRequest request, Callback<v1::ScanResponse> callback,
                 const CallOptions& options = {});

  absl::StatusOr<v1::SplitResponse> Split(const v1::SplitRequest& request,
                                          const CallOptions& options = {});
  void SplitAsync(v1::SplitRequest request, Callback<v1::SplitResponse> callback,
                  const CallOptions& options = {});

  absl::StatusOr<v1::DeparseResponse> Deparse(const v1::DeparseRequest& request,
                                              const CallOptions& options = {});
  void DeparseAsync(v1::DeparseRequest request, Callback<v1::DeparseResponse> callback,
                    const CallOptions& options = {});

  absl::StatusOr<v1::FormatResponse> Format(const v1::FormatRequest& request,
                                            const CallOptions& options = {});
  void FormatAsync(v1::FormatRequest request, Callback<v1::FormatResponse> callback,
                   const CallOptions& options = {});

  absl::StatusOr<v1::ExtractCommentsResponse> ExtractComments(
      const v1::ExtractCommentsRequest& request, const CallOptions& options = {});
  void ExtractCommentsAsync(v1::ExtractCommentsRequest request,
                            Callback<v1::ExtractCommentsResponse> callback,
                            const CallOptions& options = {});

  absl::StatusOr<v1::SummarizeResponse> Summarize(const v1::SummarizeRequest& request,
                                                  const CallOptions& options = {});
  void SummarizeAsync(v1::SummarizeRequest request, Callback<v1::SummarizeResponse> callback,
                      const CallOptions& options = {});

  absl::StatusOr<v1::AnalyzeResponse> Analyze(const v1::AnalyzeRequest& request,
                                              const CallOptions& options = {});
  void AnalyzeAsync(v1::AnalyzeRequest request, Callback<v1::AnalyzeResponse> callback,
                    const CallOptions& options = {});

  // --- Streams ---------------------------------------------------------------------------------
  // pgparsed/streams.h says what sources and sinks are. All block until the stream has ended. The
  // error is that of the stream; errors of single items stand in the answers. Once the server
  // has answered nothing but a Batch is tried again.

  // A tree of any size, chunk by chunk: at most a chunk is in memory here. When the error is not
  // that of the query, the sink may have been given a part of the tree.
  absl::StatusOr<ChunkedTree> ParseChunked(const v1::ParseChunkedRequest& request,
                                           const TreeSink& sink, const CallOptions& options = {});

  // Many queries. A query that is no valid UTF-8 or has a NUL byte fails alone (and protobuf's
  // library says so on standard error). When the connection is lost in the middle, as it may be
  // when a server is replaced, the batch goes on with what is not answered, on another connection:
  // max_attempts streams in all without an answer between. Each answer comes once, and first_index
  // counts from the first query of the batch. The chunks that are not answered yet are kept.
  absl::Status Batch(const v1::StreamOptions& stream, const BatchSource& source,
                     const BatchSink& sink, const CallOptions& options = {});

  // A script of any size. `start` says what is done with each statement, and where in the script
  // the source begins. When `resume` is given it is where the answers end, whatever the status
  // says: after kUnavailable a second call that starts there gives the rest.
  absl::Status ParseScript(const v1::ParseScriptRequest::Start& start, const ScriptSource& source,
                           const ScriptSink& sink, ScriptPlace* resume = nullptr,
                           const CallOptions& options = {});

  // A query log, with reports that were made earlier, to one report. The source runs on the
  // caller's thread. A report of any size is sent in parts.
  absl::StatusOr<v1::WorkloadReport> AggregateWorkload(
      const v1::AggregateWorkloadRequest::Options& workload, const WorkloadSource& source,
      const CallOptions& options = {});

  // --- GrammarService --------------------------------------------------------------------------

  absl::StatusOr<v1::ListGrammarsResponse> ListGrammars(const v1::ListGrammarsRequest& request = {},
                                                        const CallOptions& options = {});
  void ListGrammarsAsync(v1::ListGrammarsRequest request,
                         Callback<v1::ListGrammarsResponse> callback,
                         const CallOptions& options = {});

  absl::StatusOr<v1::GetGrammarSchemaResponse> GetGrammarSchema(
      const v1::GetGrammarSchemaRequest& request, const CallOptions& options = {});
  void GetGrammarSchemaAsync(v1::GetGrammarSchemaRequest request,
                             Callback<v1::GetGrammarSchemaResponse> callback,
                             const CallOptions& options = {});

  // --- AdminService ----------------------------------------------------------------------------
  // Of a server's --admin-listen address. Elsewhere kUnimplemented.

  // The counters of the pool and the memory of each process.
  absl::StatusOr<v1::GetStatsResponse> GetStats(const v1::GetStatsRequest& request = {},
                                                const CallOptions& options = {});
  void GetStatsAsync(v1::GetStatsRequest request, Callback<v1::GetStatsResponse> callback,
                     const CallOptions& options = {});

  // Replaces workers, one after the other.
  absl::StatusOr<v1::RecycleWorkersResponse> RecycleWorkers(
      const v1::RecycleWorkersRequest& request = {}, const CallOptions& options = {});
  void RecycleWorkersAsync(v1::RecycleWorkersRequest request,
                           Callback<v1::RecycleWorkersResponse> callback,
                           const CallOptions& options = {});

  // Gives free memory back to the system.
  absl::StatusOr<v1::PurgeMemoryResponse> PurgeMemory(const v1::PurgeMemoryRequest& request = {},
                                                      const CallOptions& options = {});
  void PurgeMemoryAsync(v1::PurgeMemoryRequest request, Callback<v1::PurgeMemoryResponse> callback,
                        const CallOptions& options = {});

  // --- Shortcuts -------------------------------------------------------------------------------
  // The common calls with ClientOptions::grammar and every other option at its default. They block
  // like the methods that they stand for.

  // The tree as JSON, as libpg_query prints it.
  absl::StatusOr<std::string> ParseJson(std::string_view sql, const CallOptions& options = {});
  // The tree as a serialized pg_query.ParseResult.
  absl::StatusOr<std::string> ParseProtobuf(std::string_view sql, const CallOptions& options = {});
  absl::StatusOr<uint64_t> Fingerprint(std::string_view sql, const CallOptions& options = {});
  // The SQL with $n in place of constants.
  absl::StatusOr<std::string> Normalize(std::string_view sql, const CallOptions& options = {});
  // The SQL of a serialized pg_query.ParseResult of the same grammar.
  absl::StatusOr<std::string> Deparse(std::string_view protobuf_tree,
                                      const CallOptions& options = {});
  // The SQL in a uniform layout, comments kept.
  absl::StatusOr<std::string> Format(std::string_view sql, const CallOptions& options = {});

 private:
  class Impl;
  explicit Client(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace pgparsed
