#include "grpc/chunked_call.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "grpc/byte_buffer.h"
#include "grpc/status.h"
#include "pgparsed/v1/streams.pb.h"
#include "sync/mutex.h"

namespace pgparsed::grpc_door {
namespace {

// Chunks hold the channel's windows until gRPC has sent them, and the channel has few of those: so
// the queue here is short whatever the client and the worker do, and the worker waits instead.
class ChunkedCall final : public grpc::ServerWriteReactor<grpc::ByteBuffer> {
 public:
  ChunkedCall(service::Backend& backend, grpc::CallbackServerContext* context)
      : backend_(backend), context_(context) {}

  void Run(const grpc::ByteBuffer& buffer, std::shared_ptr<ChunkedCall> self) {
    self_ = self;
    v1::ParseChunkedRequest request;
    if (absl::Status status =
            DecodeRequest(buffer, request, v1::ParseChunkedRequest::kQueryFieldNumber);
        !status.ok()) {
      return Fail(status);
    }
    format_ =
        request.format() == v1::TREE_FORMAT_UNSPECIFIED ? v1::TREE_FORMAT_JSON : request.format();
    requested_grammar_ = request.grammar();
    want_timing_ = request.want_timing();
    std::shared_ptr<pool::JobHandle> handle = backend_.CallInPieces(
        std::move(request), absl::FromChrono(context_->deadline()),
        [self](std::string_view piece, std::shared_ptr<void> lease) {
          self->SendBytes(piece, lease);
        },
        [self](absl::StatusOr<pool::JobAnswer> answer) { self->Done(std::move(answer)); });
    bool cancel = false;
    {
      sync::MutexLock lock(mutex_);
      cancel = cancelled_;
      if (!over_) handle_ = handle;
    }
    if (cancel && handle != nullptr) handle->Cancel();
  }

 private:
  // The lease is held until gRPC has taken the message, though small chunks are copies: it is what
  // holds the worker back.
  struct Message {
    grpc::ByteBuffer bytes;
    std::shared_ptr<void> lease;
  };

  // The header goes with the first bytes of the tree: a query with an error has no header.
  void SendHeader() {
    if (std::exchange(header_sent_, true)) return;
    v1::ParseChunkedResponse response;
    v1::ParseChunkedResponse::Header* header = response.mutable_header();
    const auto grammar = backend_.Grammar(requested_grammar_);
    header->set_grammar(*grammar);
    header->set_postgres_version_num(backend_.PostgresVersionNum(*grammar));
    header->set_format(format_);
    Send({EncodeAnswer(response, {}, nullptr), nullptr});
  }

  void SendBytes(std::string_view bytes, const std::shared_ptr<void>& lease) {
    SendHeader();
    const uint64_t most = backend_.limits().max_chunk_bytes;
    for (; !bytes.empty(); bytes.remove_prefix(std::min<uint64_t>(most, bytes.size()))) {
      const std::string_view chunk = bytes.substr(0, most);
      total_bytes_ += chunk.size();
      Send({EncodeAnswer(v1::ParseChunkedResponse(),
                         {{v1::ParseChunkedResponse::kChunkFieldNumber, chunk}}, lease),
            lease});
    }
  }

  void Done(absl::StatusOr<pool::JobAnswer> answer) {
    if (!answer.ok()) return Fail(answer.status());
    v1::ParseChunkedResponse response;
    v1::ParseChunkedResponse::Trailer* trailer = response.mutable_trailer();
    bool has_tree = false;
    for (const channel::Section& section : answer->answer.sections) {
      absl::Status status;
      if (section.kind == channel::SectionKind::kWarnings) {
        status = service::AddWarnings(section, *trailer->mutable_warnings());
      } else if (std::exchange(has_tree, true)) {
        status = service::MalformedAnswer();
      } else if (section.kind == channel::SectionKind::kTreeProtobuf &&
                 format_ == v1::TREE_FORMAT_PROTOBUF) {
        SendBytes(section.payload, answer->lease);
      } else if (section.kind != channel::SectionKind::kTreePieces ||
                 section.payload.size() != sizeof(total_bytes_) ||
                 std::memcmp(section.payload.data(), &total_bytes_, sizeof(total_bytes_)) != 0) {
        status = service::MalformedAnswer();
      }
      if (!status.ok()) return Fail(status);
    }
    if (!has_tree) return Fail(service::MalformedAnswer());
    SendHeader();
    trailer->set_total_bytes(total_bytes_);
    if (want_timing_) {
      service::FillTiming(*answer, *trailer->mutable_timing());
      trailer->mutable_timing()->set_bytes_produced(total_bytes_);
      trailer->mutable_timing()->set_total_ns(service::Nanoseconds(absl::Now() - begin_));
    }
    answer->lease.reset();
    Send({EncodeAnswer(response, {}, nullptr), nullptr});
    sync::MutexLock lock(mutex_);
    if (!end_) end_ = grpc::Status::OK;
    FinishIfIdle();
  }

