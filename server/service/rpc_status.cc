#include "service/rpc_status.h"

#include <array>
#include <atomic>
#include <optional>
#include <string>
#include <string_view>

#include "google/rpc/error_details.pb.h"
#include "text/views.h"

namespace pgparsed::service {
namespace {

std::string Cut(std::string_view text, size_t max_bytes) {
  constexpr std::string_view kEllipsis = "…";
  if (text.size() <= max_bytes) return std::string(text);
  size_t end = max_bytes - kEllipsis.size();
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return std::string(text.substr(0, end)).append(kEllipsis);
}

// By Reason.
constinit std::array<std::atomic<uint64_t>, static_cast<size_t>(Reason::kUnavailable) + 1>
    failed_calls{};

}  // namespace

uint64_t FailedCalls(Reason reason) {
  return failed_calls[static_cast<size_t>(reason)].load(std::memory_order_relaxed);
}

v1::SqlError ToProto(const SqlError& error) {
  v1::SqlError proto;
  proto.set_message(Cut(error.message, kMaxSqlMessageBytes));
  if (error.position) proto.set_position(*error.position);
  proto.set_line(error.line);
  proto.set_column(error.column);
  proto.set_source_function(error.source_function);
  proto.set_source_file(error.source_file);
  proto.set_source_line(error.source_line);
  proto.set_context(Cut(error.context, kMaxContextBytes));
  return proto;
}

google::rpc::Status ToRpcStatus(const absl::Status& status) {
  const Reason reason = ReasonOf(status);
  failed_calls[static_cast<size_t>(reason)].fetch_add(1, std::memory_order_relaxed);
  google::rpc::Status rpc;
  rpc.set_code(static_cast<int>(ReasonCode(reason)));
  rpc.set_message(Cut(text::ToStd(status.message()), kMaxStatusMessageBytes));

  google::rpc::ErrorInfo info;
  info.set_reason(std::string(ReasonName(reason)));
  info.set_domain("pgparsed");
  for (const auto& [key, value] : ErrorMetadataOf(status)) (*info.mutable_metadata())[key] = value;
  rpc.add_details()->PackFrom(info);

  if (const std::optional<SqlError> sql = SqlErrorOf(status)) {
    rpc.add_details()->PackFrom(ToProto(*sql));
  }
  if (reason == Reason::kOverloaded) {
    google::rpc::RetryInfo retry;
    retry.mutable_retry_delay()->set_nanos(kOverloadedRetryMs * 1'000'000);
    rpc.add_details()->PackFrom(retry);
  }
  return rpc;
}

}  // namespace pgparsed::service
