#include "grpc/script_call.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "grpc/byte_buffer.h"
#include "grpc/wire_message.h"
#include "pgparsed/errors.h"
#include "pgparsed/v1/streams.pb.h"
#include "service/script_stream.h"

namespace pgparsed::grpc_door {
namespace {

class ScriptCall final : public BidiStream {
 public:
  ScriptCall(service::Backend& backend, grpc::CallbackServerContext* context)
      : BidiStream(context), backend_(backend) {}

 private:
  void OnMessage(grpc::ByteBuffer message) override {
    const WireMessage request(message);
    const std::optional<WireField> part = request.LastOf(
        {v1::ParseScriptRequest::kStartFieldNumber, v1::ParseScriptRequest::kChunkFieldNumber});
    if (!part) {
      return Fail(MakeError(Reason::kInvalidRequest,
                            "a message of the stream is empty or not a message of the contract; "
                            "send the options, then the bytes of the script"));
    }
    if (part->number == v1::ParseScriptRequest::kStartFieldNumber) return OnStart(part->bytes);
    if (script_ == nullptr) {
      return Fail(MakeError(Reason::kInvalidRequest,
                            "a script begins with its options, before the first bytes"));
    }
    if (part->bytes.size() > backend_.limits().max_batch_bytes) {
      return Fail(
          MakeError(Reason::kInvalidRequest,
                    absl::StrCat("a chunk of the script has ", part->bytes.size(),
                                 " bytes and this server takes ", backend_.limits().max_batch_bytes,
                                 "; send smaller chunks")));
    }
    script_->Feed(part->bytes);
    if (script_->HasRoom() && !ended()) Read();
  }

  void OnStart(std::string_view bytes) {
    v1::ParseScriptRequest::Start start;
    if (script_ != nullptr) {
      return Fail(MakeError(Reason::kInvalidRequest,
                            "the options of a script come once, as its first message"));
    }
    if (!start.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
      return Fail(MakeError(Reason::kInvalidRequest,
                            "the options are not a valid message of the contract"));
    }
    auto stream = backend_.Open(start.options(), absl::FromChrono(context().deadline()));
    if (!stream.ok()) return Fail(stream.status());
    const v1::ParserOptions& parser = start.options().parser_options();
    const bool of_parser =
        !parser.has_standard_conforming_strings() || parser.standard_conforming_strings();
    const splitter::Options options{
        .start_offset = start.start_offset(),
        .start_line = std::max<uint64_t>(start.start_line(), 1),
        .standard_conforming_strings = start.has_standard_conforming_strings()
                                           ? start.standard_conforming_strings()
                                           : of_parser,
        .max_statement_bytes = backend_.limits().max_query_bytes};
    // The script ends with the call: it holds no share of it but by what is in flight.
    std::weak_ptr<BidiStream> call = weak_from_this();
    script_ = std::make_shared<service::ScriptStream>(
        *std::move(stream), options,
        service::ScriptStream::Callbacks{
            .answer =
                [this, call](absl::StatusOr<service::ScriptAnswer> answer) {
                  const std::shared_ptr<BidiStream> alive = call.lock();
                  if (alive == nullptr) return;
                  if (!answer.ok()) return Fail(answer.status());
                  Send(EncodeColumns(answer->head, v1::ParseScriptResponse::kResultsFieldNumber,
                                     std::move(answer->columns)));
                },
            .room =
                [this, call] {
                  const std::shared_ptr<BidiStream> alive = call.lock();
                  if (alive != nullptr && !ended()) Read();
                },
            .end =
                [this, call] {
                  const std::shared_ptr<BidiStream> alive = call.lock();
                  if (alive != nullptr) End();
                }});
    {
      sync::MutexLock lock(mutex_);
      running_ = script_;
    }
    Read();
  }

  void OnEndOfMessages() override {
    if (script_ == nullptr) return End();
    script_->Finish();
  }

  void OnAnswerSent() override {
    if (const auto script = Running()) script->OnAnswerSent();
  }

  void OnGone() override {
    if (const auto script = Running()) script->Cancel();
  }

  std::shared_ptr<service::ScriptStream> Running() {
    sync::MutexLock lock(mutex_);
    return running_;
  }

  service::Backend& backend_;
  std::shared_ptr<service::ScriptStream> script_;  // of the reading thread

  sync::Mutex mutex_;
  std::shared_ptr<service::ScriptStream> running_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* StartParseScript(
    service::Backend& backend, grpc::CallbackServerContext* context) {
  return BidiStream::Start(std::make_shared<ScriptCall>(backend, context));
}

}  // namespace pgparsed::grpc_door
