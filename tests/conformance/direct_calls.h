// Calls that go around the C++ client: query text that a proper client refuses to send, and the
// streams that it has no methods for.
//
// All calls block. Thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace grpc {
class Channel;
}  // namespace grpc

namespace pgparsed::conformance {

// What ParseScript found.
struct ScriptCounts {
  uint64_t statements = 0;
  uint64_t meta_commands = 0;
  uint64_t copy_rows = 0;
};

class DirectCalls {
 public:
  // `target` is a gRPC target, as Client::options().address holds it.
  explicit DirectCalls(const std::string& target);
  ~DirectCalls();

  // Calls a unary `method` of ParserService ("Parse") with a request of `query` and `grammar`, and
  // one operation for Analyze. `query` may be any bytes. The status carries the reason
  // (pgparsed::ReasonOf).
  absl::Status Unary(std::string_view method, std::string_view query, uint32_t grammar);

  // The JSON tree by ParseChunked.
  absl::StatusOr<std::string> ParseChunkedJson(const std::string& query, uint32_t grammar);

  // Sends the script in small chunks and counts what comes.
  absl::StatusOr<ScriptCounts> ParseScript(const std::string& script, uint32_t grammar);

 private:
  std::shared_ptr<grpc::Channel> channel_;
};

}  // namespace pgparsed::conformance
