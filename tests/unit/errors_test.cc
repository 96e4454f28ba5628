#include "pgparsed/errors.h"

#include <gtest/gtest.h>

namespace pgparsed {
namespace {

SqlError FullError() {
  SqlError error;
  error.message = "syntax error at or near \"FORM\"";
  error.position = 9;
  error.line = 2;
  error.column = 4;
  error.source_function = "scanner_yyerror";
  error.source_file = "scan.l";
  error.source_line = 1244;
  error.context = "line one\nline two";
  return error;
}

TEST(Errors, EveryReasonHasANameThatLeadsBackToItAndACode) {
  for (uint32_t i = 1; i <= static_cast<uint32_t>(Reason::kUnavailable); ++i) {
    const auto reason = static_cast<Reason>(i);
    const absl::Status status = MakeError(reason, "what happened");
    EXPECT_EQ(ReasonFromName(ReasonName(reason)), reason) << i;
    EXPECT_EQ(status.code(), ReasonCode(reason)) << i;
    EXPECT_EQ(status.message(), "what happened");
    EXPECT_EQ(ReasonOf(status), reason);
  }
}

TEST(Errors, NamesAndCodesAreThoseOfTheContract) {
  EXPECT_EQ(ReasonName(Reason::kSqlSyntaxError), "SQL_SYNTAX_ERROR");
  EXPECT_EQ(ReasonName(Reason::kDeparseMismatch), "DEPARSE_MISMATCH");
  EXPECT_EQ(ReasonCode(Reason::kSqlSyntaxError), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ReasonCode(Reason::kResultTooLarge), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(ReasonCode(Reason::kParserMemoryLimit), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(ReasonCode(Reason::kParserCrashed), absl::StatusCode::kInternal);
  EXPECT_EQ(ReasonCode(Reason::kOverloaded), absl::StatusCode::kUnavailable);
}

TEST(Errors, UnknownNamesAreNone) {
  EXPECT_EQ(ReasonFromName("NO_SUCH_REASON"), Reason::kNone);
  EXPECT_EQ(ReasonFromName(""), Reason::kNone);
}

TEST(Errors, ASqlErrorComesBackWithEveryField) {
  const absl::Status status = MakeSqlError(Reason::kSqlSyntaxError, FullError());
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), FullError().message);
  EXPECT_EQ(ReasonOf(status), Reason::kSqlSyntaxError);
  EXPECT_EQ(SqlErrorOf(status), FullError());
}

TEST(Errors, ASqlErrorWithoutAPositionStaysWithoutOne) {
  SqlError error;
  error.message = "out of luck";
  const absl::Status status = MakeSqlError(Reason::kNestingTooDeep, error);
  ASSERT_TRUE(SqlErrorOf(status).has_value());
  EXPECT_EQ(SqlErrorOf(status)->position, std::nullopt);
  EXPECT_EQ(ReasonOf(status), Reason::kNestingTooDeep);
}

TEST(Errors, MetadataAddsUpAndTheLastValueOfAKeyWins) {
  absl::Status status = MakeError(Reason::kUnsupportedGrammar, "no");
  EXPECT_TRUE(ErrorMetadataOf(status).empty());
  AddErrorMetadata(status, "grammars", "18, 17");
  AddErrorMetadata(status, "limit", "1");
  AddErrorMetadata(status, "limit", "2");
  AddErrorMetadata(status, "empty", "");
  const std::map<std::string, std::string> expected = {
      {"grammars", "18, 17"}, {"limit", "2"}, {"empty", ""}};
  EXPECT_EQ(ErrorMetadataOf(status), expected);
  EXPECT_EQ(ReasonOf(status), Reason::kUnsupportedGrammar);
}

TEST(Errors, AStatusWithoutAReasonIsInternalUnlessItIsOk) {
  EXPECT_EQ(ReasonOf(absl::OkStatus()), Reason::kNone);
  EXPECT_EQ(ReasonOf(absl::NotFoundError("x")), Reason::kInternal);
  EXPECT_EQ(SqlErrorOf(absl::NotFoundError("x")), std::nullopt);
  EXPECT_TRUE(MakeError(Reason::kNone, "ignored").ok());
}

}  // namespace
}  // namespace pgparsed
