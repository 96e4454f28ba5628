// Jobs of the channel answered into a plain buffer.
#include "worker/operations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "channel/sections.h"
#include "grammar/options.h"
#include "pgparsed/errors.h"
#include "worker/allocator.h"
#include "worker/memory.h"

namespace pgparsed::worker {
namespace {

using channel::JobHeader;
using channel::PositionEncoding;
using channel::SectionKind;
using channel::SplitMethod;
using channel::TreeFormat;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Error {
  channel::ErrorRecord record;
  std::string message, function, file, context;

  Reason reason() const { return static_cast<Reason>(record.reason); }
};

class Answer {
 public:
  Answer(JobHeader header, const std::string& text, const std::string& comments = "")
      : region_(size_t{1} << 20) {
    header.text_bytes = text.size();
    header.comments_bytes = comments.size();
    const uint64_t bytes = AnswerJob(header, text, comments, region_);
    auto answer = channel::ReadAnswer({region_, bytes});
    EXPECT_TRUE(answer.ok()) << answer.status();
    answer_ = *std::move(answer);
  }

  const channel::AnswerHeader& header() const { return answer_.header; }

  bool Has(SectionKind kind) const { return Find(kind) != nullptr; }

  std::string Text(SectionKind kind) const {
    const channel::Section* section = Find(kind);
    EXPECT_NE(section, nullptr) << "no section " << static_cast<uint32_t>(kind);
    return section != nullptr ? std::string(section->payload) : "";
  }

  std::vector<uint32_t> Column(SectionKind kind) const {
    const std::string bytes = Text(kind);
    std::vector<uint32_t> column(bytes.size() / 4);
    std::memcpy(column.data(), bytes.data(), column.size() * 4);
    return column;
  }

  std::vector<Error> Errors() const {
    std::vector<Error> errors;
    for (const channel::Section& section : answer_.sections) {
      if (section.kind != SectionKind::kError) continue;
      Error error;
      std::string_view rest = section.payload;
      std::memcpy(&error.record, rest.data(), sizeof(error.record));
      rest.remove_prefix(sizeof(error.record));
      const auto take = [&](uint32_t bytes) {
        const std::string taken(rest.substr(0, bytes));
        rest.remove_prefix(bytes);
        return taken;
      };
      error.message = take(error.record.message_bytes);
      error.function = take(error.record.function_bytes);
      error.file = take(error.record.file_bytes);
      error.context = take(error.record.context_bytes);
      EXPECT_TRUE(rest.empty());
      errors.push_back(error);
    }
    return errors;
  }

  Error OnlyError() const {
    const std::vector<Error> errors = Errors();
    EXPECT_EQ(errors.size(), 1u);
    return errors.empty() ? Error{} : errors.front();
  }

 private:
  const channel::Section* Find(SectionKind kind) const {
    for (const channel::Section& section : answer_.sections) {
      if (section.kind == kind) return &section;
    }
    return nullptr;
  }

