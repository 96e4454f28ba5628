#include "pgparsed/streams.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "cpp/chunked_tree.h"
#include "cpp/client_impl.h"
#include "cpp/exchange.h"
#include "cpp/query_text.h"
#include "cpp/report_parts.h"
#include "pgparsed/client.h"
#include "pgparsed/errors.h"

namespace pgparsed {

using client::Exchange;
using client::kNoTimeout;
using client::Malformed;

absl::StatusOr<ChunkedTree> Client::ParseChunked(const v1::ParseChunkedRequest& request,
                                                 const TreeSink& sink, const CallOptions& options) {
  return impl_->ParseChunked(request, sink, options);
}

absl::StatusOr<ChunkedTree> Client::Impl::ParseChunked(const v1::ParseChunkedRequest& request,
                                                       const TreeSink& sink,
                                                       const CallOptions& options) {
  if (absl::Status status = client::CheckQueryText(request.query()); !status.ok()) return status;
  const RunningCall call(*this, options, options_.timeout);
  const auto stream = parser_->ParseChunked(&call.context(), request);
  client::ChunkedTreeReader reader;
  v1::ParseChunkedResponse message;
  absl::Status objection;
  while (objection.ok() && stream->Read(&message)) objection = reader.Take(message, sink);
  if (!objection.ok()) call.context().TryCancel();
  const grpc::Status status = stream->Finish();
  if (!objection.ok()) return objection;
  if (!status.ok()) return ErrorOf(status);
  return reader.Finish();
}

absl::StatusOr<v1::ParseResponse> Client::Impl::Parse(const v1::ParseRequest& request,
                                                      const CallOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  auto response = Call(*parser_, &ParserStub::Parse, request, options);
  if (response.ok() || !MayJoin(response.status(), options)) return response;
  const CallOptions rest = Rest(options, begin);
  client::TreeJoin join(options_.max_joined_bytes);
  const RunningCall call(*this, rest, kNoTimeout);
  const auto stream = parser_->ParseChunked(&call.context(), client::ToChunked(request));
  v1::ParseChunkedResponse message;
  absl::Status objection;
  while (objection.ok() && stream->Read(&message)) objection = join.Take(message);
  if (!objection.ok()) call.context().TryCancel();
  const grpc::Status status = stream->Finish();
  if (!objection.ok()) return objection;
  if (!status.ok()) return ErrorOf(status);
  return join.Finish();
}

namespace {

// A ParseChunked whose chunks are joined, on gRPC's threads. Deletes itself.
class JoiningCall final : public grpc::ClientReadReactor<v1::ParseChunkedResponse> {
 public:
  using Done = std::function<void(absl::StatusOr<v1::ParseResponse>, const grpc::Status&)>;

  JoiningCall(v1::ParseChunkedRequest request, size_t max_bytes, Done done,
              std::shared_ptr<grpc::ClientContext> context)
      : context_(std::move(context)),
        request_(std::move(request)),
        join_(max_bytes),
        done_(std::move(done)) {}

  void Start(v1::ParserService::StubInterface::async_interface& stub) {
    stub.ParseChunked(context_.get(), &request_, this);
    StartRead(&message_);
    StartCall();
  }

 private:
  void OnReadDone(bool ok) override {
    if (!ok) return;
    objection_ = join_.Take(message_);
    if (objection_.ok()) {
      StartRead(&message_);
    } else {
      context_->TryCancel();
    }
  }

  void OnDone(const grpc::Status& status) override {
    const std::unique_ptr<JoiningCall> last(this);
    if (!objection_.ok()) {
      done_(objection_, grpc::Status::OK);
    } else if (!status.ok()) {
      done_(v1::ParseResponse(), status);
    } else {
      done_(join_.Finish(), status);
    }
  }

  const std::shared_ptr<grpc::ClientContext> context_;  // first: it goes when all else has gone
  const v1::ParseChunkedRequest request_;
  client::TreeJoin join_;
  const Done done_;
  v1::ParseChunkedResponse message_;
  absl::Status objection_;
};

}  // namespace

void Client::Impl::ParseAsync(v1::ParseRequest request, Callback<v1::ParseResponse> callback,
                              const CallOptions& options) {
  const bool may_join = options.join_chunks && options_.max_joined_bytes > 0;
  // The request is kept for a second call only where there may be one.
  auto kept = may_join ? std::make_shared<v1::ParseRequest>(request) : nullptr;
  const auto begin = std::chrono::steady_clock::now();
  CallAsync<ParserStub::async_interface, v1::ParseRequest, v1::ParseResponse>(
      parser_->async(), &ParserStub::async_interface::Parse, std::move(request),
      [this, kept, callback = std::move(callback), options,
       begin](absl::StatusOr<v1::ParseResponse> response) {
        if (response.ok() || !MayJoin(response.status(), options)) {
          return callback(std::move(response));
        }
        const CallOptions rest = Rest(options, begin);
        // Begins before the first call ends: so the client waits for it.
        const auto context = Begin(rest, kNoTimeout);
        auto* const call = new JoiningCall(
            client::ToChunked(std::move(*kept)), options_.max_joined_bytes,
            [this, callback, rest, context = context.get()](
                absl::StatusOr<v1::ParseResponse> joined, const grpc::Status& status) {
              if (status.ok()) {
                callback(std::move(joined));
              } else {
                callback(ErrorOf(status));
              }
              End(context, rest);
            },
            context);
        call->Start(*parser_->async());
      },
      options);
}

bool Client::Impl::MayJoin(const absl::Status& status, const CallOptions& options) const {
  return options.join_chunks && options_.max_joined_bytes > 0 &&
         ReasonOf(status) == Reason::kResultTooLarge;
}

CallOptions Client::Impl::Rest(const CallOptions& options,
                               std::chrono::steady_clock::time_point begin) const {
  CallOptions rest = options;
  if (rest.timeout.count() < 0) rest.timeout = options_.timeout;
  if (rest.timeout.count() == 0) return rest;
  const auto passed = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::steady_clock::now() - begin);
  // 0 would be no limit.
  rest.timeout = std::max(rest.timeout - passed, std::chrono::milliseconds(1));
  return rest;
}

