#include "grammar/schema.h"

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.pb.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "grammar/error.h"
#include "grammar/wire.h"

namespace pgparsed::grammar {
namespace {

using testing::HasSubstr;
using std::string_literals::operator""s;

void ExpectWellFormed(const NameTable& table) {
  ASSERT_FALSE(table.numbers.empty());
  EXPECT_TRUE(std::is_sorted(table.numbers.begin(), table.numbers.end()));
  ASSERT_EQ(table.offsets.size(), table.numbers.size() + 1);
  EXPECT_EQ(table.offsets.back(), table.names.size());
  EXPECT_EQ(std::count(table.names.begin(), table.names.end(), '\0'),
            static_cast<std::ptrdiff_t>(table.numbers.size()));
  for (const uint32_t number : table.numbers) EXPECT_FALSE(table.Find(number).empty()) << number;
}

TEST(GrammarSchema, HasTheNamesOfTheProtoFile) {
  const Schema& schema = GrammarSchema();
  ExpectWellFormed(schema.tokens);
  ExpectWellFormed(schema.nodes);
  ExpectWellFormed(schema.keyword_kinds);
  EXPECT_EQ(schema.tokens.Find(44), "ASCII_44");
  EXPECT_EQ(schema.tokens.Find(258), "IDENT");
  EXPECT_EQ(schema.tokens.Find(1), "");
  EXPECT_EQ(schema.tokens.Find(100000), "");
  EXPECT_EQ(schema.nodes.Find(1), "Alias");
}

// Scan hands the library's values on as pgparsed.v1.KeywordKind.
TEST(GrammarSchema, NumbersKeywordKindsAsTheContractDoes) {
  const NameTable& kinds = GrammarSchema().keyword_kinds;
  EXPECT_EQ(kinds.Find(0), "NO_KEYWORD");
  EXPECT_EQ(kinds.Find(1), "UNRESERVED_KEYWORD");
  EXPECT_EQ(kinds.Find(2), "COL_NAME_KEYWORD");
  EXPECT_EQ(kinds.Find(3), "TYPE_FUNC_NAME_KEYWORD");
  EXPECT_EQ(kinds.Find(4), "RESERVED_KEYWORD");
}

TEST(GrammarSchema, DescribesTheTreesForOtherPrograms) {
  const Schema& schema = GrammarSchema();
  EXPECT_THAT(std::string(schema.proto_text), HasSubstr("message ParseResult"));
  google::protobuf::FileDescriptorSet set;
  ASSERT_TRUE(set.ParseFromArray(schema.descriptor_set.data(),
                                 static_cast<int>(schema.descriptor_set.size())));
  ASSERT_EQ(set.file_size(), 1);
  EXPECT_EQ(set.file(0).name(), "pg_query.proto");
  EXPECT_EQ(set.file(0).package(), "pg_query");
  const auto& messages = set.file(0).message_type();
  const auto node = std::find_if(messages.begin(), messages.end(),
                                 [](const auto& message) { return message.name() == "Node"; });
  ASSERT_NE(node, messages.end());
  EXPECT_EQ(node->field(0).json_name(), "Alias");
}

TEST(Wire, ReadsWhatItWrites) {
  WireWriter writer;
  writer.Number(1, 0);  // left out
  writer.Number(2, 300);
  writer.Bytes(3, "");  // left out
  writer.Bytes(4, "text");
  writer.Element(5, "");
  WireReader reader(writer.message());
  ASSERT_TRUE(reader.Next());
  EXPECT_EQ(reader.field(), 2u);
  EXPECT_EQ(reader.number(), 300u);
  ASSERT_TRUE(reader.Next());
  EXPECT_EQ(reader.field(), 4u);
  EXPECT_EQ(reader.bytes(), "text");
  ASSERT_TRUE(reader.Next());
  EXPECT_EQ(reader.field(), 5u);
  EXPECT_FALSE(reader.Next());
  EXPECT_TRUE(reader.ok());
}

TEST(Wire, RefusesMalformedBytes) {
  for (const std::string& bytes :
       {"\x08"s, "\x08\xff"s, "\x12\x05"s + "ab", "\x0b"s, "\x00\x01"s, "\x0d\x01"s,
        "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s}) {
    WireReader reader(bytes);
    while (reader.Next()) {
    }
    EXPECT_FALSE(reader.ok());
  }
}

TEST(ReasonOfPostgresError, TellsDepthAndMemoryFromSyntax) {
  const auto reason = [](std::string_view message) {
    return ReasonOfPostgresError(message, Reason::kSqlSyntaxError);
  };
  EXPECT_EQ(reason("stack depth limit exceeded"), Reason::kNestingTooDeep);
  EXPECT_EQ(reason("memory exhausted at or near \"(\""), Reason::kNestingTooDeep);
  EXPECT_EQ(reason("parse tree is nested too deeply to serialize to protobuf"),
            Reason::kNestingTooDeep);
  EXPECT_EQ(reason("out of memory"), Reason::kParserMemoryLimit);
  EXPECT_EQ(reason("invalid memory alloc request size 2000000000"), Reason::kParserMemoryLimit);
  EXPECT_EQ(reason("syntax error at or near \"out of memory\""), Reason::kSqlSyntaxError);
}

}  // namespace
}  // namespace pgparsed::grammar
