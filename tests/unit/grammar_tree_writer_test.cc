// The direct writers give what the library's path gives, through windows of any size, and know
// their bounds.
#include "grammar/tree_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "grammar/parsed_query.h"
#include "grammar/stack_limit.h"

namespace pgparsed::grammar {
namespace {

using testing::HasSubstr;

text::PositionIndex Bytes(std::string_view sql) { return {sql, text::Encoding::kUtf8}; }

// Gathers what a writer makes, through windows of one size.
class StringSink : public ByteSink {
 public:
  explicit StringSink(size_t window) : window_(window) {}

  std::span<char> Next(size_t used) override {
    Finish(used);
    // A new place each time: nothing may rely on the last window.
    window_bytes_ = std::vector<char>(window_, '#');
    return window_bytes_;
  }
  void Finish(size_t used) override { text_.append(window_bytes_.data(), used); }

  const std::string& text() const { return text_; }

 private:
  const size_t window_;
  std::vector<char> window_bytes_;
  std::string text_;
};

std::string Json(ParsedQuery& query, const std::string& sql, size_t window = 1 << 20) {
  StringSink sink(window);
  const auto tree = WriteJson(query.statements(), Bytes(sql), sink);
  EXPECT_TRUE(tree.ok()) << sql;
  EXPECT_EQ(tree.value().bytes, sink.text().size());
  return sink.text();
}

std::string Protobuf(ParsedQuery& query, const text::PositionIndex& positions) {
  std::vector<char> region(1 << 20);
  const auto tree = WriteProtobuf(query.statements(), positions, region);
  EXPECT_TRUE(tree.ok());
  return {region.end() - static_cast<ptrdiff_t>(tree.value().bytes), region.end()};
}

const char* const kQueries[] = {
    "",
    "SELECT 1",
    "SELECT -1, 0, 1.5, 'a''b', '', NULL, true, false, B'101', $1, x'ff'",
    "SELECT E'\\b\\f\\n\\r\\t\"\\\\<a>\\x01\\x7f'",
    "SELECT a.b[1:2], ROW(1, 2), ARRAY[[1], [2]], (c).*, count(*) FILTER (WHERE d) OVER w FROM e",
    "INSERT INTO a (b, c) VALUES (1, DEFAULT) ON CONFLICT DO NOTHING RETURNING *",
    "CREATE TABLE a (b int[] DEFAULT '{}' NOT NULL, c varchar(3) COLLATE \"C\") PARTITION BY LIST "
    "(b)",
    "CREATE FOREIGN TABLE a (b int) SERVER c OPTIONS (d 'e')",
    "ALTER ROLE a NOSUPERUSER; COMMENT ON TABLE b IS ''; COMMENT ON TABLE b IS NULL",
    "SELECT DISTINCT a FROM b; SELECT DISTINCT ON (a) b FROM c",
    "CREATE FUNCTION a() RETURNS int LANGUAGE sql BEGIN ATOMIC SELECT 1; SELECT 2; END",
    "GRANT SELECT ON a TO b; COPY c FROM stdin WITH (FORMAT csv, HEADER false)",
    "SELECT x FROM y LIMIT ALL OFFSET 1; SELECT z FROM y ORDER BY 1 FETCH FIRST ROW WITH TIES",
};

TEST(TreeWriter, GivesTheBytesOfTheLibrary) {
  for (const std::string sql : kQueries) {
    const auto query = ParsedQuery::Parse(sql.c_str(), {});
    ASSERT_TRUE(query.ok()) << sql << query.error().message;
    EXPECT_EQ(Json(*query.value(), sql), query.value()->LibraryJson().value()) << sql;
    EXPECT_EQ(Protobuf(*query.value(), Bytes(sql)), query.value()->LibraryProtobuf().value())
        << sql;
  }
}

TEST(TreeWriter, GivesTheBytesOfTheLibraryInAllModes) {
  if (!kFeatures.parser_options) GTEST_SKIP() << "this grammar has no parser options";
  const std::pair<ParseMode, const char*> texts[] = {
      {ParseMode::kTypeName, "numeric(10, 2)[]"}, {ParseMode::kPlpgsqlExpr, "a + 1 FROM b"},
      {ParseMode::kPlpgsqlAssign1, "a := 1"},     {ParseMode::kPlpgsqlAssign2, "a.b := 'x'"},
      {ParseMode::kPlpgsqlAssign3, "a.b.c := 1"},
  };
  for (const auto& [mode, text] : texts) {
    const std::string sql = text;
    const auto query = ParsedQuery::Parse(sql.c_str(), {.mode = mode});
    ASSERT_TRUE(query.ok()) << sql << query.error().message;
    const std::string json = Json(*query.value(), sql);
    EXPECT_EQ(json, query.value()->LibraryJson().value()) << sql;
    EXPECT_EQ(Protobuf(*query.value(), Bytes(sql)), query.value()->LibraryProtobuf().value())
        << sql;
    StringSink columns(1 << 20);
    EXPECT_TRUE(WriteColumnar(query.value()->statements(), Bytes(sql), columns).ok()) << sql;
    EXPECT_TRUE(query.value()->Fingerprint({}).ok()) << sql;
    EXPECT_TRUE(query.value()->Summarize(0).ok()) << sql;
    EXPECT_EQ(query.value()->Split().start.size(), 1u) << sql;
    (void)query.value()->Format({}, false, true);  // an answer or an error, no crash
    if (mode == ParseMode::kTypeName) {
      EXPECT_THAT(json, HasSubstr(R"("stmts":[{"stmt":{"TypeName":{"names":[)"));
    }
  }
}

// Strings and keys of all lengths, so that windows end everywhere.
std::string LongQuery() {
  std::string sql = "SELECT '" + std::string(10000, 'x') + "\n\"'";
  for (size_t i = 0; i < 300; ++i)
    sql += ", f" + std::string(i % 60, 'y') + "('" + std::string(i, '<') + "')";
  return sql;
}

TEST(TreeWriter, WindowsOfAnySizeGiveTheSame) {
  const std::string sql = LongQuery();
  const auto query = ParsedQuery::Parse(sql.c_str(), {});
  ASSERT_TRUE(query.ok());
  const std::string json(query.value()->LibraryJson().value());
  StringSink whole(1 << 20);
  ASSERT_TRUE(WriteColumnar(query.value()->statements(), Bytes(sql), whole).ok());
  for (size_t window = ByteSink::kLeastWindow; window < ByteSink::kLeastWindow + 300; window += 7) {
    ASSERT_EQ(Json(*query.value(), sql, window), json) << window;
    StringSink sink(window);
    ASSERT_TRUE(WriteColumnar(query.value()->statements(), Bytes(sql), sink).ok());
    ASSERT_EQ(sink.text(), whole.text()) << window;
  }
}

TEST(TreeWriter, CountsWhatDoesNotFit) {
  const std::string sql = LongQuery();
  const auto query = ParsedQuery::Parse(sql.c_str(), {});
  ASSERT_TRUE(query.ok());
  const uint64_t bytes = query.value()->LibraryProtobuf().value().size();
  for (const size_t size : {size_t{32}, size_t{100}, size_t{4096}, size_t{bytes - 1}}) {
    std::vector<char> memory(size + 64, '#');
    const auto tree =
        WriteProtobuf(query.value()->statements(), Bytes(sql), std::span(memory).subspan(64));
    ASSERT_TRUE(tree.ok());
    EXPECT_EQ(tree.value().bytes, bytes) << size;
    // Nothing was written before the region.
    EXPECT_EQ(std::string(memory.data(), 64), std::string(64, '#')) << size;
  }
  std::vector<char> memory(8);
  const auto tree = WriteProtobuf(query.value()->statements(), Bytes(sql), memory);
  ASSERT_FALSE(tree.ok());
  EXPECT_EQ(tree.error().reason, Reason::kResultTooLarge);
}

TEST(TreeWriter, TranslatesLocationsAndLengths) {
  const std::string sql = "SELECT '\xC3\xA9\xF0\x9F\x98\x80'; SELECT '\xC3\xA9' AS x, y";
  const auto query = ParsedQuery::Parse(sql.c_str(), {});
  ASSERT_TRUE(query.ok());
  StringSink sink(1 << 20);
  const text::PositionIndex utf16(sql, text::Encoding::kUtf16);
  ASSERT_TRUE(WriteJson(query.value()->statements(), utf16, sink).ok());
  // The first statement has 12 UTF-16 units, 15 bytes.
  EXPECT_THAT(sink.text(), HasSubstr("\"stmt_len\":12}"));
  EXPECT_THAT(sink.text(), HasSubstr("\"location\":31}}],\"limitOption\""));
  EXPECT_NE(Protobuf(*query.value(), utf16), Protobuf(*query.value(), Bytes(sql)));
}

// Runs on a thread with a stack of `bytes`, of which the last sixteenth is the library's.
void OnStack(size_t bytes, const std::function<void()>& body) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, bytes);
  struct Task {
    size_t bytes;
    const std::function<void()>& body;
  } task{bytes, body};
  pthread_t thread;
  ASSERT_EQ(pthread_create(
                &thread, &attributes,
                [](void* argument) -> void* {
                  const auto& own = *static_cast<Task*>(argument);
                  pgparsed_set_stack_limit(static_cast<char*>(__builtin_frame_address(0)) -
                                           own.bytes / 16 * 15);
                  own.body();
                  return nullptr;
                },
                &task),
            0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

std::string Sum(size_t terms) {
  std::string sql = "SELECT 1";
  for (size_t i = 1; i < terms; ++i) sql += "+1";
  return sql;
}

TEST(TreeWriter, DepthIsNoLimitButTheStack) {
  const std::string sql = Sum(50000);
  OnStack(size_t{256} << 20, [&] {
    const auto query = ParsedQuery::Parse(sql.c_str(), {});
    ASSERT_TRUE(query.ok());
    std::vector<char> region(32u << 20);
    EXPECT_TRUE(WriteProtobuf(query.value()->statements(), Bytes(sql), region).ok());
    EXPECT_EQ(Json(*query.value(), sql), query.value()->LibraryJson().value());
    StringSink sink(1 << 20);
    EXPECT_TRUE(WriteColumnar(query.value()->statements(), Bytes(sql), sink).ok());
  });
}

TEST(TreeWriter, TheEndOfTheStackIsAnError) {
  // Bison's stack is on the heap and its own: the raw parse takes what the writers do not.
  const std::string sql = Sum(50000);
  OnStack(size_t{1} << 20, [&] {
    const auto query = ParsedQuery::Parse(sql.c_str(), {});
    ASSERT_TRUE(query.ok());
    std::vector<char> region(32u << 20);
    StringSink sink(1 << 20);
    const auto protobuf = WriteProtobuf(query.value()->statements(), Bytes(sql), region);
    const auto json = WriteJson(query.value()->statements(), Bytes(sql), sink);
    const auto columnar = WriteColumnar(query.value()->statements(), Bytes(sql), sink);
    for (const auto* tree : {&protobuf, &json, &columnar}) {
      ASSERT_FALSE(tree->ok());
      EXPECT_EQ(tree->error().reason, Reason::kNestingTooDeep);
    }
  });
}

}  // namespace
}  // namespace pgparsed::grammar
