// One unary call: decodes, runs, encodes, finishes. A call lives until gRPC is done with it and
// the pool has answered, whichever comes last.
#pragma once

#include <chrono>
#include <memory>
#include <utility>

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "grpc/byte_buffer.h"
#include "grpc/status.h"
#include "service/backend.h"
#include "sync/mutex.h"

namespace pgparsed::grpc_door {

template <typename Request, typename Response>
class UnaryCall final : public grpc::ServerUnaryReactor {
 public:
  // Starts the call; gRPC owns what comes back.
  static grpc::ServerUnaryReactor* Start(service::Backend& backend,
                                         grpc::CallbackServerContext* context,
                                         const grpc::ByteBuffer* request,
                                         grpc::ByteBuffer* response) {
    auto call = std::make_shared<UnaryCall>(context, response);
    call->self_ = call;
    call->Run(backend, *request, call);
    return call.get();
  }

  UnaryCall(grpc::CallbackServerContext* context, grpc::ByteBuffer* response)
      : context_(context), response_(response) {}

 private:
  static constexpr int QueryField() {
    if constexpr (requires { Request::kQueryFieldNumber; }) {
      return Request::kQueryFieldNumber;
    } else {
      return 0;
    }
  }

  void Run(service::Backend& backend, const grpc::ByteBuffer& buffer,
           std::shared_ptr<UnaryCall> self) {
    Request request;
    if (absl::Status status = DecodeRequest(buffer, request, QueryField()); !status.ok()) {
      Finish(FinishWith(status, *context_));
      return;
    }
    std::shared_ptr<pool::JobHandle> handle =
        backend.Call<Request, Response>(std::move(request), absl::FromChrono(context_->deadline()),
                                        [self](absl::StatusOr<service::Encoded<Response>> answer) {
                                          self->Done(std::move(answer));
                                        });
    bool cancel = false;
    {
      sync::MutexLock lock(mutex_);
      cancel = cancelled_;
      if (!over_) handle_ = handle;
    }
    if (cancel && handle != nullptr) handle->Cancel();
  }

  void Done(absl::StatusOr<service::Encoded<Response>> answer) {
    if (!answer.ok()) {
      Finish(FinishWith(answer.status(), *context_));
      return;
    }
    *response_ = EncodeAnswer(answer->message, answer->raw, answer->lease);
    Finish(grpc::Status::OK);
  }

  void OnCancel() override {
    std::shared_ptr<pool::JobHandle> handle;
    {
      sync::MutexLock lock(mutex_);
      cancelled_ = true;
      handle = handle_;
    }
    if (handle != nullptr) handle->Cancel();  // outside the lock: it may answer the call
  }

  void OnDone() override {
    const std::shared_ptr<UnaryCall> last = std::move(self_);
    sync::MutexLock lock(mutex_);
    over_ = true;
    handle_ = nullptr;
  }

  grpc::CallbackServerContext* const context_;
  grpc::ByteBuffer* const response_;
  std::shared_ptr<UnaryCall> self_;  // gRPC's share; ends with OnDone

  sync::Mutex mutex_;
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  bool over_ ABSL_GUARDED_BY(mutex_) = false;
  std::shared_ptr<pool::JobHandle> handle_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace pgparsed::grpc_door
