// service_echo SOCKET: the floor. A server of the same gRPC with the same two methods and nothing
// behind them: it answers every call with bytes that it was told before. Says its TCP address at
// the command "address". "answer shared" and "answer copied" give the bytes of a
// pgparsed.v1.ParseResponse: shared ones go out by reference; copied ones are copied into a message
// for each call, and the message into gRPC's buffer, as a server of generated code does.
#include <grpcpp/grpcpp.h>
#include <unistd.h>

#include <iostream>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "bench/service/commands.h"
#include "pgparsed/v1/parser.grpc.pb.h"

namespace pgparsed::bench {
namespace {

constexpr int kMaxMessageBytes = 128 << 20;

template <typename Base>
using RawMethods = v1::ParserService::WithRawCallbackMethod_Parse<
    v1::ParserService::WithRawCallbackMethod_Fingerprint<Base>>;

class EchoService final : public RawMethods<v1::ParserService::Service> {
 public:
  void Share(const std::string& bytes) {
    std::lock_guard lock(mutex_);
    const grpc::Slice slice(bytes);
    shared_ = grpc::ByteBuffer(&slice, 1);
    copied_ = nullptr;
  }

  bool Copy(const std::string& bytes) {
    auto message = std::make_shared<v1::ParseResponse>();
    if (!message->ParseFromString(bytes)) return false;
    std::lock_guard lock(mutex_);
    copied_ = std::move(message);
    return true;
  }

 private:
  grpc::ServerUnaryReactor* Parse(grpc::CallbackServerContext* context, const grpc::ByteBuffer*,
                                  grpc::ByteBuffer* response) override {
    return Answer(context, response);
  }
  grpc::ServerUnaryReactor* Fingerprint(grpc::CallbackServerContext* context,
                                        const grpc::ByteBuffer*,
                                        grpc::ByteBuffer* response) override {
    return Answer(context, response);
  }

  grpc::ServerUnaryReactor* Answer(grpc::CallbackServerContext* context,
                                   grpc::ByteBuffer* response) {
    std::shared_ptr<const v1::ParseResponse> copied;
    {
      std::lock_guard lock(mutex_);
      copied = copied_;
      if (copied == nullptr) *response = shared_;
    }
    if (copied != nullptr) {
      const v1::ParseResponse message(*copied);
      bool own_buffer = false;
      grpc::GenericSerialize<grpc::ProtoBufferWriter, v1::ParseResponse>(message, response,
                                                                         &own_buffer);
    }
    grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }

  std::mutex mutex_;
  grpc::ByteBuffer shared_;
  std::shared_ptr<const v1::ParseResponse> copied_;
};

int Run(const std::string& socket) {
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);  // as pgparsed does
  EchoService service;
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("unix:" + socket, grpc::InsecureServerCredentials());
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.SetMaxReceiveMessageSize(kMaxMessageBytes);
  builder.RegisterService(&service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) {
    std::cerr << "service_echo: cannot listen on " << socket << "\n";
    return 1;
  }
  ObeyCommands([&](const Words& words, const std::string& bytes) -> absl::StatusOr<std::string> {
    if (words == Words{"address"}) return absl::StrCat("127.0.0.1:", port);
    if (words == Words{"answer", "shared"}) {
      service.Share(bytes);
      return "";
    }
    if (words == Words{"answer", "copied"} && service.Copy(bytes)) return "";
    return absl::InvalidArgumentError("no such command");
  });
  // gRPC's own shutdown may wait for seconds after large answers, and there is nothing to save.
  _exit(0);
}

}  // namespace
}  // namespace pgparsed::bench

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: service_echo SOCKET (started by service_bench)\n";
    return 2;
  }
  return pgparsed::bench::Run(argv[1]);
}
