#include "service/answers.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "pgparsed/errors.h"

namespace pgparsed::service {
namespace {

using channel::SectionKind;

// An answer whose sections are held by the object itself.
class FakeAnswer {
 public:
  FakeAnswer& Add(SectionKind kind, std::string payload) {
    payloads_.push_back(std::make_unique<std::string>(std::move(payload)));
    answer_.sections.push_back({kind, *payloads_.back()});
    return *this;
  }
  FakeAnswer& AddColumn(SectionKind kind, const std::vector<uint32_t>& column) {
    return Add(kind, std::string(reinterpret_cast<const char*>(column.data()), column.size() * 4));
  }
  FakeAnswer& AddError(channel::ErrorRecord record, const std::string& message,
                       const std::string& function = "") {
    record.message_bytes = static_cast<uint32_t>(message.size());
    record.function_bytes = static_cast<uint32_t>(function.size());
    return Add(
        SectionKind::kError,
        std::string(reinterpret_cast<const char*>(&record), sizeof(record)) + message + function);
  }
  operator const channel::Answer&() const { return answer_; }

 private:
  std::vector<std::unique_ptr<std::string>> payloads_;
  channel::Answer answer_{};
};

template <typename Response>
absl::StatusOr<Encoded<Response>> Fill(const channel::Answer& answer) {
  Encoded<Response> encoded;
  if (absl::Status status = FillAnswer(answer, encoded.message, encoded.raw); !status.ok()) {
    return status;
  }
  return encoded;
}

TEST(FillAnswer, ALargeResultStaysWhereItIs) {
  FakeAnswer answer;
  answer.Add(SectionKind::kTreeJson, "{}").Add(SectionKind::kWarnings, "one\ntwo\n");
  const auto encoded = Fill<v1::ParseResponse>(answer);
  ASSERT_TRUE(encoded.ok());
  ASSERT_EQ(encoded->raw.size(), 1u);
  EXPECT_EQ(encoded->raw[0].number, v1::ParseResponse::kJsonFieldNumber);
  EXPECT_EQ(encoded->raw[0].payload, "{}");
  ASSERT_EQ(encoded->message.warnings_size(), 2);
  EXPECT_EQ(encoded->message.warnings(1), "two");
}

TEST(FillAnswer, TokensBecomeColumns) {
  FakeAnswer answer;
  answer.AddColumn(SectionKind::kTokenStart, {0, 7})
      .AddColumn(SectionKind::kTokenEnd, {6, 8})
      .AddColumn(SectionKind::kTokenNumber, {651, 266})
      .AddColumn(SectionKind::kTokenName, {0, 1})
      .AddColumn(SectionKind::kTokenKeyword, {4, 0})
      .Add(SectionKind::kTokenNames, std::string("SELECT\0ICONST\0", 14));
  const auto encoded = Fill<v1::ScanResponse>(answer);
  ASSERT_TRUE(encoded.ok());
  const v1::TokenColumns& tokens = encoded->message.tokens();
  EXPECT_EQ(tokens.start(1), 7u);
  EXPECT_EQ(tokens.keyword_kind(0), v1::KEYWORD_KIND_RESERVED);
  ASSERT_EQ(tokens.names_size(), 2);
  EXPECT_EQ(tokens.names(static_cast<int>(tokens.name(1))), "ICONST");
}

TEST(FillAnswer, AnSqlErrorIsTheStatusOfAUnaryCall) {
  FakeAnswer answer;
  answer.AddError({.operation = channel::kOpParse,
                   .reason = static_cast<uint32_t>(Reason::kSqlSyntaxError),
                   .position = 0,
                   .line = 1,
                   .column = 1,
                   .is_sql_error = 1},
                  "syntax error", "scanner_yyerror");
  const absl::Status status = Fill<v1::ParseResponse>(answer).status();
  EXPECT_EQ(ReasonOf(status), Reason::kSqlSyntaxError);
  const auto error = SqlErrorOf(status);
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->message, "syntax error");
  EXPECT_EQ(error->position, 0u);
  EXPECT_EQ(error->source_function, "scanner_yyerror");
}

TEST(FillAnswer, AnalyzeListsTheErrorsBesideWhatSucceeded) {
  FakeAnswer answer;
  answer.AddColumn(SectionKind::kTokenStart, {0})
      .AddError({.operation = channel::kOpParse,
                 .reason = static_cast<uint32_t>(Reason::kSqlSyntaxError),
                 .is_sql_error = 1},
                "syntax error");
  const auto encoded = Fill<v1::AnalyzeResponse>(answer);
  ASSERT_TRUE(encoded.ok());
  EXPECT_EQ(encoded->message.tokens().start_size(), 1);
  ASSERT_EQ(encoded->message.errors_size(), 1);
  EXPECT_EQ(encoded->message.errors(0).operation(), v1::OPERATION_PARSE);
  EXPECT_EQ(encoded->message.errors(0).reason(), "SQL_SYNTAX_ERROR");
}

TEST(FillAnswer, AResultThatIsTooLargeNamesTheWayOut) {
  FakeAnswer answer;
  answer.AddError({.operation = channel::kOpParse,
                   .reason = static_cast<uint32_t>(Reason::kResultTooLarge),
                   .needed_bytes = 71'303'168},
                  "the result is too large");
  const absl::Status status = Fill<v1::ParseResponse>(answer).status();
  EXPECT_EQ(ReasonOf(status), Reason::kResultTooLarge);
  EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(ErrorMetadataOf(status)["bytes"], "71303168");
  EXPECT_NE(ErrorMetadataOf(status)["use"].find("ParseChunked"), std::string::npos);
}

TEST(FillAnswer, NonsenseFromAWorkerIsAnInternalError) {
  const auto refused = [](const FakeAnswer& answer) {
    return ReasonOf(Fill<v1::AnalyzeResponse>(answer).status()) == Reason::kInternal;
  };
  EXPECT_TRUE(refused(FakeAnswer().Add(SectionKind::kTokenStart, "123")));
  EXPECT_TRUE(refused(FakeAnswer().Add(SectionKind::kTokenNames, "no end")));
  EXPECT_TRUE(refused(FakeAnswer().Add(SectionKind::kFingerprint, "1234567")));
  EXPECT_TRUE(refused(FakeAnswer().Add(SectionKind::kError, "short")));
  EXPECT_TRUE(refused(FakeAnswer().Add(SectionKind::kComments, "short")));
  EXPECT_TRUE(refused(FakeAnswer().Add(static_cast<SectionKind>(9999), "")));
  EXPECT_TRUE(refused(FakeAnswer().AddError({.reason = 0}, "no reason")));
  EXPECT_TRUE(refused(FakeAnswer().AddError({.reason = 4711}, "no such reason")));
  channel::ErrorRecord long_record{.reason = 1};
  long_record.message_bytes = 0xFFFFFFFF;
  EXPECT_TRUE(refused(FakeAnswer().Add(
      SectionKind::kError,
      std::string(reinterpret_cast<const char*>(&long_record), sizeof(long_record)))));
}

TEST(FillAnswer, AColumnOfAHugeCommentDoesNotReadBeyondItsSection) {
  channel::CommentRecord record{.text_bytes = 0xFFFFFFF0};
  FakeAnswer answer;
  answer.Add(SectionKind::kComments,
             std::string(reinterpret_cast<const char*>(&record), sizeof(record)) + "-- x");
  EXPECT_EQ(ReasonOf(Fill<v1::ExtractCommentsResponse>(answer).status()), Reason::kInternal);
}

}  // namespace
}  // namespace pgparsed::service
