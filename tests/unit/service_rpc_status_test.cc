#include "service/rpc_status.h"

#include <gtest/gtest.h>

#include "google/rpc/error_details.pb.h"

namespace pgparsed::service {
namespace {

TEST(RpcStatus, HasExactlyOneErrorInfoWithReasonDomainAndMetadata) {
  absl::Status status = MakeError(Reason::kQueryTooLarge, "too large");
  AddErrorMetadata(status, "bytes", "9");
  const google::rpc::Status rpc = ToRpcStatus(status);
  EXPECT_EQ(rpc.code(), 3);
  ASSERT_EQ(rpc.details_size(), 1);
  google::rpc::ErrorInfo info;
  ASSERT_TRUE(rpc.details(0).UnpackTo(&info));
  EXPECT_EQ(info.reason(), "QUERY_TOO_LARGE");
  EXPECT_EQ(info.domain(), "pgparsed");
  EXPECT_EQ(info.metadata().at("bytes"), "9");
}

TEST(RpcStatus, AnSqlErrorKeepsPositionZeroApartFromNone) {
  const google::rpc::Status rpc =
      ToRpcStatus(MakeSqlError(Reason::kSqlSyntaxError, {.message = "m", .position = 0}));
  ASSERT_EQ(rpc.details_size(), 2);
  v1::SqlError error;
  ASSERT_TRUE(rpc.details(1).UnpackTo(&error));
  EXPECT_TRUE(error.has_position());
  const google::rpc::Status none =
      ToRpcStatus(MakeSqlError(Reason::kSqlSyntaxError, {.message = "m"}));
  ASSERT_TRUE(none.details(1).UnpackTo(&error));
  EXPECT_FALSE(error.has_position());
}

TEST(RpcStatus, LongMessagesAreCutAtACharacterSoThatTrailersStaySmall) {
  std::string message = "syntax error at or near \"";
  for (int i = 0; i < 3000; ++i) message += "é";
  const google::rpc::Status rpc =
      ToRpcStatus(MakeSqlError(Reason::kSqlSyntaxError, {.message = message, .context = message}));
  EXPECT_LE(rpc.message().size(), kMaxStatusMessageBytes);
  EXPECT_LT(rpc.ByteSizeLong(), 2500u);
  v1::SqlError error;
  ASSERT_TRUE(rpc.details(1).UnpackTo(&error));  // refuses half characters
  EXPECT_LE(error.message().size(), kMaxSqlMessageBytes);
  EXPECT_EQ(error.message().substr(error.message().size() - 3), "…");
  EXPECT_EQ(error.message().rfind("syntax error at or near", 0), 0u);
}

TEST(RpcStatus, OverloadedSaysWhenToRetry) {
  const google::rpc::Status rpc = ToRpcStatus(MakeError(Reason::kOverloaded, "full"));
  EXPECT_EQ(rpc.code(), 14);
  ASSERT_EQ(rpc.details_size(), 2);
  google::rpc::RetryInfo retry;
  ASSERT_TRUE(rpc.details(1).UnpackTo(&retry));
  EXPECT_EQ(retry.retry_delay().nanos(), kOverloadedRetryMs * 1'000'000);
}

TEST(RpcStatus, AnErrorWithoutAReasonIsInternal) {
  EXPECT_EQ(ToRpcStatus(absl::NotFoundError("x")).code(), 13);
}

// The table of design section 5: codes are part of the contract.
TEST(RpcStatus, EveryReasonHasItsCode) {
  const std::vector<std::pair<Reason, int>> table = {
      {Reason::kSqlSyntaxError, 3},     {Reason::kInvalidQueryText, 3},
      {Reason::kUnsupportedGrammar, 3}, {Reason::kUnsupportedOption, 3},
      {Reason::kInvalidTree, 3},        {Reason::kQueryTooLarge, 3},
      {Reason::kNestingTooDeep, 3},     {Reason::kInvalidRequest, 3},
      {Reason::kResultTooLarge, 11},    {Reason::kParserMemoryLimit, 8},
      {Reason::kParserTimeLimit, 8},    {Reason::kDeadline, 4},
      {Reason::kParserCrashed, 13},     {Reason::kDeparseMismatch, 13},
      {Reason::kInternal, 13},          {Reason::kOverloaded, 14},
      {Reason::kDraining, 14},          {Reason::kUnimplemented, 12},
      {Reason::kCancelled, 1},          {Reason::kUnavailable, 14}};
  for (const auto& [reason, code] : table) {
    EXPECT_EQ(ToRpcStatus(MakeError(reason, "m")).code(), code) << ReasonName(reason);
    EXPECT_EQ(ReasonFromName(ReasonName(reason)), reason);
  }
}

}  // namespace
}  // namespace pgparsed::service
