// What the bidirectional streams share: one read and one write at a time, answers in a queue, one
// end. A stream lives until gRPC is done with it and nobody else holds it.
//
// Reading. A derived class takes each message in OnMessage and asks for the next one with Read(),
// when it has room for what may come: so a client is held back that sends faster than the workers
// parse, or that does not read its answers.
//
// Thread-safe: gRPC's threads and the pool's call in.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <utility>

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "grpc/status.h"
#include "sync/mutex.h"

namespace pgparsed::grpc_door {

class BidiStream : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>,
                   public std::enable_shared_from_this<BidiStream> {
 public:
  // Begins to read; gRPC holds the stream until OnDone.
  static BidiStream* Start(std::shared_ptr<BidiStream> stream) {
    stream->self_ = stream;
    stream->Read();
    return stream.get();
  }

  ~BidiStream() override = default;

 protected:
  explicit BidiStream(grpc::CallbackServerContext* context) : context_(context) {}

  // A message came. On a thread of gRPC, one at a time.
  virtual void OnMessage(grpc::ByteBuffer message) = 0;
  // The client sends no more. The stream ends when the derived class says so.
  virtual void OnEndOfMessages() = 0;
  // An answer was handed to gRPC: there is room for another.
  virtual void OnAnswerSent() {}
  // The client is gone, or the stream has ended with an error: whatever runs for it is useless.
  virtual void OnGone() = 0;

  grpc::CallbackServerContext& context() { return *context_; }

  void Read() { StartRead(&incoming_); }

  // Queues an answer.
  void Send(grpc::ByteBuffer answer) {
    {
      sync::MutexLock lock(mutex_);
      if (end_) return;
      answers_.push_back(std::move(answer));
      if (writing_) return;
      writing_ = true;
    }
    StartWrite(&answers_front());
  }

  // Ends the stream when all answers are sent. Once; later calls do nothing.
  void End() {
    sync::MutexLock lock(mutex_);
    if (end_) return;
    end_ = grpc::Status::OK;
    FinishIfIdle();
  }

  // Ends it at once: answers that were not yet handed to gRPC are dropped.
  void Fail(const absl::Status& status) {
    {
      sync::MutexLock lock(mutex_);
      if (end_) return;
      end_ = FinishWith(status, *context_);
      while (answers_.size() > (writing_ ? 1 : 0)) answers_.pop_back();
      FinishIfIdle();
    }
    OnGone();
  }

  bool ended() {
    sync::MutexLock lock(mutex_);
    return end_.has_value();
  }

 private:
  grpc::ByteBuffer& answers_front() {
    sync::MutexLock lock(mutex_);
    return answers_.front();
  }

  void FinishIfIdle() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (!end_ || writing_ || !answers_.empty() || finished_) return;
    finished_ = true;
    Finish(*end_);
  }

  void OnReadDone(bool ok) override {
    const std::shared_ptr<BidiStream> alive = shared_from_this();
    if (ended()) return;
    if (ok) {
      OnMessage(std::exchange(incoming_, grpc::ByteBuffer()));
    } else {
      OnEndOfMessages();
    }
  }

  void OnWriteDone(bool ok) override {
    const std::shared_ptr<BidiStream> alive = shared_from_this();
    bool next = false;
    {
      sync::MutexLock lock(mutex_);
      answers_.pop_front();
      if (!ok) answers_.clear();  // the client is gone: OnCancel says so
      next = !answers_.empty();
      writing_ = next;
      FinishIfIdle();
    }
    if (next) StartWrite(&answers_front());
    OnAnswerSent();
  }

  void OnCancel() override {
    const std::shared_ptr<BidiStream> alive = shared_from_this();
    {
      sync::MutexLock lock(mutex_);
      if (!end_) end_ = grpc::Status::CANCELLED;
      FinishIfIdle();
    }
    OnGone();
  }

  void OnDone() override { const std::shared_ptr<BidiStream> last = std::move(self_); }

  grpc::CallbackServerContext* const context_;
  std::shared_ptr<BidiStream> self_;  // gRPC's share; ends with OnDone
  grpc::ByteBuffer incoming_;

  sync::Mutex mutex_;
  std::deque<grpc::ByteBuffer> answers_ ABSL_GUARDED_BY(mutex_);  // the first is being written
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
  std::optional<grpc::Status> end_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace pgparsed::grpc_door
