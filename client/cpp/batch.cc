// Client::Batch and the chunks that it sends.
#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <random>
#include <thread>
#include <utility>

#include "cpp/batch_window.h"
#include "cpp/client_impl.h"
#include "cpp/exchange.h"
#include "cpp/rpc_errors.h"
#include "pgparsed/client.h"
#include "pgparsed/streams.h"

namespace pgparsed {
namespace {

// As in the retry policy of client.cc, to which a batch does not belong: gRPC gives up a stream
// once an answer has come.
constexpr std::chrono::milliseconds kFirstBackoff{50};
constexpr std::chrono::milliseconds kMaxBackoff{1000};

// Whether the stream ended because of its connection or its server, so that another may do better.
// CANCELLED without details is how gRPC ends what crosses the server's end on the wire; with
// details the server means this stream.
bool IsLost(const grpc::Status& end) {
  return end.error_code() == grpc::StatusCode::UNAVAILABLE ||
         (end.error_code() == grpc::StatusCode::CANCELLED && end.error_details().empty());
}

// After `attempts` without an answer. The server's word stands before the client's.
std::chrono::milliseconds Backoff(const grpc::Status& end, int attempts) {
  if (const auto asked = client::RetryDelayOf(end); asked.has_value()) return *asked;
  const auto longest = std::min(kFirstBackoff * (1 << (attempts - 1)), kMaxBackoff);
  // Clients that lost the same server do not come back all at once.
  std::minstd_rand random(std::random_device{}());
  return std::chrono::milliseconds(std::uniform_int_distribution<std::chrono::milliseconds::rep>(
      longest.count() / 2, longest.count())(random));
}

}  // namespace

BatchSource InChunks(QuerySource queries, size_t max_queries, size_t max_bytes) {
  struct State {
    QuerySource queries;
    std::string next;
    bool has_next = false;
    bool ended = false;
  };
  auto state = std::make_shared<State>();
  state->queries = std::move(queries);
  return [state, max_queries, max_bytes](v1::BatchRequest::Chunk& chunk) -> absl::StatusOr<bool> {
    size_t bytes = 0;
    const auto count = [&] { return static_cast<size_t>(chunk.queries_size()); };
    while (count() == 0 || count() < max_queries) {
      if (!state->has_next && !state->ended) {
        state->next.clear();
        const absl::StatusOr<bool> got = state->queries(state->next);
        if (!got.ok()) return got.status();
        state->has_next = *got;
        state->ended = !*got;
      }
      if (!state->has_next) break;
      // A tag and a length stand before each query.
      constexpr size_t kOverhead = 6;
      const size_t size = state->next.size() + kOverhead;
      if (count() > 0 && (size > max_bytes || bytes > max_bytes - size)) break;
      bytes += size;
      // Swapped, so that both strings keep memory for later queries.
      chunk.add_queries()->swap(state->next);
      state->has_next = false;
    }
    return count() > 0;
  };
}

absl::Status Client::Batch(const v1::StreamOptions& stream_options, const BatchSource& source,
                           const BatchSink& sink, const CallOptions& options) {
  return impl_->Batch(stream_options, source, sink, options);
}

absl::Status Client::Impl::Batch(const v1::StreamOptions& stream_options, const BatchSource& source,
                                 const BatchSink& sink, const CallOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  // Holds this object between two streams.
  const RunningCall whole(*this, options, client::kNoTimeout);
  client::BatchWindow window(source);
  // Since the last answer: an answer shows that there is a server that works.
  int attempts = 0;
  while (true) {
    const uint64_t answered = window.answered();
    grpc::Status end;
    absl::Status status =
        RunBatch(stream_options, window, sink,
                 options.timeout.count() < 0 ? options : Rest(options, begin), end);
    if (!IsLost(end)) return status;
    if (window.finished()) return absl::OkStatus();
    if (window.answered() > answered) attempts = 0;
    if (IsCancelled(options) || ++attempts >= options_.max_attempts) return status;
    const auto next = std::chrono::steady_clock::now() + Backoff(end, attempts);
    // No time for another try: the server's error says more than that the time is over.
    if (options.timeout.count() > 0 && next >= begin + options.timeout) return status;
    WaitUntil(next, options);
    window.Rewind();
  }
}

absl::Status Client::Impl::RunBatch(const v1::StreamOptions& stream_options,
                                    client::BatchWindow& window, const BatchSink& sink,
                                    const CallOptions& options, grpc::Status& end) {
  const RunningCall call(*this, options, client::kNoTimeout);
  const auto stream = parser_->Batch(&call.context());
  v1::BatchRequest first;
  *first.mutable_options() = stream_options;
  bool started = false;
  const auto send = [&]() -> absl::StatusOr<const v1::BatchRequest*> {
    if (!std::exchange(started, true)) return &first;
    return window.Next();
  };
  const auto take = [&](v1::BatchResponse& response) {
    if (absl::Status status = window.Take(response); !status.ok()) return status;
    return sink(response);
  };
  absl::Status status = client::Exchange<v1::BatchRequest, v1::BatchResponse>(
      call.context(), *stream, send, take, [&](const grpc::Status& ended) {
        end = ended;
        return ErrorOf(ended);
      });
  if (status.ok() && !window.finished()) {
    return client::Malformed("the stream ends before the last query is answered");
  }
  return status;
}

bool Client::Impl::IsCancelled(const CallOptions& options) const {
  return calls_.cancelled() ||
         (options.cancellation.has_value() && options.cancellation->IsCancelled());
}

void Client::Impl::WaitUntil(std::chrono::steady_clock::time_point until,
                             const CallOptions& options) const {
  constexpr std::chrono::milliseconds kStep{10};
  while (!IsCancelled(options)) {
    const auto rest = until - std::chrono::steady_clock::now();
    if (rest <= rest.zero()) return;
    std::this_thread::sleep_for(std::min<std::chrono::steady_clock::duration>(rest, kStep));
  }
}

}  // namespace pgparsed
