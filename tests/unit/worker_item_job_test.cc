// Jobs of several items, answered into a plain buffer, beside a job of its own for each item.
#include "worker/item_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "channel/sections.h"
#include "grammar/options.h"
#include "grammar/wire.h"
#include "pgparsed/errors.h"
#include "worker/operations.h"

namespace pgparsed::worker {
namespace {

using channel::JobHeader;
using channel::SectionKind;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

using Columns = std::vector<std::vector<uint32_t>>;

struct ItemError {
  uint32_t item = 0;
  channel::ErrorRecord record;
  std::string message;

  Reason reason() const { return static_cast<Reason>(record.reason); }
};

std::vector<uint32_t> Unpack(std::string_view bytes) {
  std::vector<uint32_t> values;
  uint32_t value = 0;
  uint32_t shift = 0;
  for (const char byte : bytes) {
    value |= static_cast<uint32_t>(byte & 0x7F) << shift;
    shift += 7;
    if (byte & 0x80) continue;
    values.push_back(std::exchange(value, 0));
    shift = 0;
  }
  EXPECT_EQ(shift, 0u) << "cut short";
  return values;
}

// An answer, to several items or to one text.
class Answer {
 public:
  Answer(JobHeader header, const std::string& text, const std::string& lengths,
         size_t region_bytes = size_t{8} << 20)
      : region_(region_bytes) {
    header.text_bytes = text.size();
    header.comments_bytes = lengths.size();
    const uint64_t bytes = AnswerJob(header, text, lengths, region_);
    auto answer = channel::ReadAnswer({region_, bytes});
    EXPECT_TRUE(answer.ok()) << answer.status();
    if (answer.ok()) answer_ = *std::move(answer);
  }

  const channel::AnswerHeader& header() const { return answer_.header; }

  bool Has(SectionKind kind) const { return Find(kind) != nullptr; }

  std::string Text(SectionKind kind) const {
    const channel::Section* section = Find(kind);
    return section != nullptr ? std::string(section->payload) : "";
  }

  std::vector<uint32_t> Column(SectionKind kind) const {
    const std::string bytes = Text(kind);
    std::vector<uint32_t> column(bytes.size() / 4);
    std::memcpy(column.data(), bytes.data(), column.size() * 4);
    return column;
  }

  // The elements of a section of a job of several items; all are of `field`.
  std::vector<std::string> Elements(SectionKind kind, uint32_t field) const {
    std::vector<std::string> elements;
    const std::string bytes = Text(kind);
    grammar::WireReader reader(bytes);
    while (reader.Next()) {
      EXPECT_EQ(reader.field(), field);
      elements.emplace_back(reader.bytes());
    }
    EXPECT_TRUE(reader.ok());
    return elements;
  }

  std::vector<uint64_t> Fingerprints() const {
    const std::string bytes =
        Text(Has(SectionKind::kFingerprint) ? SectionKind::kFingerprint
                                            : SectionKind::kItemFingerprints);
    std::vector<uint64_t> values(bytes.size() / 8);
    std::memcpy(values.data(), bytes.data(), values.size() * 8);
    return values;
  }

  std::vector<ItemError> Errors() const {
    std::vector<ItemError> errors;
    const std::string bytes = Text(SectionKind::kItemErrors);
    std::string_view rest = bytes;
    while (rest.size() >= sizeof(channel::ItemErrorRecord)) {
      channel::ItemErrorRecord record;
      std::memcpy(&record, rest.data(), sizeof(record));
      rest.remove_prefix(sizeof(record));
      ItemError error{.item = record.item, .record = {}, .message = {}};
      std::memcpy(&error.record, rest.data(), sizeof(error.record));
      error.message = rest.substr(sizeof(error.record), error.record.message_bytes);
      errors.push_back(std::move(error));
      rest.remove_prefix((record.bytes + 7) / 8 * 8);
    }
    EXPECT_TRUE(rest.empty());
    return errors;
  }

 private:
  const channel::Section* Find(SectionKind kind) const {
    for (const channel::Section& section : answer_.sections) {
      if (section.kind == kind) return &section;
    }
    return nullptr;
  }

