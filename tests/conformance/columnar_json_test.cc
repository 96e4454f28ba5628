// Nothing is lost in columns: for every statement of the corpus the JSON that is made of a columnar
// tree is the library's, byte for byte.
#include <gtest/gtest.h>
#include <pthread.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "grammar/parsed_query.h"
#include "grammar/stack_limit.h"
#include "grammar/tree_writer.h"
#include "pgparsed/columnar_tree.h"
#include "tests/conformance/corpus.h"

namespace pgparsed::conformance {
namespace {

using grammar::ParsedQuery;
using text::Encoding;
using text::PositionIndex;

// Gathers what a writer makes.
class StringSink : public grammar::ByteSink {
 public:
  std::span<char> Next(size_t used) override {
    Finish(used);
    return window_;
  }
  void Finish(size_t used) override { text_.append(window_.data(), used); }

  std::string Take() && { return std::move(text_); }

 private:
  std::vector<char> window_ = std::vector<char>(1 << 16);
  std::string text_;
};

template <typename Writer>
std::string Written(Writer write, const ParsedQuery& query, const PositionIndex& positions) {
  StringSink sink;
  EXPECT_TRUE(write(query.statements(), positions, sink).ok());
  return std::move(sink).Take();
}

std::string ByColumns(const ParsedQuery& query, const PositionIndex& positions) {
  const std::string bytes = Written(grammar::WriteColumnar, query, positions);
  const auto tree = ColumnarTreeView::Open(bytes);
  return tree.ok() ? ToJson(*tree) : std::string(tree.status().message());
}

// On a thread with the stack that the library's path needs for deep statements.
void OnLargeStack(const std::function<void()>& body) {
  constexpr size_t kBytes = size_t{512} << 20;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kBytes);
  const auto run = [](void* argument) -> void* {
    pgparsed_set_stack_limit(static_cast<char*>(__builtin_frame_address(0)) - kBytes / 16 * 15);
    (*static_cast<const std::function<void()>*>(argument))();
    return nullptr;
  };
  pthread_t thread;
  ASSERT_EQ(pthread_create(&thread, &attributes, run, const_cast<std::function<void()>*>(&body)),
            0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

// False: the parser refuses the statement.
bool Compare(const std::string& sql, const std::string& where) {
  const auto query = ParsedQuery::Parse(sql.c_str(), {});
  if (!query.ok()) return false;
  const auto library = query.value()->LibraryJson();
  if (!library.ok()) {
    ADD_FAILURE() << where << ": " << library.error().message;
    return false;
  }
  const PositionIndex bytes(sql, Encoding::kUtf8);
  EXPECT_EQ(ByColumns(*query.value(), bytes), library.value()) << where << ": " << sql;
  const PositionIndex utf16(sql, Encoding::kUtf16);
  EXPECT_EQ(ByColumns(*query.value(), utf16), Written(grammar::WriteJson, *query.value(), utf16))
      << where << ": " << sql;
  return true;
}

TEST(ColumnarJson, IsTheLibrarysForTheWholeCorpus) {
  const auto corpus = LoadCorpus(PGPARSED_CORPUS);
  ASSERT_TRUE(corpus.ok()) << corpus.status();
  size_t compared = 0;
  OnLargeStack([&] {
    for (const CorpusStatement& statement : *corpus) {
      if (!IsQueryText(statement.sql)) continue;
      const std::string where = statement.file + ":" + std::to_string(statement.line);
      compared += Compare(statement.sql, where) ? 1 : 0;
      if (HasNonfatalFailure()) return;
    }
  });
  EXPECT_GT(compared, corpus->size() / 2);
  RecordProperty("compared", std::to_string(compared));
}

TEST(ColumnarJson, IsTheLibrarysWhereValuesAreAtTheirBounds) {
  const std::string queries[] = {
      "",
      ";",
      "SELECT -1, 0, 1.5, 'a''b', '', NULL, true, false, B'101', $1, x'ff', 2147483647",
      "SELECT E'\\b\\f\\n\\r\\t\"\\\\<a>\\x01\\x1f\\x7f', U&'\\00e9\\+01F600'",
      "SELECT 1; SELECT '\xC3\xA9\xF0\x9F\x98\x80' AS \"\xC3\xA9\", y; ; SELECT z",
      "CREATE TABLESPACE a LOCATION ''; CREATE TABLESPACE a LOCATION '/b'",
      "ALTER ROLE a NOSUPERUSER; COMMENT ON TABLE b IS ''; COMMENT ON TABLE b IS NULL",
      "SELECT DISTINCT a FROM b; SELECT DISTINCT ON (a) b FROM c",
      "CREATE FUNCTION a() RETURNS int LANGUAGE sql BEGIN ATOMIC SELECT 1; SELECT 2; END",
      "CREATE FUNCTION a() RETURNS int LANGUAGE sql BEGIN ATOMIC END",
      "ALTER SEQUENCE a INCREMENT -1 MINVALUE 0; ALTER TABLE a SET (b = false, c = -5)",
      "INSERT INTO a (b, c) VALUES (1, DEFAULT) ON CONFLICT DO NOTHING RETURNING *",
  };
  for (const std::string& sql : queries) EXPECT_TRUE(Compare(sql, "query")) << sql;
}

TEST(ColumnarJson, IsTheLibrarysForDeepTrees) {
  std::string sql = "SELECT 1";
  for (int i = 1; i < 50'000; ++i) sql += "+1";
  OnLargeStack([&] { EXPECT_TRUE(Compare(sql, "sum")); });
}

}  // namespace
}  // namespace pgparsed::conformance
