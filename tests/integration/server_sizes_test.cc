// Queries and results at and beyond the limits, and texts of every kind of Unicode.

#include <string>

#include <gtest/gtest.h>

#include "pgparsed/errors.h"
#include "test_server.h"

namespace pgparsed {
namespace {

class ServerSizes : public test::SharedServer {
 protected:
  static v1::ParseRequest Parse(std::string sql, uint32_t grammar,
                                v1::TreeFormat format = v1::TREE_FORMAT_JSON) {
    v1::ParseRequest request;
    request.set_query(std::move(sql));
    request.set_grammar(grammar);
    request.set_format(format);
    return request;
  }
};

TEST_F(ServerSizes, AnEmptyQueryAndCommentsHaveNoStatements) {
  for (const uint32_t grammar : grammars_) {
    for (const char* sql : {"", "-- only a comment", ";", "/* a */ ; -- b\n"}) {
      const auto answer = client().Parse(Parse(sql, grammar));
      ASSERT_TRUE(answer.ok()) << answer.status();
      EXPECT_NE(answer->json().find("\"stmts\":[]"), std::string::npos) << answer->json();
    }
  }
}

TEST_F(ServerSizes, AQueryOfExactlyTheLimitIsParsed) {
  const std::string head = "SELECT '", tail = "'";
  const std::string sql = head + std::string((16u << 20) - head.size() - tail.size(), 'x') + tail;
  for (const uint32_t grammar : grammars_) {
    const auto answer = client().Parse(Parse(sql, grammar));
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_GT(answer->json().size(), sql.size());
    EXPECT_NE(answer->json().find(std::string(1000, 'x') + "\""), std::string::npos);
  }
}

TEST_F(ServerSizes, OneByteMoreIsRefused) {
  const absl::Status status = client().Parse(Parse(std::string((16u << 20) + 1, ' '), 0)).status();
  EXPECT_EQ(ReasonOf(status), Reason::kQueryTooLarge);
  EXPECT_EQ(ErrorMetadataOf(status)["limit"], "16777216");
}

// The reference job: 1,500 SELECTs of 400 columns each, joined by UNION ALL.
std::string ReferenceJob() {
  std::string select = "SELECT ";
  for (int i = 0; i < 400; ++i) select += (i ? ", c" : "c") + std::to_string(i);
  select += " FROM t";
  std::string sql;
  for (int i = 0; i < 1500; ++i) sql += (i ? " UNION ALL " : "") + select;
  return sql;
}

TEST_F(ServerSizes, TheReferenceJobComesWholeAsProtobuf) {
  const std::string sql = ReferenceJob();
  ASSERT_EQ(sql.size(), 3'469'489u);
  for (const uint32_t grammar : grammars_) {
    const auto answer = client().Parse(Parse(sql, grammar, v1::TREE_FORMAT_PROTOBUF));
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_GT(answer->protobuf().size(), 16'000'000u);
  }
}

TEST_F(ServerSizes, AResultOverTheLimitSaysHowLargeItIsAndWhatToUse) {
  const absl::Status status =
      client()
          .Parse(Parse(ReferenceJob(), 0, v1::TREE_FORMAT_JSON), {.join_chunks = false})
          .status();
  EXPECT_EQ(ReasonOf(status), Reason::kResultTooLarge);
  EXPECT_GT(std::stoull(ErrorMetadataOf(status)["bytes"]), 64u << 20);
  EXPECT_NE(ErrorMetadataOf(status)["use"].find("ParseChunked"), std::string::npos);
}

TEST_F(ServerSizes, EveryKindOfUnicodePassesThrough) {
  // Two, three and four bytes, combining marks, right-to-left, a flag, a joined family, the last
  // code point, the replacement character, a byte order mark.
  const std::string text =
      "é ü ß ı ✓ 漢字 שלום مرحبا e\u0301 🇪🇺 👩‍👩‍👧‍👦 "
      "\U0010FFFF "
      "\uFFFD "
      "\uFEFF";
  for (const uint32_t grammar : grammars_) {
    const auto answer =
        client().Parse(Parse("SELECT '" + text + "' AS \"" + "名前" + "\" -- ☃", grammar));
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_NE(answer->json().find(text), std::string::npos);
    EXPECT_NE(answer->json().find("名前"), std::string::npos);
    v1::NormalizeRequest normalize;
    normalize.set_grammar(grammar);
    normalize.set_query("SELECT '" + text + "', ü FROM \"漢字\"");
    const auto normalized = client().Normalize(normalize);
    ASSERT_TRUE(normalized.ok()) << normalized.status();
    EXPECT_EQ(normalized->query(), "SELECT $1, ü FROM \"漢字\"");
  }
}

}  // namespace
}  // namespace pgparsed
