#include "grpc/batch_call.h"

#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "grpc/byte_buffer.h"
#include "grpc/wire_message.h"
#include "pgparsed/errors.h"
#include "pgparsed/v1/streams.pb.h"

namespace pgparsed::grpc_door {
namespace {

class BatchCall final : public BidiStream {
 public:
  BatchCall(service::Backend& backend, grpc::CallbackServerContext* context)
      : BidiStream(context), backend_(backend) {}

 private:
  void OnMessage(grpc::ByteBuffer message) override {
    auto request = std::make_shared<WireMessage>(message);
    // Of several parts the last counts, as in any oneof.
    const std::optional<WireField> part = request->LastOf(
        {v1::BatchRequest::kOptionsFieldNumber, v1::BatchRequest::kChunkFieldNumber});
    if (!part) {
      return Fail(MakeError(Reason::kInvalidRequest,
                            "a message of the batch is empty or not a message of the contract; "
                            "send the options, then chunks of queries"));
    }
    if (part->number == v1::BatchRequest::kOptionsFieldNumber) return OnOptions(part->bytes);
    OnChunk(part->bytes, std::move(request));
  }

  void OnOptions(std::string_view bytes) {
    v1::StreamOptions options;
    if (stream_.items != nullptr) {
      return Fail(MakeError(Reason::kInvalidRequest,
                            "the options of a batch come once, as its first message"));
    }
    if (!options.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
      return Fail(MakeError(Reason::kInvalidRequest,
                            "the options are not a valid message of the contract"));
    }
    if (options.operations().empty()) {
      return Fail(MakeError(Reason::kInvalidRequest, "operations is empty; name at least one"));
    }
    auto stream = backend_.Open(options, absl::FromChrono(context().deadline()));
    if (!stream.ok()) return Fail(stream.status());
    stream_ = *std::move(stream);
    {
      sync::MutexLock lock(mutex_);
      running_ = stream_.items;
    }
    Read();
  }

  void OnChunk(std::string_view bytes, std::shared_ptr<WireMessage> owner) {
    if (stream_.items == nullptr) {
      return Fail(MakeError(Reason::kInvalidRequest,
                            "a batch begins with its options, before the first chunk"));
    }
    auto queries = StringsOf(bytes, v1::BatchRequest::Chunk::kQueriesFieldNumber,
                             backend_.limits().max_batch_queries);
    if (!queries.ok()) return Fail(queries.status());
    if (absl::Status status = CheckSize(*queries, bytes.size()); !status.ok()) return Fail(status);
    const uint64_t first = next_index_;
    const auto count = static_cast<uint32_t>(queries->size());
    next_index_ += count;
    {
      sync::MutexLock lock(mutex_);
      ++chunks_;
    }
    stream_.items->Add(*std::move(queries), std::move(owner),
                       [self = shared_from_this(), this, first,
                        count](absl::StatusOr<service::ItemAnswer> answer) {
                         if (!answer.ok()) return Fail(answer.status());
                         Send(Encode(first, count, *std::move(answer)));
                       });
    // Last: from here on the next message may come, on another thread.
    bool read = false;
    {
      sync::MutexLock lock(mutex_);
      read = chunks_ < stream_.chunks_in_flight;
      held_back_ = !read;
    }
    if (read && !ended()) Read();
  }

  absl::Status CheckSize(const std::vector<std::string_view>& queries, uint64_t bytes) const {
    const service::Limits& limits = backend_.limits();
    if (queries.size() > limits.max_batch_queries) {
      absl::Status status =
          MakeError(Reason::kInvalidRequest,
                    absl::StrCat("a chunk has more than the ", limits.max_batch_queries,
                                 " queries that this server takes; send smaller chunks"));
      AddErrorMetadata(status, "limit", absl::StrCat(limits.max_batch_queries));
      return status;
    }
    if (queries.size() > 1 && bytes > limits.max_batch_bytes) {
      absl::Status status =
          MakeError(Reason::kInvalidRequest,
                    absl::StrCat("a chunk has ", bytes, " bytes and this server takes ",
                                 limits.max_batch_bytes, "; send smaller chunks"));
      AddErrorMetadata(status, "limit", absl::StrCat(limits.max_batch_bytes));
      return status;
    }
    return absl::OkStatus();
  }

  grpc::ByteBuffer Encode(uint64_t first, uint32_t count, service::ItemAnswer answer) const {
    v1::BatchResponse response;
    response.set_grammar(stream_.grammar);
    response.set_postgres_version_num(stream_.postgres_version_num);
    response.set_first_index(first);
    response.set_count(count);
    if (stream_.want_timing) FillTiming(answer, *response.mutable_timing());
    return EncodeColumns(response, v1::BatchResponse::kResultsFieldNumber,
                         std::move(answer.columns));
  }

  void OnEndOfMessages() override {
    bool end = false;
    {
      sync::MutexLock lock(mutex_);
      last_chunk_came_ = true;
      end = chunks_ == 0;
    }
    if (end) End();
  }

  void OnAnswerSent() override {
    bool read = false;
    bool end = false;
    {
      sync::MutexLock lock(mutex_);
      --chunks_;
      read = std::exchange(held_back_, false);
      end = last_chunk_came_ && chunks_ == 0;
    }
    if (end) End();
    if (read && !ended()) Read();
  }

  void OnGone() override {
    std::shared_ptr<service::ItemStream> running;
    {
      sync::MutexLock lock(mutex_);
      running = running_;
    }
    if (running != nullptr) running->Cancel();  // outside the lock: it lets callbacks go
  }

  service::Backend& backend_;
  // Set by the first message; used by the reading thread, and by callbacks of chunks.
  service::Backend::OpenStream stream_;
  uint64_t next_index_ = 0;  // used by the reading thread

  sync::Mutex mutex_;
  std::shared_ptr<service::ItemStream> running_ ABSL_GUARDED_BY(mutex_);  // for who cancels it
  uint32_t chunks_ ABSL_GUARDED_BY(mutex_) = 0;                           // not yet sent
  bool held_back_ ABSL_GUARDED_BY(mutex_) = false;
  bool last_chunk_came_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* StartBatch(
    service::Backend& backend, grpc::CallbackServerContext* context) {
  return BidiStream::Start(std::make_shared<BatchCall>(backend, context));
}

}  // namespace pgparsed::grpc_door
