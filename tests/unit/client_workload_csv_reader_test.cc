#include "cli/workload/csv_reader.h"

#include <gtest/gtest.h>

#include "client_workload_log_file.h"

namespace pgparsed::cli {
namespace {

using Fields = std::vector<std::string>;

// Each record's fields; a malformed one is "!LINE: what".
std::vector<Fields> Records(std::string_view text) {
  const LogFile file(text);
  auto input = LogInput::Open(file.path());
  EXPECT_TRUE(input.ok());
  CsvReader reader(**input);
  std::vector<Fields> records;
  CsvRecord record;
  while (true) {
    const auto more = reader.Next(record);
    EXPECT_TRUE(more.ok());
    if (!more.ok() || !*more) return records;
    if (record.problem == nullptr) {
      records.push_back(record.fields);
    } else {
      records.push_back({"!" + std::to_string(record.line) + ": " + record.problem});
    }
  }
}

TEST(CsvReader, FieldsAreSeparatedByCommas) {
  EXPECT_EQ(Records("a,b,c\n1,,3\n,\n"),
            (std::vector<Fields>{{"a", "b", "c"}, {"1", "", "3"}, {"", ""}}));
}

TEST(CsvReader, QuotedFieldsHoldCommasQuotesAndLineBreaks) {
  EXPECT_EQ(Records("\"a,b\",\"say \"\"hi\"\"\",\"two\nlines\"\nnext,x,y\n"),
            (std::vector<Fields>{{"a,b", "say \"hi\"", "two\nlines"}, {"next", "x", "y"}}));
  EXPECT_EQ(Records("\"\",\"\"\"\"\n"), (std::vector<Fields>{{"", "\""}}));
}

TEST(CsvReader, LinesMayEndLikeOnWindowsOrNotAtAll) {
  EXPECT_EQ(Records("a,b\r\n\"c\",\"d\"\r\n\r\n\"x\r\ny\",e"),
            (std::vector<Fields>{{"a", "b"}, {"c", "d"}, {"x\r\ny", "e"}}));
}

TEST(CsvReader, EmptyLinesOutsideOfQuotesAreSkipped) {
  EXPECT_EQ(Records("\n\na\n\n\"b\n\nc\"\n\n"), (std::vector<Fields>{{"a"}, {"b\n\nc"}}));
  EXPECT_TRUE(Records("").empty());
}

TEST(CsvReader, AByteOrderMarkIsNoPartOfTheFirstField) {
  EXPECT_EQ(Records("\xEF\xBB\xBFquery\n"), (std::vector<Fields>{{"query"}}));
}

TEST(CsvReader, AMalformedRecordCostsItsLineOnly) {
  EXPECT_EQ(Records("a\nb\"c\nd\n"),
            (std::vector<Fields>{{"a"}, {"!2: a quote where none may stand"}, {"d"}}));
  EXPECT_EQ(Records("\"a\"b\nd\n"),
            (std::vector<Fields>{{"!1: a quote where none may stand"}, {"d"}}));
  EXPECT_EQ(Records("x\n\"a\nb\n"),
            (std::vector<Fields>{{"x"}, {"!2: a quote that is never closed"}}));
}

TEST(CsvReader, ARecordThatNeverEndsIsGivenUpAndTheRestIsRead) {
  const std::string line(1u << 20, 'x');
  std::string text = "\"open\n";
  for (int i = 0; i < 34; ++i) text += line + "\n";
  text += "after\n";
  const std::vector<Fields> records = Records(text);
  ASSERT_GE(records.size(), 2u);
  EXPECT_EQ(records.front(), (Fields{"!1: the record is longer than 32 MiB; is a quote missing?"}));
  EXPECT_EQ(records.back(), (Fields{"after"}));
}

TEST(CsvReader, TheFirstRecordOfAnIncompleteTextIsReadIfItEndsThere) {
  EXPECT_EQ(FirstCsvRecord("a,\"b\nc\"\nd"), (Fields{"a", "b\nc"}));
  EXPECT_EQ(FirstCsvRecord("a,\"b\nc"), Fields{});
  EXPECT_EQ(FirstCsvRecord("a\"\n"), Fields{});
}

}  // namespace
}  // namespace pgparsed::cli
