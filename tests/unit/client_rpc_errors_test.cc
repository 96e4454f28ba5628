#include "cpp/rpc_errors.h"

#include <gtest/gtest.h>

#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

namespace pgparsed::client {
namespace {

grpc::Status WithDetails(grpc::StatusCode code, const std::string& message,
                         const google::rpc::Status& details) {
  return grpc::Status(code, message, details.SerializeAsString());
}

google::rpc::ErrorInfo Info(const std::string& reason) {
  google::rpc::ErrorInfo info;
  info.set_domain("pgparsed");
  info.set_reason(reason);
  return info;
}

TEST(RpcErrors, ReasonMetadataAndSqlErrorAreReadFromTheTrailers) {
  auto info = Info("SQL_SYNTAX_ERROR");
  (*info.mutable_metadata())["key"] = "value";
  v1::SqlError sql;
  sql.set_message("syntax error");
  sql.set_position(0);
  sql.set_line(1);
  sql.set_column(1);
  sql.set_source_file("scan.l");
  google::rpc::Status details;
  details.add_details()->PackFrom(info);
  details.add_details()->PackFrom(sql);

  const absl::Status status =
      FromGrpcStatus(WithDetails(grpc::StatusCode::INVALID_ARGUMENT, "syntax error", details));
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ReasonOf(status), Reason::kSqlSyntaxError);
  EXPECT_EQ(ErrorMetadataOf(status).at("key"), "value");
  ASSERT_TRUE(SqlErrorOf(status).has_value());
  EXPECT_EQ(SqlErrorOf(status)->position, 0u);
  EXPECT_EQ(SqlErrorOf(status)->source_file, "scan.l");
}

TEST(RpcErrors, WithoutDetailsTheCodeGivesTheReason) {
  const auto reason = [](grpc::StatusCode code) {
    return ReasonOf(FromGrpcStatus(grpc::Status(code, "x")));
  };
  EXPECT_EQ(reason(grpc::StatusCode::DEADLINE_EXCEEDED), Reason::kDeadline);
  EXPECT_EQ(reason(grpc::StatusCode::CANCELLED), Reason::kCancelled);
  EXPECT_EQ(reason(grpc::StatusCode::UNIMPLEMENTED), Reason::kUnimplemented);
  EXPECT_EQ(reason(grpc::StatusCode::UNAVAILABLE), Reason::kUnavailable);
  EXPECT_EQ(reason(grpc::StatusCode::RESOURCE_EXHAUSTED), Reason::kInternal);
}

TEST(RpcErrors, TheCodeAndMessageOfAForeignErrorStay) {
  const absl::Status status =
      FromGrpcStatus(grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED, "message larger than max"));
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(), "message larger than max");
}

TEST(RpcErrors, AReasonOfALaterServerIsKeptByName) {
  google::rpc::Status details;
  details.add_details()->PackFrom(Info("MOON_PHASE"));
  const absl::Status status =
      FromGrpcStatus(WithDetails(grpc::StatusCode::FAILED_PRECONDITION, "not tonight", details));
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(ErrorMetadataOf(status).at("reason"), "MOON_PHASE");
}

TEST(RpcErrors, AnErrorInfoOfSomebodyElseIsNotOurs) {
  auto info = Info("OVERLOADED");
  info.set_domain("googleapis.com");
  google::rpc::Status details;
  details.add_details()->PackFrom(info);
  const absl::Status status =
      FromGrpcStatus(WithDetails(grpc::StatusCode::UNAVAILABLE, "proxy", details));
  EXPECT_EQ(ReasonOf(status), Reason::kUnavailable);
}

TEST(RpcErrors, BrokenDetailsDoNotHideTheError) {
  const absl::Status status =
      FromGrpcStatus(grpc::Status(grpc::StatusCode::INTERNAL, "boom", "\xFF\xFF\xFF"));
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_EQ(status.message(), "boom");
}

}  // namespace
}  // namespace pgparsed::client