  std::vector<std::byte> region_;
  channel::Answer answer_;
};

TEST(AnswerJob, ParsesToBothFormats) {
  const Answer json({.operations = channel::kOpParse}, "SELECT 1");
  EXPECT_THAT(json.Text(SectionKind::kTreeJson), HasSubstr("SelectStmt"));
  EXPECT_GT(json.header().parse_ns, 0u);
  EXPECT_GT(json.header().convert_ns, 0u);
  const Answer protobuf({.operations = channel::kOpParse, .tree_format = TreeFormat::kProtobuf},
                        "SELECT 1");
  EXPECT_FALSE(protobuf.Text(SectionKind::kTreeProtobuf).empty());
  EXPECT_THAT(protobuf.Errors(), IsEmpty());
}

TEST(AnswerJob, AnswersSeveralOperationsOfOneQuery) {
  const Answer answer({.operations = channel::kOpParse | channel::kOpFingerprint |
                                     channel::kOpNormalize | channel::kOpScan | channel::kOpSplit |
                                     channel::kOpFormat | channel::kOpParsePlpgsql},
                      "SELECT a FROM t WHERE b = 1");
  EXPECT_THAT(answer.Errors(), IsEmpty());
  EXPECT_TRUE(answer.Has(SectionKind::kTreeJson));
  EXPECT_EQ(answer.Text(SectionKind::kFingerprint).size(), 8u);
  EXPECT_EQ(answer.Text(SectionKind::kNormalized), "SELECT a FROM t WHERE b = $1");
  EXPECT_EQ(answer.Column(SectionKind::kTokenStart).size(), 8u);
  EXPECT_THAT(answer.Column(SectionKind::kPieceStart), ElementsAre(0));
  EXPECT_THAT(answer.Text(SectionKind::kFormatted), HasSubstr("SELECT a"));
  EXPECT_EQ(answer.Text(SectionKind::kPlpgsqlJson), "[]");
}

// faults.jsonl: error-position-multibyte.
TEST(AnswerJob, GivesErrorPositionsInTheAskedEncoding) {
  const std::string sql = "SELECT '😀éé'\n FROM @";
  const auto error = [&](PositionEncoding encoding) {
    return Answer({.operations = channel::kOpParse, .position_encoding = encoding}, sql)
        .OnlyError();
  };
  const Error utf8 = error(PositionEncoding::kUtf8);
  EXPECT_EQ(utf8.reason(), Reason::kSqlSyntaxError);
  EXPECT_EQ(utf8.record.operation, static_cast<uint32_t>(channel::kOpParse));
  EXPECT_EQ(utf8.record.is_sql_error, 1u);
  EXPECT_EQ(utf8.message, "syntax error at or near \"@\"");
  EXPECT_EQ(utf8.function, "scanner_yyerror");
  EXPECT_EQ(utf8.file, "scan.l");
  EXPECT_EQ(utf8.record.position, 24u);
  EXPECT_EQ(utf8.record.line, 2u);
  EXPECT_EQ(utf8.record.column, 7u);
  EXPECT_EQ(error(PositionEncoding::kUtf16).record.position, 20u);
  EXPECT_EQ(error(PositionEncoding::kUtf32).record.position, 19u);
}

TEST(AnswerJob, CountsColumnsInTheAskedEncoding) {
  const std::string sql = "SELECT\n'😀é' @@ FROM FROM";
  const auto column = [&](PositionEncoding encoding) {
    return Answer({.operations = channel::kOpFingerprint, .position_encoding = encoding}, sql)
        .OnlyError()
        .record.column;
  };
  EXPECT_EQ(column(PositionEncoding::kUtf8), 13u);
  EXPECT_EQ(column(PositionEncoding::kUtf16), 10u);
  EXPECT_EQ(column(PositionEncoding::kUtf32), 9u);
}

TEST(AnswerJob, LeavesThePositionOutWhereTheParserGaveNone) {
  const Answer answer({.operations = channel::kOpParsePlpgsql},
                      "DO $$BEGIN SELECT 1 FORM x; END$$");
  EXPECT_EQ(answer.OnlyError().record.position, channel::kNoPosition);
  EXPECT_EQ(answer.OnlyError().record.line, 0u);
  EXPECT_THAT(answer.OnlyError().context, HasSubstr("PL/pgSQL"));
}

// faults.jsonl: scan-multibyte.
TEST(AnswerJob, GivesTokensInTheAskedEncoding) {
  const std::string sql = "SELECT 'ışığ', tablo FROM ü";
  const Answer answer(
      {.operations = channel::kOpScan, .position_encoding = PositionEncoding::kUtf16}, sql);
  EXPECT_THAT(answer.Column(SectionKind::kTokenStart), ElementsAre(0, 7, 13, 15, 21, 26));
  EXPECT_THAT(answer.Column(SectionKind::kTokenEnd), ElementsAre(6, 13, 14, 20, 25, 27));
  EXPECT_THAT(answer.Column(SectionKind::kTokenName), ElementsAre(0, 1, 2, 3, 4, 3));
  using std::string_literals::operator""s;
  EXPECT_EQ(answer.Text(SectionKind::kTokenNames), "SELECT\0SCONST\0ASCII_44\0IDENT\0FROM\0"s);
}

TEST(AnswerJob, GivesPiecesInTheAskedEncodingWithTheirLines) {
  const std::string sql = "SELECT '😀';\nSELECT\n2;SELECT 3";
  for (const SplitMethod method : {SplitMethod::kDefault, SplitMethod::kTolerant}) {
    const Answer answer({.operations = channel::kOpSplit,
                         .split_method = method,
                         .position_encoding = PositionEncoding::kUtf16},
                        sql);
    EXPECT_THAT(answer.Column(SectionKind::kPieceStart), ElementsAre(0, 11, 13, 21, 22));
    EXPECT_THAT(answer.Column(SectionKind::kPieceLength), ElementsAre(11, 2, 8, 1, 8));
    EXPECT_THAT(answer.Column(SectionKind::kPieceLine), ElementsAre(1, 1, 2, 3, 3));
    EXPECT_THAT(answer.Column(SectionKind::kPieceKind), ElementsAre(1, 4, 1, 4, 1));
    EXPECT_FALSE(answer.Has(SectionKind::kPieceIncomplete));
  }
  const Answer scanner({.operations = channel::kOpSplit,
                        .split_method = SplitMethod::kScanner,
                        .position_encoding = PositionEncoding::kUtf16},
                       sql);
  EXPECT_THAT(scanner.Column(SectionKind::kPieceStart), ElementsAre(0, 12, 22));
  EXPECT_THAT(scanner.Column(SectionKind::kPieceLength), ElementsAre(11, 9, 8));
  EXPECT_THAT(scanner.Column(SectionKind::kPieceLine), ElementsAre(1, 1, 3));
  const Answer parser({.operations = channel::kOpSplit,
                       .split_method = SplitMethod::kParser,
                       .position_encoding = PositionEncoding::kUtf32},
                      sql);
  EXPECT_EQ(parser.Column(SectionKind::kPieceStart).size(), 3u);
  EXPECT_EQ(parser.Column(SectionKind::kPieceStart)[2], 21u);
}

TEST(AnswerJob, RefusesOtherPositionsInTheLibrarysTreesButNotTheirErrors) {
  const JobHeader utf16{.operations = channel::kOpParse | channel::kOpFingerprint,
                        .conversion = channel::Conversion::kLibrary,
                        .position_encoding = PositionEncoding::kUtf16};
  const Answer answer(utf16, "SELECT 1");
  EXPECT_EQ(answer.OnlyError().reason(), Reason::kUnsupportedOption);
  EXPECT_EQ(answer.OnlyError().record.operation, static_cast<uint32_t>(channel::kOpParse));
  EXPECT_TRUE(answer.Has(SectionKind::kFingerprint));
  EXPECT_EQ(Answer(utf16, "SELECT @").Errors().size(), 2u);
  EXPECT_EQ(Answer(utf16, "SELECT @").Errors()[0].reason(), Reason::kSqlSyntaxError);
}

TEST(AnswerJob, TreesOfAllFormatsStandBesideOtherResults) {
  for (const auto& [format, kind] :
       {std::pair(TreeFormat::kJson, SectionKind::kTreeJson),
        std::pair(TreeFormat::kProtobuf, SectionKind::kTreeProtobuf),
        std::pair(TreeFormat::kColumnar, SectionKind::kTreeColumnar)}) {
    const Answer answer(
        {.operations = channel::kOpParse | channel::kOpFingerprint | channel::kOpScan,
         .tree_format = format},
        "SELECT 1");
    EXPECT_FALSE(answer.Text(kind).empty());
    EXPECT_TRUE(answer.Has(SectionKind::kFingerprint));
    EXPECT_TRUE(answer.Has(SectionKind::kTokenStart));
  }
}

TEST(AnswerJob, SaysHowLargeATreeWouldBe) {
  const std::string sql = "SELECT 'some text that takes room' AS a";
  for (const TreeFormat format :
       {TreeFormat::kJson, TreeFormat::kProtobuf, TreeFormat::kColumnar}) {
    const Answer answer(
        {.operations = channel::kOpParse, .tree_format = format, .max_answer_bytes = 100}, sql);
    EXPECT_EQ(answer.OnlyError().reason(), Reason::kResultTooLarge);
    const uint64_t needed = answer.OnlyError().record.needed_bytes;
    EXPECT_GT(needed, 100u);
    const Answer fits(
        {.operations = channel::kOpParse, .tree_format = format, .max_answer_bytes = needed}, sql);
    EXPECT_TRUE(fits.Errors().empty());
  }
}

TEST(AnswerJob, GivesOneErrorForEachOperationThatFails) {
  const Answer answer({.operations = channel::kOpParse | channel::kOpScan | channel::kOpNormalize},
                      "SELECT 1 FORM x");
  ASSERT_EQ(answer.Errors().size(), 2u);
  EXPECT_EQ(answer.Errors()[0].record.operation, static_cast<uint32_t>(channel::kOpParse));
  EXPECT_EQ(answer.Errors()[1].record.operation, static_cast<uint32_t>(channel::kOpNormalize));
  EXPECT_TRUE(answer.Has(SectionKind::kTokenStart));
}

TEST(AnswerJob, SplitsWhatIsNoSqlAndSaysWhetherItIsComplete) {
  const Answer answer({.operations = channel::kOpSplit}, "SELEC 1; \\echo x\nSELECT (1; SELECT 2");
  EXPECT_THAT(answer.Column(SectionKind::kPieceKind), ElementsAre(1, 4, 2, 4, 1));
  EXPECT_TRUE(answer.Has(SectionKind::kPieceIncomplete));
}

TEST(AnswerJob, ChecksWithoutAResult) {
  EXPECT_TRUE(Answer({.operations = channel::kOpCheck}, "SELECT 1").Errors().empty());
  const Answer wrong({.operations = channel::kOpCheck}, "SELEC 1");
  EXPECT_EQ(wrong.OnlyError().reason(), Reason::kSqlSyntaxError);
  EXPECT_EQ(wrong.OnlyError().record.operation, static_cast<uint32_t>(channel::kOpCheck));
}

TEST(AnswerJob, TakesParserOptionsWhereTheGrammarHasThem) {
  const JobHeader expression{.operations = channel::kOpParse,
                             .parse_mode = channel::ParseMode::kPlpgsqlExpr};
  const JobHeader old_strings{.operations = channel::kOpParse | channel::kOpScan,
                              .flags = channel::kFlagNoStandardConformingStrings};
  if (grammar::kFeatures.parser_options) {
    EXPECT_TRUE(Answer(expression, "a + 1").Has(SectionKind::kTreeJson));
    const Answer answer(old_strings, R"(SELECT 'a\'b')");
    EXPECT_TRUE(answer.Has(SectionKind::kTreeJson));
    EXPECT_TRUE(answer.Has(SectionKind::kTokenStart));
    EXPECT_EQ(Answer({.operations = channel::kOpNormalize,
                      .flags = channel::kFlagNoStandardConformingStrings},
                     R"(SELECT 'a\'b')")
                  .Text(SectionKind::kNormalized),
              "SELECT $1");
  } else {
    EXPECT_EQ(Answer(expression, "a + 1").OnlyError().reason(), Reason::kUnsupportedOption);
    EXPECT_EQ(Answer(old_strings, "SELECT 1").Errors().size(), 2u);
  }
  // Operations without parser options never take them silently.
  EXPECT_EQ(
      Answer({.operations = channel::kOpNormalize, .parse_mode = channel::ParseMode::kPlpgsqlExpr},
             "1")
          .OnlyError()
          .reason(),
      Reason::kUnsupportedOption);
}

std::string CommentBytes(int32_t location, const std::string& text) {
  const channel::CommentRecord record{.match_location = location,
                                      .newlines_before = 0,
                                      .newlines_after = 0,
                                      .text_bytes = static_cast<uint32_t>(text.size())};
  std::string bytes(reinterpret_cast<const char*>(&record), sizeof(record));
  bytes += text;
  bytes.resize((bytes.size() + 7) / 8 * 8);
  return bytes;
}

TEST(AnswerJob, DeparsesTrees) {
  const std::string tree =
      Answer({.operations = channel::kOpParse, .tree_format = TreeFormat::kProtobuf},
             "SELECT a, b FROM t")
          .Text(SectionKind::kTreeProtobuf);
  JobHeader header{.operations = channel::kOpDeparse, .tree_format = TreeFormat::kProtobuf};
  EXPECT_EQ(Answer(header, tree).Text(SectionKind::kDeparsed), "SELECT a, b FROM t");
  EXPECT_EQ(Answer(header, "\xff\xff").OnlyError().reason(), Reason::kInvalidTree);

  header.comment_count = 2;
  const std::string comments = CommentBytes(10, "/* one */") + CommentBytes(12, "/* two */");
  const Answer commented(header, tree, comments);
  if (grammar::kFeatures.comments) {
    EXPECT_THAT(commented.Text(SectionKind::kDeparsed), HasSubstr("/* one */"));
    EXPECT_THAT(commented.Text(SectionKind::kDeparsed), HasSubstr("/* two */"));
  } else {
    EXPECT_EQ(commented.OnlyError().reason(), Reason::kUnsupportedOption);
  }
}

TEST(AnswerJob, RefusesTreesWhoseTextIsNoUtf8) {
  std::string tree = Answer({.operations = channel::kOpParse, .tree_format = TreeFormat::kProtobuf},
                            "SELECT 'zzzz'")
                         .Text(SectionKind::kTreeProtobuf);
  tree.replace(tree.find("zzzz"), 2, "\xff\xfe");
  EXPECT_EQ(Answer({.operations = channel::kOpDeparse, .tree_format = TreeFormat::kProtobuf}, tree)
                .OnlyError()
                .reason(),
            Reason::kInvalidTree);
}

TEST(AnswerJob, ExtractsComments) {
  const Answer answer({.operations = channel::kOpExtractComments}, "/* a */ SELECT 1 -- bc");
  if (!grammar::kFeatures.comments) {
    EXPECT_EQ(answer.OnlyError().reason(), Reason::kUnsupportedOption);
    return;
  }
  const std::string bytes = answer.Text(SectionKind::kComments);
  ASSERT_EQ(bytes.size(), 2 * (sizeof(channel::CommentRecord) + 8));
  EXPECT_EQ(bytes.substr(sizeof(channel::CommentRecord), 7), "/* a */");
}

TEST(AnswerJob, DescribesItself) {
  const std::string bytes =
      Answer({.operations = channel::kOpDescribe}, "").Text(SectionKind::kDescription);
  channel::DescriptionRecord record;
  std::memcpy(&record, bytes.data(), sizeof(record));
  EXPECT_EQ(record.major, static_cast<uint32_t>(PGPARSED_GRAMMAR));
  EXPECT_EQ(record.postgres_version_num / 10000, record.major);
  EXPECT_EQ((record.features & channel::kFeaturePrettyPrint) != 0, grammar::kFeatures.pretty_print);
  EXPECT_TRUE(bytes.ends_with(AllocatorName()));
  EXPECT_EQ(bytes.size(), sizeof(record) + record.library_version_bytes +
                              record.postgres_version_bytes + record.allocator_bytes);
}

TEST(AnswerJob, GivesTheSchema) {
  const Answer answer({.operations = channel::kOpSchema}, "");
  EXPECT_THAT(answer.Text(SectionKind::kSchemaText), HasSubstr("message Node"));
  const std::string names = answer.Text(SectionKind::kSchemaNodeNames);
  EXPECT_EQ(static_cast<size_t>(std::count(names.begin(), names.end(), '\0')),
            answer.Column(SectionKind::kSchemaNodeNumbers).size());
  EXPECT_FALSE(answer.Column(SectionKind::kSchemaTokenNumbers).empty());
  EXPECT_FALSE(answer.Text(SectionKind::kSchemaDescriptor).empty());
}

TEST(AnswerJob, SaysHowLargeTheResultWouldHaveBeen) {
  JobHeader header{.operations = channel::kOpParse | channel::kOpFingerprint,
                   .max_answer_bytes = 200};
  const Answer answer(header, "SELECT a, b, c FROM t");
  EXPECT_EQ(answer.OnlyError().reason(), Reason::kResultTooLarge);
  EXPECT_EQ(answer.OnlyError().record.operation, static_cast<uint32_t>(channel::kOpParse));
  EXPECT_GT(answer.OnlyError().record.needed_bytes, 200u);
  EXPECT_TRUE(answer.Has(SectionKind::kFingerprint));

  // Larger than the region: nothing is written behind it.
  std::string large = "SELECT 1";
  for (int i = 0; i < 20000; ++i) large += ", 1";
  header.max_answer_bytes = 0;
  const Answer too_large(header, large);
  EXPECT_EQ(too_large.OnlyError().reason(), Reason::kResultTooLarge);
  EXPECT_GT(too_large.OnlyError().record.needed_bytes, 1u << 20);
  EXPECT_TRUE(too_large.Has(SectionKind::kFingerprint));
}

TEST(AnswerJob, CutsLongErrorTextsBetweenCharacters) {
  std::string sql = "SELECT 1 FROM 'x";
  for (int i = 0; i < 5000; ++i) sql += "é";
  sql += "'";
  const Error error = Answer({.operations = channel::kOpParse}, sql).OnlyError();
  EXPECT_LE(error.message.size(), 4096u);
  EXPECT_GT(error.message.size(), 4000u);
  EXPECT_EQ(static_cast<unsigned char>(error.message.back()), 0xA9u);
}

TEST(AnswerJob, RefusesAnotherVersionOfTheChannel) {
  JobHeader header{.operations = channel::kOpParse};
  header.version = channel::kProtocolVersion + 1;
  EXPECT_EQ(Answer(header, "SELECT 1").OnlyError().reason(), Reason::kInternal);
}

TEST(WorkerMemory, CountsWhatIsAllocated) {
  StartCountingAllocations();
  const uint64_t before = AllocatedBytes();
  Answer({.operations = channel::kOpParse, .tree_format = TreeFormat::kProtobuf}, "SELECT 1");
  EXPECT_GT(AllocatedBytes(), before);
  EXPECT_FALSE(AllocationFailed());
}

TEST(WorkerMemory, NamesTheAllocatorWithItsVersion) {
  EXPECT_THAT(AllocatorName(), testing::MatchesRegex("(jemalloc|mimalloc|glibc) [0-9.]+"));
}

}  // namespace
}  // namespace pgparsed::worker