  std::vector<std::byte> region_;
  channel::Answer answer_{};
};

Answer AnswerAll(JobHeader header, const std::vector<std::string>& texts,
                 size_t region_bytes = size_t{8} << 20) {
  std::string joined;
  std::string lengths;
  for (const std::string& text : texts) {
    joined += text + '\0';
    const auto length = static_cast<uint32_t>(text.size());
    lengths.append(reinterpret_cast<const char*>(&length), sizeof(length));
  }
  if (!joined.empty()) joined.pop_back();  // the channel puts the last one there
  header.item_count = static_cast<uint32_t>(texts.size());
  return Answer(header, joined, lengths, region_bytes);
}

Answer AnswerOne(const JobHeader& header, const std::string& text) {
  return Answer(header, text, "");
}

const std::vector<std::string>& Queries() {
  static const std::vector<std::string> queries = {
      "SELECT a FROM t WHERE b = 1 -- c",
      "",
      "/* é */ INSERT INTO s.t VALUES ('é', 1.5); SELECT 2",
      "CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $$BEGIN RETURN 1; END$$",
      "-- nothing but a comment",
      "SELECT '" + std::string(5000, 'x') + "' AS long",
  };
  return queries;
}

// A column of texts or messages that a single job has as a section.
void ExpectSameAsSingleJobs(const JobHeader& header, SectionKind items, uint32_t field,
                            SectionKind single) {
  const Answer all = AnswerAll(header, Queries());
  const std::vector<std::string> elements = all.Elements(items, field);
  ASSERT_EQ(elements.size(), Queries().size());
  for (size_t i = 0; i < elements.size(); ++i) {
    EXPECT_EQ(elements[i], AnswerOne(header, Queries()[i]).Text(single)) << Queries()[i];
  }
}

TEST(AnswerItems, TreesOfEveryFormatAreThoseOfSingleJobs) {
  for (const auto& [format, kind] :
       {std::pair(channel::TreeFormat::kJson, SectionKind::kTreeJson),
        std::pair(channel::TreeFormat::kProtobuf, SectionKind::kTreeProtobuf),
        std::pair(channel::TreeFormat::kColumnar, SectionKind::kTreeColumnar)}) {
    ExpectSameAsSingleJobs({.operations = channel::kOpParse, .tree_format = format},
                           SectionKind::kItemTrees, 1, kind);
  }
  for (const auto& [format, kind] :
       {std::pair(channel::TreeFormat::kJson, SectionKind::kTreeJson),
        std::pair(channel::TreeFormat::kProtobuf, SectionKind::kTreeProtobuf)}) {
    ExpectSameAsSingleJobs({.operations = channel::kOpParse,
                            .tree_format = format,
                            .conversion = channel::Conversion::kLibrary},
                           SectionKind::kItemTrees, 1, kind);
  }
}

TEST(AnswerItems, TextsAndSummariesAreThoseOfSingleJobs) {
  ExpectSameAsSingleJobs({.operations = channel::kOpParsePlpgsql}, SectionKind::kItemPlpgsql, 2,
                         SectionKind::kPlpgsqlJson);
  ExpectSameAsSingleJobs({.operations = channel::kOpNormalize}, SectionKind::kItemNormalized, 4,
                         SectionKind::kNormalized);
  ExpectSameAsSingleJobs({.operations = channel::kOpFormat}, SectionKind::kItemFormatted, 7,
                         SectionKind::kFormatted);
  ExpectSameAsSingleJobs({.operations = channel::kOpSummarize, .truncate_limit = 20},
                         SectionKind::kItemSummaries, 9, SectionKind::kSummary);
}

TEST(AnswerItems, FingerprintsAreThoseOfSingleJobs) {
  const JobHeader header{.operations = channel::kOpFingerprint};
  const std::vector<uint64_t> values = AnswerAll(header, Queries()).Fingerprints();
  ASSERT_EQ(values.size(), Queries().size());
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_THAT(AnswerOne(header, Queries()[i]).Fingerprints(), ElementsAre(values[i]));
  }
}

TEST(AnswerItems, TokensAreThoseOfSingleJobs) {
  const JobHeader header{.operations = channel::kOpScan,
                         .position_encoding = channel::PositionEncoding::kUtf16};
  const std::vector<std::string> elements =
      AnswerAll(header, Queries()).Elements(SectionKind::kItemTokens, 5);
  ASSERT_EQ(elements.size(), Queries().size());
  for (size_t i = 0; i < elements.size(); ++i) {
    Columns columns(6);
    std::string names;
    grammar::WireReader reader(elements[i]);
    while (reader.Next()) {
      ASSERT_LE(reader.field(), 6u);
      if (reader.field() == 6) {
        names += std::string(reader.bytes()) + '\0';
      } else {
        columns[reader.field()] = Unpack(reader.bytes());
      }
    }
    ASSERT_TRUE(reader.ok());
    const Answer one = AnswerOne(header, Queries()[i]);
    EXPECT_EQ(columns[1], one.Column(SectionKind::kTokenStart));
    EXPECT_EQ(columns[2], one.Column(SectionKind::kTokenEnd));
    EXPECT_EQ(columns[3], one.Column(SectionKind::kTokenNumber));
    EXPECT_EQ(columns[4], one.Column(SectionKind::kTokenName));
    EXPECT_EQ(columns[5], one.Column(SectionKind::kTokenKeyword));
    EXPECT_EQ(names, one.Text(SectionKind::kTokenNames));
  }
}

TEST(AnswerItems, PiecesAreThoseOfSingleJobs) {
  const JobHeader header{.operations = channel::kOpSplit};
  const std::vector<std::string> elements =
      AnswerAll(header, Queries()).Elements(SectionKind::kItemPieces, 6);
  ASSERT_EQ(elements.size(), Queries().size());
  for (size_t i = 0; i < elements.size(); ++i) {
    Columns columns(6);
    bool incomplete = false;
    grammar::WireReader reader(elements[i]);
    while (reader.Next()) {
      ASSERT_LE(reader.field(), 5u);
      if (reader.field() == 5) {
        incomplete = reader.number() != 0;
      } else {
        columns[reader.field()] = Unpack(reader.bytes());
      }
    }
    ASSERT_TRUE(reader.ok());
    const Answer one = AnswerOne(header, Queries()[i]);
    EXPECT_EQ(columns[1], one.Column(SectionKind::kPieceStart));
    EXPECT_EQ(columns[2], one.Column(SectionKind::kPieceLength));
    EXPECT_EQ(columns[3], one.Column(SectionKind::kPieceLine));
    EXPECT_EQ(columns[4], one.Column(SectionKind::kPieceKind));
    EXPECT_EQ(incomplete, one.Has(SectionKind::kPieceIncomplete));
  }
}

TEST(AnswerItems, CommentsAreThoseOfSingleJobs) {
  const JobHeader header{.operations = channel::kOpExtractComments};
  const Answer all = AnswerAll(header, Queries());
  const std::vector<std::string> elements = all.Elements(SectionKind::kItemComments, 8);
  ASSERT_EQ(elements.size(), Queries().size());
  if (!grammar::kFeatures.comments) {
    EXPECT_THAT(elements, testing::Each(""));
    ASSERT_THAT(all.Errors(), SizeIs(Queries().size()));
    EXPECT_EQ(all.Errors()[0].reason(), Reason::kUnsupportedOption);
    return;
  }
  size_t found = 0;
  for (size_t i = 0; i < elements.size(); ++i) {
    const std::string single = AnswerOne(header, Queries()[i]).Text(SectionKind::kComments);
    std::string_view records = single;
    grammar::WireReader list(elements[i]);
    while (list.Next()) {
      std::map<uint32_t, uint64_t> numbers;
      std::string text;
      grammar::WireReader comment(list.bytes());
      while (comment.Next()) {
        numbers[comment.field()] = comment.number();
        if (comment.field() == 4) text = comment.bytes();
      }
      channel::CommentRecord record;
      ASSERT_GE(records.size(), sizeof(record));
      std::memcpy(&record, records.data(), sizeof(record));
      EXPECT_EQ(static_cast<int32_t>(numbers[1]), record.match_location);
      EXPECT_EQ(numbers[2], record.newlines_before);
      EXPECT_EQ(numbers[3], record.newlines_after);
      EXPECT_EQ(text, records.substr(sizeof(record), record.text_bytes));
      records.remove_prefix(sizeof(record) + (record.text_bytes + 7) / 8 * 8);
      ++found;
    }
    EXPECT_TRUE(list.ok());
    EXPECT_TRUE(records.empty());
  }
  EXPECT_EQ(found, 3u);
}

TEST(AnswerItems, GivesAColumnForEachOperationAndNoOthers) {
  const Answer answer = AnswerAll({.operations = channel::kOpNormalize | channel::kOpFingerprint |
                                                 channel::kOpCheck},
                                  {"SELECT 1", "SELECT 2"});
  EXPECT_EQ(answer.header().section_count, 2u);
  EXPECT_THAT(answer.Elements(SectionKind::kItemNormalized, 4),
              ElementsAre("SELECT $1", "SELECT $1"));
  EXPECT_THAT(answer.Fingerprints(), SizeIs(2));
  EXPECT_GT(answer.header().parse_ns, 0u);
}

TEST(AnswerItems, AnErrorOfAllOperationsIsOneWithoutAnOperation) {
  const Answer answer =
      AnswerAll({.operations = channel::kOpParse | channel::kOpFingerprint | channel::kOpCheck},
                {"SELECT 1", "SELECT @", "SELECT 2", "FORM"});
  const std::vector<ItemError> errors = answer.Errors();
  ASSERT_THAT(errors, SizeIs(2));
  EXPECT_EQ(errors[0].item, 1u);
  EXPECT_EQ(errors[0].record.operation, 0u);
  EXPECT_EQ(errors[0].reason(), Reason::kSqlSyntaxError);
  EXPECT_EQ(errors[0].message, "syntax error at end of input");
  EXPECT_EQ(errors[1].item, 3u);
  EXPECT_EQ(errors[1].message, "syntax error at or near \"FORM\"");
  const auto trees = answer.Elements(SectionKind::kItemTrees, 1);
  ASSERT_THAT(trees, SizeIs(4));
  EXPECT_THAT(trees[1], IsEmpty());
  EXPECT_FALSE(trees[2].empty());
  EXPECT_EQ(answer.Fingerprints()[1], 0u);
  EXPECT_EQ(answer.Fingerprints()[3], 0u);
}

TEST(AnswerItems, ErrorsOfSomeOperationsNameThem) {
  const Answer answer =
      AnswerAll({.operations = channel::kOpParse | channel::kOpScan | channel::kOpNormalize},
                {"SELECT 1 FORM x", "SELECT 1"});
  const std::vector<ItemError> errors = answer.Errors();
  ASSERT_THAT(errors, SizeIs(2));
  EXPECT_EQ(errors[0].record.operation, static_cast<uint32_t>(channel::kOpParse));
  EXPECT_EQ(errors[1].record.operation, static_cast<uint32_t>(channel::kOpNormalize));
  EXPECT_EQ(errors[0].item, 0u);
  EXPECT_EQ(errors[1].item, 0u);
  EXPECT_FALSE(answer.Elements(SectionKind::kItemTokens, 5)[0].empty());
}

TEST(AnswerItems, ACheckHasErrorsAndNothingElse) {
  const Answer answer =
      AnswerAll({.operations = channel::kOpCheck}, {"SELECT 1", "SELECT FROM FROM", ""});
  EXPECT_EQ(answer.header().section_count, 1u);
  ASSERT_THAT(answer.Errors(), SizeIs(1));
  EXPECT_EQ(answer.Errors()[0].item, 1u);
}

TEST(AnswerItems, TheLargestAnswerHoldsForEachItem) {
  // Together they are larger.
  const JobHeader header{.operations = channel::kOpNormalize, .max_answer_bytes = 1000};
  const std::string fits = "SELECT " + std::string(700, 'a');
  const std::string too_long = "SELECT " + std::string(1500, 'b');
  const Answer answer = AnswerAll(header, {fits, fits, too_long, fits, fits});
  ASSERT_THAT(answer.Errors(), SizeIs(1));
  EXPECT_EQ(answer.Errors()[0].item, 2u);
  EXPECT_EQ(answer.Errors()[0].reason(), Reason::kResultTooLarge);
  EXPECT_THAT(answer.Elements(SectionKind::kItemNormalized, 4),
              ElementsAre(fits, fits, "", fits, fits));
}

TEST(AnswerItems, WhatNoLongerFitsIntoTheRegionIsTooLarge) {
  const std::string text = "SELECT '" + std::string(60'000, 'x') + "'";
  const JobHeader header{.operations = channel::kOpParse};
  const Answer answer = AnswerAll(header, std::vector<std::string>(64, text), 1u << 20);
  const auto trees = answer.Elements(SectionKind::kItemTrees, 1);
  const auto errors = answer.Errors();
  ASSERT_THAT(trees, SizeIs(64));
  ASSERT_FALSE(errors.empty());
  EXPECT_LT(errors.size(), 60u);
  const std::string expected = AnswerOne(header, text).Text(SectionKind::kTreeJson);
  for (size_t i = 0; i < trees.size(); ++i) {
    EXPECT_EQ(trees[i], i < 64 - errors.size() ? expected : "") << i;
  }
  for (const ItemError& error : errors) EXPECT_EQ(error.reason(), Reason::kResultTooLarge);
  EXPECT_EQ(errors.front().item, 64 - errors.size());
}

TEST(AnswerItems, ErrorsOfAllItemsHaveRoom) {
  // Each message is as long as messages get, and each operation has one of its own.
  const std::string text = "SELECT 1 FROM '" + std::string(10'000, 'x') + "'";
  const Answer answer = AnswerAll({.operations = channel::kOpParse | channel::kOpFingerprint |
                                                 channel::kOpNormalize | channel::kOpScan},
                                  std::vector<std::string>(64, text), size_t{16} << 20);
  EXPECT_THAT(answer.Errors(), SizeIs(64 * 3));
}

TEST(AnswerItems, EmptyTextsAreItems) {
  const Answer answer = AnswerAll({.operations = channel::kOpNormalize | channel::kOpFingerprint},
                                  {"", "", "SELECT 1", ""});
  EXPECT_THAT(answer.Errors(), IsEmpty());
  EXPECT_THAT(answer.Elements(SectionKind::kItemNormalized, 4),
              ElementsAre("", "", "SELECT $1", ""));
  EXPECT_THAT(answer.Fingerprints(), SizeIs(4));
  const Answer one = AnswerAll({.operations = channel::kOpNormalize}, {""});
  EXPECT_THAT(one.Elements(SectionKind::kItemNormalized, 4), ElementsAre(""));
}

}  // namespace
}  // namespace pgparsed::worker
