#include "grpc/workload_call.h"

#include <memory>
#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "grpc/byte_buffer.h"
#include "grpc/status.h"
#include "grpc/wire_message.h"
#include "pgparsed/errors.h"
#include "pgparsed/v1/streams.pb.h"
#include "service/workload_stream.h"
#include "sync/mutex.h"

namespace pgparsed::grpc_door {
namespace {

class WorkloadCall final : public grpc::ServerReadReactor<grpc::ByteBuffer>,
                           public std::enable_shared_from_this<WorkloadCall> {
 public:
  WorkloadCall(service::Backend& backend, grpc::CallbackServerContext* context,
               grpc::ByteBuffer* response)
      : backend_(backend), context_(context), response_(response) {}

  void Begin() {
    self_ = shared_from_this();
    StartRead(&incoming_);
  }

 private:
  using Request = v1::AggregateWorkloadRequest;

  void OnReadDone(bool ok) override {
    const std::shared_ptr<WorkloadCall> alive = shared_from_this();
    if (over()) return;
    if (!ok) {
      if (stream_ == nullptr) {
        return Fail(MakeError(Reason::kInvalidRequest,
                              "the stream ended before its options; send them first"));
      }
      return stream_->Finish();
    }
    if (absl::Status status = OnMessage(std::exchange(incoming_, grpc::ByteBuffer()));
        !status.ok()) {
      return Fail(status);
    }
    if (stream_->HasRoom() && !over()) StartRead(&incoming_);
  }

  absl::Status OnMessage(const grpc::ByteBuffer& message) {
    auto request = std::make_shared<WireMessage>(message);
    const std::optional<WireField> part = request->LastOf(
        {Request::kOptionsFieldNumber, Request::kChunkFieldNumber, Request::kReportFieldNumber});
    if (!part) {
      return MakeError(Reason::kInvalidRequest,
                       "a message of the stream is empty or not a message of the contract; send "
                       "the options, then chunks of the log or reports");
    }
    if (part->number == Request::kOptionsFieldNumber) return OnOptions(part->bytes);
    if (stream_ == nullptr) {
      return MakeError(Reason::kInvalidRequest,
                       "a workload begins with its options, before chunks and reports");
    }
    if (part->number == Request::kChunkFieldNumber) return OnChunk(part->bytes, request);
    v1::WorkloadReport report;
    if (!report.ParseFromArray(part->bytes.data(), static_cast<int>(part->bytes.size()))) {
      return MakeError(Reason::kInvalidRequest, "a report is not a valid message of the contract");
    }
    return stream_->Merge(report);
  }

  absl::Status OnOptions(std::string_view bytes) {
    Request::Options options;
    if (stream_ != nullptr) {
      return MakeError(Reason::kInvalidRequest,
                       "the options of a workload come once, as its first message");
    }
    if (!options.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
      return MakeError(Reason::kInvalidRequest,
                       "the options are not a valid message of the contract");
    }
    std::weak_ptr<WorkloadCall> call = weak_from_this();
    auto stream =
        service::WorkloadStream::Create(backend_, options, absl::FromChrono(context_->deadline()),
                                        {.done =
                                             [call](absl::StatusOr<v1::WorkloadReport> report) {
                                               if (const auto alive = call.lock())
                                                 alive->Done(std::move(report));
                                             },
                                         .room =
                                             [call] {
                                               const auto alive = call.lock();
                                               if (alive != nullptr && !alive->over())
                                                 alive->StartRead(&alive->incoming_);
                                             }});
    if (!stream.ok()) return stream.status();
    stream_ = *std::move(stream);
    sync::MutexLock lock(mutex_);
    running_ = stream_;
    return absl::OkStatus();
  }

  absl::Status OnChunk(std::string_view bytes, std::shared_ptr<WireMessage> owner) {
    const service::Limits& limits = backend_.limits();
    const size_t most = limits.max_batch_queries;
    service::WorkloadChunk chunk;
    auto queries = StringsOf(bytes, Request::Chunk::kQueriesFieldNumber, most);
    auto durations = NumbersOf(bytes, Request::Chunk::kDurationUsFieldNumber, most);
    auto rows = NumbersOf(bytes, Request::Chunk::kRowsFieldNumber, most);
    auto weights = NumbersOf(bytes, Request::Chunk::kWeightFieldNumber, most);
    auto first = NumbersOf(bytes, Request::Chunk::kFirstIndexFieldNumber, most);
    for (const absl::Status& status :
         {queries.status(), durations.status(), rows.status(), weights.status(), first.status()}) {
      if (!status.ok()) return status;
    }
    if (queries->size() > most || (queries->size() > 1 && bytes.size() > limits.max_batch_bytes)) {
      return MakeError(Reason::kInvalidRequest,
                       absl::StrCat("a chunk has more than the ", limits.max_batch_queries,
                                    " queries or ", limits.max_batch_bytes,
                                    " bytes that this server takes; send smaller chunks"));
    }
    chunk.queries = *std::move(queries);
    chunk.duration_us = *std::move(durations);
    chunk.rows = *std::move(rows);
    chunk.weight = *std::move(weights);
    if (!first->empty()) chunk.first_index = first->back();
    chunk.owner = std::move(owner);
    return stream_->Add(std::move(chunk));
  }

  void Done(absl::StatusOr<v1::WorkloadReport> report) {
    if (!report.ok()) return Fail(report.status());
    v1::AggregateWorkloadResponse response;
    *response.mutable_report() = *std::move(report);
    const uint64_t bytes = response.ByteSizeLong();
    if (bytes > backend_.limits().max_unary_result_bytes) {
      absl::Status status =
          MakeError(Reason::kResultTooLarge,
                    absl::StrCat("the report has ", bytes, " bytes; ask for fewer groups (top)"));
      AddErrorMetadata(status, "bytes", absl::StrCat(bytes));
      return Fail(status);
    }
    sync::MutexLock lock(mutex_);
    if (std::exchange(over_, true)) return;
    *response_ = EncodeAnswer(response, {}, nullptr);
    Finish(grpc::Status::OK);
  }

  void Fail(const absl::Status& status) {
    {
      sync::MutexLock lock(mutex_);
      if (std::exchange(over_, true)) return;
      Finish(FinishWith(status, *context_));
    }
    Stop();
  }

  void Stop() {
    std::shared_ptr<service::WorkloadStream> running;
    {
      sync::MutexLock lock(mutex_);
      running = running_;
    }
    if (running != nullptr) running->Cancel();
  }

  bool over() {
    sync::MutexLock lock(mutex_);
    return over_;
  }

  void OnCancel() override {
    const std::shared_ptr<WorkloadCall> alive = shared_from_this();
    {
      sync::MutexLock lock(mutex_);
      if (!std::exchange(over_, true)) Finish(grpc::Status::CANCELLED);
    }
    Stop();
  }

  void OnDone() override { const std::shared_ptr<WorkloadCall> last = std::move(self_); }

  service::Backend& backend_;
  grpc::CallbackServerContext* const context_;
  grpc::ByteBuffer* const response_;
  std::shared_ptr<WorkloadCall> self_;  // gRPC's share; ends with OnDone
  grpc::ByteBuffer incoming_;
  std::shared_ptr<service::WorkloadStream> stream_;  // of the reading thread

  sync::Mutex mutex_;
  std::shared_ptr<service::WorkloadStream> running_ ABSL_GUARDED_BY(mutex_);
  bool over_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace

grpc::ServerReadReactor<grpc::ByteBuffer>* StartAggregateWorkload(
    service::Backend& backend, grpc::CallbackServerContext* context, grpc::ByteBuffer* response) {
  auto call = std::make_shared<WorkloadCall>(backend, context, response);
  call->Begin();
  return call.get();
}

}  // namespace pgparsed::grpc_door
