// What is behind a Client: its stubs, its calls, and how a call begins and ends.
#pragma once

#include <grpcpp/alarm.h>
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cpp/batch_window.h"
#include "cpp/call_set.h"
#include "cpp/live_contexts.h"
#include "cpp/query_text.h"
#include "cpp/rpc_errors.h"
#include "pgparsed/client.h"
#include "pgparsed/v1/admin.grpc.pb.h"
#include "pgparsed/v1/grammar.grpc.pb.h"
#include "pgparsed/v1/parser.grpc.pb.h"
#include "text/utf8.h"

namespace pgparsed {
namespace client {

template <typename Request>
absl::Status CheckRequest(const Request& request) {
  if constexpr (requires { request.query(); }) {
    return CheckQueryText(request.query());
  } else if constexpr (std::is_same_v<Request, v1::DeparseRequest>) {
    if (request.has_json() && text::FindInvalid(request.json()).has_value()) {
      return MakeError(Reason::kInvalidTree, "the JSON tree is not valid UTF-8");
    }
  }
  return absl::OkStatus();
}

}  // namespace client

class Client::Impl {
 public:
  using ParserStub = v1::ParserService::StubInterface;
  using GrammarStub = v1::GrammarService::StubInterface;
  using AdminStub = v1::AdminService::StubInterface;

  Impl(ClientOptions options, const std::shared_ptr<grpc::Channel>& channel)
      : options_(std::move(options)),
        parser_(v1::ParserService::NewStub(channel)),
        grammar_(v1::GrammarService::NewStub(channel)),
        admin_(v1::AdminService::NewStub(channel)) {}

  ~Impl() {
    calls_.CancelAll();
    contexts_.WaitUntilNone();
  }

  const ClientOptions& options() const { return options_; }
  ParserStub& parser() { return *parser_; }
  GrammarStub& grammar() { return *grammar_; }
  AdminStub& admin() { return *admin_; }

  template <typename Stub, typename Request, typename Response>
  absl::StatusOr<Response> Call(Stub& stub,
                                grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                                                             Response*),
                                const Request& request, const CallOptions& options) {
    if (absl::Status status = client::CheckRequest(request); !status.ok()) return status;
    const auto context = Begin(options);
    Response response;
    const grpc::Status status = (stub.*method)(context.get(), request, &response);
    End(context.get(), options);
    if (!status.ok()) return ErrorOf(status);
    return response;
  }

  template <typename Async, typename Request, typename Response>
  void CallAsync(Async* stub,
                 void (Async::*method)(grpc::ClientContext*, const Request*, Response*,
                                       std::function<void(grpc::Status)>),
                 Request request, Callback<Response> callback, const CallOptions& options) {
    struct Running {
      std::shared_ptr<grpc::ClientContext> context;  // first: it goes when all else has gone
      Request request;
      Response response;
      Callback<Response> callback;
      CallOptions options;
      std::unique_ptr<grpc::Alarm> alarm;
    };
    auto running = std::make_shared<Running>();
    running->request = std::move(request);
    running->callback = std::move(callback);
    running->options = options;
    running->context = Begin(options);

    if (absl::Status status = client::CheckRequest(running->request); !status.ok()) {
      // By way of an alarm that is due, so that this callback too runs on a thread of gRPC and not
      // under a lock of the caller.
      running->alarm = std::make_unique<grpc::Alarm>();
      running->alarm->Set(std::chrono::system_clock::now(), [this, running, status](bool) {
        running->callback(status);
        running->alarm.reset();  // it holds this function, which holds it
        End(running->context.get(), running->options);
      });
      return;
    }
    (stub->*method)(running->context.get(), &running->request, &running->response,
                    [this, running](const grpc::Status& status) {
                      if (status.ok()) {
                        running->callback(std::move(running->response));
                      } else {
                        running->callback(ErrorOf(status));
                      }
                      End(running->context.get(), running->options);
                    });
  }

