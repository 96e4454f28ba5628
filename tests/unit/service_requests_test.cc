#include "service/requests.h"

#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "pgparsed/errors.h"

namespace pgparsed::service {
namespace {

std::vector<pool::GrammarStatus> Grammars() {
  std::vector<pool::GrammarStatus> grammars(2);
  grammars[0].major = 18;
  grammars[1].major = 15;
  return grammars;
}

template <typename Request>
absl::StatusOr<pool::Job> Fill(Request request, const Limits& limits = {}) {
  pool::Job job;
  if (absl::Status status = FillJob(request, limits, job); !status.ok()) return status;
  return job;
}

template <typename Request>
Request WithQuery(std::string query) {
  Request request;
  request.set_query(std::move(query));
  return request;
}

TEST(ChooseGrammar, TakesTheFirstWhenNoneIsNamed) { EXPECT_EQ(*ChooseGrammar(0, Grammars()), 18u); }

TEST(ChooseGrammar, TakesTheNamedOne) { EXPECT_EQ(*ChooseGrammar(15, Grammars()), 15u); }

TEST(ChooseGrammar, RefusesAnUnknownOneAndListsWhatThereIs) {
  const absl::Status status = ChooseGrammar(9, Grammars()).status();
  EXPECT_EQ(ReasonOf(status), Reason::kUnsupportedGrammar);
  EXPECT_EQ(ErrorMetadataOf(status)["grammars"], "18, 15");
}

TEST(CheckQuery, TakesExactlyTheLimit) {
  Limits limits;
  limits.max_query_bytes = 8;
  EXPECT_TRUE(CheckQuery("SELECT 1", limits).ok());
  const absl::Status status = CheckQuery("SELECT 12", limits);
  EXPECT_EQ(ReasonOf(status), Reason::kQueryTooLarge);
  EXPECT_EQ(ErrorMetadataOf(status)["bytes"], "9");
}

TEST(CheckQuery, RefusesANulByteAndInvalidUtf8WithoutRepeatingThem) {
  const absl::Status nul = CheckQuery(std::string("SELECT 1\0; DROP", 15), {});
  EXPECT_EQ(ReasonOf(nul), Reason::kInvalidQueryText);
  EXPECT_EQ(ErrorMetadataOf(nul)["byte"], "8");
  const absl::Status utf8 = CheckQuery("SELECT '\xff\xfe'", {});
  EXPECT_EQ(ReasonOf(utf8), Reason::kInvalidQueryText);
  EXPECT_EQ(std::string(utf8.message()).find("SELECT"), std::string::npos);
}

TEST(FillJob, MovesTheQueryAndSetsTheOperation) {
  const auto job = Fill(WithQuery<v1::FingerprintRequest>("SELECT 1"));
  ASSERT_TRUE(job.ok());
  EXPECT_EQ(job->text, "SELECT 1");
  EXPECT_EQ(job->header.operations, channel::kOpFingerprint);
  EXPECT_EQ(job->header.max_answer_bytes, Limits().max_unary_result_bytes);
}

TEST(FillJob, ParserOptionsBecomeModeAndFlags) {
  auto request = WithQuery<v1::ParseRequest>("a := 1");
  request.mutable_parser_options()->set_mode(v1::PARSE_MODE_PLPGSQL_ASSIGN1);
  request.mutable_parser_options()->set_standard_conforming_strings(false);
  request.mutable_parser_options()->set_backslash_quote(true);
  const auto job = Fill(request);
  ASSERT_TRUE(job.ok());
  EXPECT_EQ(job->header.parse_mode, channel::ParseMode::kPlpgsqlAssign1);
  EXPECT_EQ(job->header.flags, uint32_t{channel::kFlagNoStandardConformingStrings});
}

TEST(FillJob, TheDefaultModeIsTheSameNamedOrNot) {
  auto request = WithQuery<v1::ParseRequest>("SELECT 1");
  EXPECT_EQ(Fill(request)->header.parse_mode, channel::ParseMode::kDefault);
  request.mutable_parser_options()->set_mode(v1::PARSE_MODE_DEFAULT);
  EXPECT_EQ(Fill(request)->header.parse_mode, channel::ParseMode::kDefault);
}

TEST(FillJob, RefusesEnumValuesThatItDoesNotKnow) {
  auto request = WithQuery<v1::ParseRequest>("SELECT 1");
  request.set_format(static_cast<v1::TreeFormat>(99));
  EXPECT_EQ(ReasonOf(Fill(request).status()), Reason::kInvalidRequest);
  auto scan = WithQuery<v1::ScanRequest>("SELECT 1");
  scan.set_position_encoding(static_cast<v1::PositionEncoding>(99));
  EXPECT_EQ(ReasonOf(Fill(scan).status()), Reason::kInvalidRequest);
  auto mode = WithQuery<v1::ParseRequest>("SELECT 1");
  mode.mutable_parser_options()->set_mode(static_cast<v1::ParseMode>(-7));
  EXPECT_EQ(ReasonOf(Fill(mode).status()), Reason::kInvalidRequest);
}

TEST(FillJob, AnalyzeCollectsItsOperations) {
  auto request = WithQuery<v1::AnalyzeRequest>("SELECT 1");
  request.add_operations(v1::OPERATION_PARSE);
  request.add_operations(v1::OPERATION_SCAN);
  EXPECT_EQ(Fill(request)->header.operations, uint32_t{channel::kOpParse | channel::kOpScan});
}

TEST(FillJob, AnalyzeRefusesNoneAndRepeatedOperations) {
  auto request = WithQuery<v1::AnalyzeRequest>("SELECT 1");
  EXPECT_EQ(ReasonOf(Fill(request).status()), Reason::kInvalidRequest);
  request.add_operations(v1::OPERATION_PARSE);
  request.add_operations(v1::OPERATION_PARSE);
  EXPECT_EQ(ReasonOf(Fill(request).status()), Reason::kInvalidRequest);
}

TEST(FillJob, DeparseNeedsATree) {
  EXPECT_EQ(ReasonOf(Fill(v1::DeparseRequest()).status()), Reason::kInvalidRequest);
}

TEST(FillJob, DeparseTakesLayoutAndComments) {
  v1::DeparseRequest request;
  request.set_protobuf("tree");
  request.mutable_layout()->set_pretty(true);
  request.mutable_layout()->set_indent_size(2);
  v1::Comment* comment = request.add_comments();
  comment->set_match_location(7);
  comment->set_newlines_after(1);
  comment->set_text("-- x");
  const auto job = Fill(request);
  ASSERT_TRUE(job.ok());
  EXPECT_EQ(job->header.flags, uint32_t{channel::kFlagLayoutPretty});
  EXPECT_EQ(job->header.indent_size, 2u);
  ASSERT_EQ(job->header.comment_count, 1u);
  ASSERT_EQ(job->comments.size(), sizeof(channel::CommentRecord) + 8);
  channel::CommentRecord record;
  std::memcpy(&record, job->comments.data(), sizeof(record));
  EXPECT_EQ(record.match_location, 7);
  EXPECT_EQ(record.newlines_after, 1u);
  EXPECT_EQ(record.text_bytes, 4u);
}

TEST(FillJob, DeparseTakesNothingForACommentThatIsNone) {
  const auto reason = [](const std::string& text, uint32_t newlines = 0) {
    v1::DeparseRequest request;
    request.set_protobuf("tree");
    v1::Comment* comment = request.add_comments();
    comment->set_text(text);
    comment->set_newlines_before(newlines);
    return ReasonOf(Fill(request).status());
  };
  for (const char* text : {"-- x", "--", "-- x\n", "/* x */", "/**/", "/* a /* b */ c */"}) {
    EXPECT_EQ(reason(text), Reason::kNone) << text;
  }
  for (const char* text : {"", "-", "DROP TABLE x;", "/* x", "/*/", "/* a */ x /* b */", "-- x\ny",
                           "/* a /* b */", "/* a */ "}) {
    EXPECT_EQ(reason(text), Reason::kInvalidRequest) << text;
  }
  EXPECT_EQ(reason("-- x", 1001), Reason::kInvalidRequest);
}

TEST(FillJob, DeparseBoundsTheCommentsAndTheLayout) {
  v1::DeparseRequest many;
  many.set_protobuf("tree");
  for (uint64_t i = 0; i <= kMaxCommentBytes / sizeof(channel::CommentRecord); ++i) {
    many.add_comments()->set_text("--");
  }
  EXPECT_EQ(ReasonOf(Fill(many).status()), Reason::kInvalidRequest);
  v1::DeparseRequest wide;
  wide.set_protobuf("tree");
  wide.mutable_layout()->set_indent_size(65);
  EXPECT_EQ(ReasonOf(Fill(wide).status()), Reason::kInvalidRequest);
}

}  // namespace
}  // namespace pgparsed::service