  void Send(Message message) {
    const grpc::ByteBuffer* first = nullptr;
    {
      sync::MutexLock lock(mutex_);
      if (cancelled_) return;
      messages_.push_back(std::move(message));
      if (messages_.size() == 1) first = &messages_.front().bytes;
    }
    if (first != nullptr) StartWrite(first);
  }

  // Ends the call when what came before the error is sent.
  void Fail(const absl::Status& status) {
    sync::MutexLock lock(mutex_);
    if (end_) return;  // then gRPC may be done with the context
    end_ = FinishWith(status, *context_);
    FinishIfIdle();
  }

  void FinishIfIdle() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (!end_ || !messages_.empty() || std::exchange(finished_, true)) return;
    Finish(*end_);
  }

  void OnWriteDone(bool ok) override {
    const std::shared_ptr<ChunkedCall> alive = self_;
    const grpc::ByteBuffer* next = nullptr;
    {
      sync::MutexLock lock(mutex_);
      messages_.pop_front();
      if (!ok) messages_.clear();  // the client is gone: OnCancel says so
      if (!messages_.empty()) next = &messages_.front().bytes;
      FinishIfIdle();
    }
    if (next != nullptr) StartWrite(next);
  }

  void OnCancel() override {
    std::shared_ptr<pool::JobHandle> handle;
    {
      sync::MutexLock lock(mutex_);
      cancelled_ = true;
      handle = handle_;
      // What was not handed to gRPC holds windows of the channel.
      while (messages_.size() > 1) messages_.pop_back();
      if (!end_) end_ = grpc::Status::CANCELLED;
      FinishIfIdle();
    }
    if (handle != nullptr) handle->Cancel();  // outside the lock: it may answer the call
  }

  void OnDone() override {
    const std::shared_ptr<ChunkedCall> last = std::move(self_);
    sync::MutexLock lock(mutex_);
    over_ = true;
    handle_ = nullptr;
    messages_.clear();
  }

  service::Backend& backend_;
  grpc::CallbackServerContext* const context_;
  const absl::Time begin_ = absl::Now();
  std::shared_ptr<ChunkedCall> self_;  // gRPC's share; ends with OnDone

  // Set before the job is submitted, then read by the pool's thread.
  v1::TreeFormat format_ = v1::TREE_FORMAT_JSON;
  uint32_t requested_grammar_ = 0;
  bool want_timing_ = false;
  // Used by the thread that hands over the answer.
  bool header_sent_ = false;
  uint64_t total_bytes_ = 0;

  sync::Mutex mutex_;
  std::deque<Message> messages_ ABSL_GUARDED_BY(mutex_);  // the first is being written
  std::optional<grpc::Status> end_ ABSL_GUARDED_BY(mutex_);
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  bool over_ ABSL_GUARDED_BY(mutex_) = false;
  std::shared_ptr<pool::JobHandle> handle_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

grpc::ServerWriteReactor<grpc::ByteBuffer>* StartParseChunked(service::Backend& backend,
                                                              grpc::CallbackServerContext* context,
                                                              const grpc::ByteBuffer* request) {
  auto call = std::make_shared<ChunkedCall>(backend, context);
  call->Run(*request, call);
  return call.get();
}

}  // namespace pgparsed::grpc_door