  // Parse, by ParseChunked where one answer cannot hold the tree. In streams.cc.
  absl::StatusOr<v1::ParseResponse> Parse(const v1::ParseRequest& request,
                                          const CallOptions& options);
  void ParseAsync(v1::ParseRequest request, Callback<v1::ParseResponse> callback,
                  const CallOptions& options);
  absl::StatusOr<ChunkedTree> ParseChunked(const v1::ParseChunkedRequest& request,
                                           const TreeSink& sink, const CallOptions& options);

  // In batch.cc.
  absl::Status Batch(const v1::StreamOptions& stream_options, const BatchSource& source,
                     const BatchSink& sink, const CallOptions& options);

  // gRPC says "failed to connect to all addresses" and not to which.
  absl::Status ErrorOf(const grpc::Status& status) const {
    if (status.ok()) return absl::OkStatus();
    const bool from_the_server = !status.error_details().empty();
    if (status.error_code() != grpc::StatusCode::UNAVAILABLE || from_the_server) {
      return client::FromGrpcStatus(status);
    }
    return MakeError(Reason::kUnavailable,
                     absl::StrCat("cannot reach ", options_.address, ": ", status.error_message()));
  }

  std::shared_ptr<grpc::ClientContext> Begin(const CallOptions& options) {
    return Begin(options, options_.timeout);
  }

  std::shared_ptr<grpc::ClientContext> Begin(const CallOptions& options,
                                             std::chrono::milliseconds default_timeout) {
    auto context = contexts_.Make();
    const auto timeout = options.timeout.count() < 0 ? default_timeout : options.timeout;
    if (timeout.count() > 0) context->set_deadline(std::chrono::system_clock::now() + timeout);
    context->set_wait_for_ready(options.wait_for_ready);
    calls_.Add(context);
    if (options.cancellation.has_value()) options.cancellation->calls_->Add(context);
    return context;
  }

  // Nothing stops the call any more. This object lives until the context is destroyed.
  void End(const grpc::ClientContext* context, const CallOptions& options) {
    if (options.cancellation.has_value()) options.cancellation->calls_->Remove(context);
    calls_.Remove(context);
  }

  // A call from its beginning to the end of the object.
  class RunningCall {
   public:
    RunningCall(Impl& client, const CallOptions& options, std::chrono::milliseconds default_timeout)
        : client_(client), options_(options), context_(client.Begin(options, default_timeout)) {}
    ~RunningCall() { client_.End(context_.get(), options_); }
    RunningCall(const RunningCall&) = delete;
    RunningCall& operator=(const RunningCall&) = delete;

    grpc::ClientContext& context() const { return *context_; }

   private:
    Impl& client_;
    const CallOptions options_;
    const std::shared_ptr<grpc::ClientContext> context_;
  };

 private:
  // One stream of a batch. `end` is what gRPC says of it, and stays OK when the source, the sink or
  // an answer is what ended it.
  absl::Status RunBatch(const v1::StreamOptions& stream_options, client::BatchWindow& window,
                        const BatchSink& sink, const CallOptions& options, grpc::Status& end);
  // Whether the caller has given up, or this object is about to go.
  bool IsCancelled(const CallOptions& options) const;
  // Returns early when that happens.
  void WaitUntil(std::chrono::steady_clock::time_point until, const CallOptions& options) const;
  bool MayJoin(const absl::Status& status, const CallOptions& options) const;
  // The options with what is left of the timeout. Never "negative".
  CallOptions Rest(const CallOptions& options, std::chrono::steady_clock::time_point begin) const;

  const ClientOptions options_;
  const std::unique_ptr<ParserStub> parser_;
  const std::unique_ptr<GrammarStub> grammar_;
  const std::unique_ptr<AdminStub> admin_;
  client::CallSet calls_;
  client::LiveContexts contexts_;
};

}  // namespace pgparsed
