#include "service/item_results.h"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "pgparsed/errors.h"
#include "pgparsed/v1/streams.pb.h"

namespace pgparsed::service {
namespace {

using channel::SectionKind;

constexpr uint32_t kNormalize = channel::kOpNormalize;

// An answer whose sections are held by the object itself.
class FakeAnswer {
 public:
  FakeAnswer& Add(SectionKind kind, std::string payload) {
    payloads_.push_back(std::make_unique<std::string>(std::move(payload)));
    answer_.sections.push_back({kind, *payloads_.back()});
    return *this;
  }
  operator const channel::Answer&() const { return answer_; }

 private:
  std::vector<std::unique_ptr<std::string>> payloads_;
  channel::Answer answer_{};
};

// Elements of a field, as a worker writes them.
std::string Elements(int field, const std::vector<std::string>& values) {
  std::string bytes;
  for (const std::string& value : values) {
    bytes += static_cast<char>(field << 3 | 2);
    uint64_t length = value.size();
    for (; length >= 0x80; length >>= 7) bytes += static_cast<char>(length | 0x80);
    bytes += static_cast<char>(length);
    bytes += value;
  }
  return bytes;
}

std::string Normalized(const std::vector<std::string>& values) {
  return Elements(v1::ResultColumns::kNormalizedFieldNumber, values);
}

std::string Fingerprints(const std::vector<uint64_t>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * 8};
}

std::string ErrorOf(uint32_t item, const std::string& message,
                    uint32_t operation = channel::kOpNormalize) {
  const channel::ErrorRecord error{
      .operation = operation,
      .reason = static_cast<uint32_t>(Reason::kSqlSyntaxError),
      .message_bytes = static_cast<uint32_t>(message.size())};
  const channel::ItemErrorRecord record{
      .item = item, .bytes = static_cast<uint32_t>(sizeof(error) + message.size())};
  std::string bytes(reinterpret_cast<const char*>(&record), sizeof(record));
  bytes.append(reinterpret_cast<const char*>(&error), sizeof(error));
  bytes += message;
  bytes.resize((bytes.size() + 7) / 8 * 8);
  return bytes;
}

// What was appended; the test fails if it is no ResultColumns.
v1::ResultColumns Parsed(const std::string& columns) {
  v1::ResultColumns parsed;
  EXPECT_TRUE(parsed.ParseFromString(columns));
  return parsed;
}

// Two items and the columns of `operations` are expected.
void ExpectRefused(const FakeAnswer& answer, uint32_t operations) {
  std::string columns = "what was there";
  const absl::Status status = AppendResults(answer, operations, 2, 0, columns);
  EXPECT_EQ(ReasonOf(status), Reason::kInternal);
  EXPECT_EQ(columns, "what was there");
}

TEST(AppendResults, EveryColumnArrives) {
  struct Column {
    channel::Operation operation;
    SectionKind kind;
    int field;
  };
  FakeAnswer answer;
  uint32_t operations = channel::kOpFingerprint | channel::kOpCheck;
  // An empty message is a message, whatever its type is.
  for (const Column& column : std::vector<Column>{
           {channel::kOpParse, SectionKind::kItemTrees, 1},
           {channel::kOpParsePlpgsql, SectionKind::kItemPlpgsql, 2},
           {channel::kOpNormalize, SectionKind::kItemNormalized, 4},
           {channel::kOpScan, SectionKind::kItemTokens, 5},
           {channel::kOpSplit, SectionKind::kItemPieces, 6},
           {channel::kOpFormat, SectionKind::kItemFormatted, 7},
           {channel::kOpExtractComments, SectionKind::kItemComments, 8},
           {channel::kOpSummarize, SectionKind::kItemSummaries, 9}}) {
    const bool message = column.field == 5 || column.field == 6 || column.field >= 8;
    const std::string text = message ? "" : std::to_string(column.field);
    answer.Add(column.kind, Elements(column.field, {text, ""}));
    operations |= column.operation;
  }
  answer.Add(SectionKind::kItemFingerprints, Fingerprints({7, 0}));
  std::string columns;
  ASSERT_TRUE(AppendResults(answer, operations, 2, 0, columns).ok());
  const v1::ResultColumns parsed = Parsed(columns);
  EXPECT_EQ(parsed.trees(0), "1");
  EXPECT_EQ(parsed.trees(1), "");
  EXPECT_EQ(parsed.plpgsql_json(0), "2");
  EXPECT_EQ(parsed.fingerprints(0), 7u);
  EXPECT_EQ(parsed.fingerprints_size(), 2);
  EXPECT_EQ(parsed.normalized(0), "4");
  EXPECT_EQ(parsed.tokens_size(), 2);
  EXPECT_EQ(parsed.pieces_size(), 2);
  EXPECT_EQ(parsed.formatted(0), "7");
  EXPECT_EQ(parsed.comments_size(), 2);
  EXPECT_EQ(parsed.summaries_size(), 2);
  EXPECT_EQ(parsed.errors_size(), 0);
}

TEST(AppendResults, JoinedPiecesAreOneMessageInTheOrderOfTheItems) {
  const uint32_t operations = kNormalize | channel::kOpFingerprint;
  std::string columns;
  FakeAnswer first;
  first.Add(SectionKind::kItemFingerprints, Fingerprints({1, 0}))
      .Add(SectionKind::kItemNormalized, Normalized({"a", ""}))
      .Add(SectionKind::kItemErrors, ErrorOf(1, "one"));
  ASSERT_TRUE(AppendResults(first, operations, 2, 0, columns).ok());
  AppendFailedItem(operations, 2, MakeError(Reason::kParserCrashed, "it died"), columns);
  const std::string large(20'000, 'x');
  FakeAnswer second;
  second.Add(SectionKind::kItemNormalized, Normalized({large, "d"}))
      .Add(SectionKind::kItemFingerprints, Fingerprints({4, 5}))
      .Add(SectionKind::kItemErrors, ErrorOf(0, "x", 0) + ErrorOf(0, "y") + ErrorOf(1, "z"));
  ASSERT_TRUE(AppendResults(second, operations, 2, 3, columns).ok());

  const v1::ResultColumns parsed = Parsed(columns);
  EXPECT_EQ(std::vector<uint64_t>(parsed.fingerprints().begin(), parsed.fingerprints().end()),
            (std::vector<uint64_t>{1, 0, 0, 4, 5}));
  EXPECT_EQ(std::vector<std::string>(parsed.normalized().begin(), parsed.normalized().end()),
            (std::vector<std::string>{"a", "", "", large, "d"}));
  ASSERT_EQ(parsed.errors_size(), 5);
  EXPECT_EQ(parsed.errors(0).item(), 1u);
  EXPECT_EQ(parsed.errors(0).error().operation(), v1::OPERATION_NORMALIZE);
  EXPECT_EQ(parsed.errors(0).error().reason(), "SQL_SYNTAX_ERROR");
  EXPECT_EQ(parsed.errors(0).error().message(), "one");
  EXPECT_EQ(parsed.errors(1).item(), 2u);
  EXPECT_EQ(parsed.errors(1).error().operation(), v1::OPERATION_UNSPECIFIED);
  EXPECT_EQ(parsed.errors(1).error().reason(), "PARSER_CRASHED");
  EXPECT_EQ(parsed.errors(1).error().message(), "it died");
  EXPECT_EQ(parsed.errors(2).item(), 3u);
  EXPECT_EQ(parsed.errors(2).error().operation(), v1::OPERATION_UNSPECIFIED);
  EXPECT_EQ(parsed.errors(4).item(), 4u);
}

TEST(AppendResults, ACheckHasNoColumn) {
  std::string columns;
  EXPECT_TRUE(AppendResults(FakeAnswer(), channel::kOpCheck, 2, 0, columns).ok());
  EXPECT_EQ(columns, "");
  AppendFailedItem(channel::kOpCheck, 0, MakeError(Reason::kInternal, "x"), columns);
  EXPECT_EQ(Parsed(columns).errors_size(), 1);
}

TEST(AppendResults, RefusesElementsOfAnotherField) {
  ExpectRefused(FakeAnswer().Add(SectionKind::kItemNormalized,
                                 Elements(v1::ResultColumns::kFormattedFieldNumber, {"a", "b"})),
                kNormalize);
  // The right field of another wire type: a varint.
  ExpectRefused(FakeAnswer().Add(SectionKind::kItemNormalized, "\x20\x01\x20\x01"), kNormalize);
  // An error that is smuggled in.
  ExpectRefused(FakeAnswer().Add(SectionKind::kItemNormalized,
                                 Normalized({"a"}) +
                                     Elements(v1::ResultColumns::kErrorsFieldNumber, {""})),
                kNormalize);
}

TEST(AppendResults, RefusesAnotherNumberOfElements) {
  for (const std::vector<std::string>& values :
       {std::vector<std::string>{}, {"a"}, {"a", "b", "c"}}) {
    ExpectRefused(FakeAnswer().Add(SectionKind::kItemNormalized, Normalized(values)), kNormalize);
  }
  for (const std::vector<uint64_t>& values : {std::vector<uint64_t>{}, {1}, {1, 2, 3}}) {
    ExpectRefused(FakeAnswer().Add(SectionKind::kItemFingerprints, Fingerprints(values)),
                  channel::kOpFingerprint);
  }
  ExpectRefused(FakeAnswer().Add(SectionKind::kItemFingerprints, std::string(15, 'x')),
                channel::kOpFingerprint);
}

TEST(AppendResults, RefusesLengthsThatAreNone) {
  using std::string_literals::operator""s;
  const std::string good = Normalized({"a"});
  for (const std::string& bad : {
           "\x22"s,                                               // no length
           "\x22\x02x"s,                                          // longer than the section
           "\x22\x80"s,                                           // cut short
           "\x22\xff\xff\xff\xff\x0f"s,                           // 4 GiB
           "\x22\xff\xff\xff\xff\x7f"s,                           // more than 32 bits
           "\x22\x80\x80\x80\x80\x80\x00"s,                       // overlong
           "\x22\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s,       // 2^64 - 1
           "\x22\x81\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00x"s,  // overlong beyond 64 bits
       }) {
    ExpectRefused(FakeAnswer().Add(SectionKind::kItemNormalized, good + bad), kNormalize);
  }
  ExpectRefused(FakeAnswer().Add(SectionKind::kItemNormalized, Normalized({"a", "b"}) + "\x22"s),
                kNormalize);
}

TEST(AppendResults, RefusesColumnsThatWereNotAskedForOrComeTwice) {
  const std::string column = Normalized({"a", "b"});
  FakeAnswer extra;
  extra.Add(SectionKind::kItemNormalized, column)
      .Add(SectionKind::kItemFormatted,
           Elements(v1::ResultColumns::kFormattedFieldNumber, {"", ""}));
  ExpectRefused(extra, kNormalize);
  ExpectRefused(FakeAnswer()
                    .Add(SectionKind::kItemNormalized, column)
                    .Add(SectionKind::kItemNormalized, column),
                kNormalize);
  ExpectRefused(FakeAnswer()
                    .Add(SectionKind::kItemFingerprints, Fingerprints({1, 2}))
                    .Add(SectionKind::kItemFingerprints, Fingerprints({1, 2})),
                channel::kOpFingerprint);
  ExpectRefused(FakeAnswer().Add(SectionKind::kItemFingerprints, Fingerprints({1, 2})), kNormalize);
}

TEST(AppendResults, RefusesAMissingColumn) {
  ExpectRefused(FakeAnswer(), kNormalize);
  ExpectRefused(FakeAnswer().Add(SectionKind::kItemNormalized, Normalized({"a", "b"})),
                kNormalize | channel::kOpFingerprint);
}

TEST(AppendResults, RefusesSectionsOfOtherJobs) {
  for (const SectionKind kind : {SectionKind::kTreeJson, SectionKind::kError,
                                 SectionKind::kTreePieces, SectionKind{0}, SectionKind{1000}}) {
    FakeAnswer answer;
    answer.Add(SectionKind::kItemNormalized, Normalized({"a", "b"})).Add(kind, "");
    ExpectRefused(answer, kNormalize);
  }
}

TEST(AppendResults, RefusesErrorsThatAreNone) {
  const auto with_errors = [](const std::string& errors) {
    FakeAnswer answer;
    answer.Add(SectionKind::kItemNormalized, Normalized({"a", "b"}))
        .Add(SectionKind::kItemErrors, errors);
    return answer;
  };
  std::string columns;
  ASSERT_TRUE(
      AppendResults(with_errors(ErrorOf(0, "x") + ErrorOf(1, "y")), kNormalize, 2, 0, columns)
          .ok());
  ExpectRefused(with_errors(ErrorOf(2, "x")), kNormalize);
  ExpectRefused(with_errors(ErrorOf(0xFFFFFFFF, "x")), kNormalize);
  ExpectRefused(with_errors(ErrorOf(1, "y") + ErrorOf(0, "x")), kNormalize);  // not ascending
  ExpectRefused(with_errors("short"), kNormalize);
  const std::string good = ErrorOf(0, "message");
  ExpectRefused(with_errors(good.substr(0, good.size() - 8)), kNormalize);
  ExpectRefused(with_errors(good + std::string(3, '\0')), kNormalize);
  const channel::ItemErrorRecord huge{.item = 0, .bytes = 0xFFFFFFFF};
  ExpectRefused(
      with_errors({reinterpret_cast<const char*>(&huge), sizeof(huge)}), kNormalize);
  FakeAnswer twice = with_errors(ErrorOf(0, "x"));
  twice.Add(SectionKind::kItemErrors, ErrorOf(1, "y"));
  ExpectRefused(twice, kNormalize);
}

}  // namespace
}  // namespace pgparsed::service