absl::Status Client::ParseScript(const v1::ParseScriptRequest::Start& start,
                                 const ScriptSource& source, const ScriptSink& sink,
                                 ScriptPlace* resume, const CallOptions& options) {
  ScriptPlace place{.offset = start.start_offset(),
                    .line = std::max<uint64_t>(start.start_line(), 1)};
  if (start.has_standard_conforming_strings()) {
    place.standard_conforming_strings = start.standard_conforming_strings();
  }
  const Impl::RunningCall call(*impl_, options, kNoTimeout);
  const auto stream = impl_->parser().ParseScript(&call.context());
  bool started = false;
  v1::ParseScriptRequest request;
  const auto send = [&]() -> absl::StatusOr<const v1::ParseScriptRequest*> {
    if (!std::exchange(started, true)) {
      *request.mutable_start() = start;
      return &request;
    }
    std::string& bytes = *request.mutable_chunk();
    do {
      bytes.clear();
      const absl::StatusOr<bool> more = source(bytes);
      if (!more.ok()) return more.status();
      if (!*more) return nullptr;
    } while (bytes.empty());
    return &request;
  };
  const auto take = [&](const v1::ParseScriptResponse& response) {
    if (response.resume_offset() < place.offset || response.resume_line() < place.line) {
      return Malformed("the place to resume at goes backwards");
    }
    if (absl::Status status = sink(response); !status.ok()) return status;
    place = {.offset = response.resume_offset(),
             .line = response.resume_line(),
             .standard_conforming_strings = response.resume_standard_conforming_strings()};
    return absl::OkStatus();
  };
  absl::Status status = Exchange<v1::ParseScriptRequest, v1::ParseScriptResponse>(
      call.context(), *stream, send, take,
      [this](const grpc::Status& end) { return impl_->ErrorOf(end); });
  if (resume != nullptr) *resume = place;
  return status;
}

absl::StatusOr<v1::WorkloadReport> Client::AggregateWorkload(
    const v1::AggregateWorkloadRequest::Options& workload, const WorkloadSource& source,
    const CallOptions& options) {
  const Impl::RunningCall call(*impl_, options, kNoTimeout);
  v1::AggregateWorkloadResponse response;
  const auto stream = impl_->parser().AggregateWorkload(&call.context(), &response);
  v1::AggregateWorkloadRequest request;
  *request.mutable_options() = workload;
  // As a source is to send chunks of the log.
  constexpr size_t kReportBytes = kBatchChunkBytes;
  std::optional<client::ReportParts> parts;
  const auto next = [&]() -> absl::StatusOr<bool> {
    if (parts.has_value()) {
      if (parts->Next(*request.mutable_report())) return true;
      parts.reset();
      request.Clear();
    }
    absl::StatusOr<bool> more = source(request);
    if (more.ok() && *more && request.has_report() &&
        request.report().ByteSizeLong() > kReportBytes) {
      parts.emplace(std::move(*request.mutable_report()), kReportBytes);
      request.clear_report();
      parts->Next(*request.mutable_report());
    }
    return more;
  };
  absl::Status source_error;
  // False: the stream is over, and Finish says why.
  while (stream->Write(request, grpc::WriteOptions())) {
    // A chunk is cleared and kept, not given back: its columns keep their memory.
    if (request.has_chunk()) {
      request.mutable_chunk()->Clear();
    } else {
      request.Clear();
    }
    const absl::StatusOr<bool> more = next();
    if (!more.ok()) {
      source_error = more.status();
      call.context().TryCancel();
    }
    if (!more.ok() || !*more) {
      stream->WritesDone();
      break;
    }
  }
  const grpc::Status status = stream->Finish();
  if (!source_error.ok()) return source_error;
  if (!status.ok()) return impl_->ErrorOf(status);
  return std::move(*response.mutable_report());
}

}  // namespace pgparsed
