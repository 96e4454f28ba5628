// What the streams of the client have in common.
#pragma once

#include <grpcpp/client_context.h>
#include <grpcpp/support/sync_stream.h>

#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "pgparsed/errors.h"

namespace pgparsed::client {

inline constexpr std::chrono::milliseconds kNoTimeout{0};

inline absl::Status Malformed(const std::string& what) {
  return MakeError(Reason::kInternal, absl::StrCat("the server's answer is malformed: ", what));
}

// Runs a stream in both directions: `send` gives the messages, the first one included, each valid
// until it is asked for the next and null at the end, and `take` is given the answers. OK when the
// server ended the stream so and nobody here objected.
template <typename Request, typename Response>
absl::Status Exchange(grpc::ClientContext& context,
                      grpc::ClientReaderWriterInterface<Request, Response>& stream,
                      const std::function<absl::StatusOr<const Request*>()>& send,
                      const std::function<absl::Status(Response&)>& take,
                      const std::function<absl::Status(const grpc::Status&)>& error_of) {
  absl::Status source_error;
  std::thread writer([&] {
    while (true) {
      const absl::StatusOr<const Request*> next = send();
      if (!next.ok()) {
        source_error = next.status();
        context.TryCancel();
        return;
      }
      if (*next == nullptr) break;
      // False: the stream is over, and the reader learns why.
      if (!stream.Write(**next, grpc::WriteOptions())) return;
    }
    stream.WritesDone();
  });
  absl::Status sink_error;
  Response response;
  while (stream.Read(&response)) {
    sink_error = take(response);
    if (sink_error.ok()) continue;
    context.TryCancel();
    break;
  }
  writer.join();
  const grpc::Status status = stream.Finish();
  if (!sink_error.ok()) return sink_error;
  if (!source_error.ok()) return source_error;
  return error_of(status);
}

}  // namespace pgparsed::client
