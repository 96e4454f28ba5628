// That what is kept is bounded, and what is not kept is counted exactly.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "splitter_cases.h"

namespace pgparsed::splitter {
namespace {

constexpr size_t kPartBytes = 1000;

// Feeds the parts again and again and says how much was kept at most.
struct Fed {
  std::vector<Piece> pieces;
  uint64_t text_bytes = 0;
  uint64_t longest_text = 0;
  uint64_t most_kept = 0;
  bool incomplete = false;
};

Fed FeedInParts(const std::string& script, const Options& options = {}) {
  Fed fed;
  Splitter splitter(options);
  const auto sink = [&](const Piece& piece, std::string_view text) {
    fed.pieces.push_back(piece);
    fed.text_bytes += text.size();
    fed.longest_text = std::max<uint64_t>(fed.longest_text, text.size());
  };
  for (size_t at = 0; at < script.size(); at += kPartBytes) {
    splitter.Feed(std::string_view(script).substr(at, kPartBytes), sink);
    fed.most_kept = std::max(fed.most_kept, splitter.buffered_bytes());
  }
  splitter.Finish(sink);
  fed.incomplete = splitter.incomplete();
  return fed;
}

std::string Repeat(const std::string& text, size_t times) {
  std::string repeated;
  for (size_t i = 0; i < times; ++i) repeated += text;
  return repeated;
}

TEST(SplitterMemory, CopyDataTakesNone) {
  const Fed fed =
      FeedInParts("COPY t FROM stdin;\n" + Repeat("1\tabc\\n\n", 100'000) + "\\.\nSELECT 1");
  ASSERT_EQ(fed.pieces.size(), 4u);
  EXPECT_EQ(fed.pieces[2].copy_rows, 100'000u);
  EXPECT_EQ(fed.pieces[2].length, 800'003u);
  EXPECT_EQ(fed.pieces[3].line, 100'003u);
  EXPECT_LT(fed.most_kept, 2 * kPartBytes);
}

TEST(SplitterMemory, LongCommentsComeInSeveralPieces) {
  const std::string comment = "/*" + Repeat("-*-\n/ a", 50'000) + "*/";
  const std::string script = comment + "SELECT 1";
  const Fed fed = FeedInParts(script);
  EXPECT_EQ(fed.pieces, SplitParts({script}).pieces);
  EXPECT_EQ(fed.pieces.size(), comment.size() / Splitter::kMaxBetweenBytes + 2);
  EXPECT_EQ(fed.text_bytes, script.size());
  EXPECT_EQ(fed.pieces.back().line, 50'001u);
  EXPECT_EQ(fed.longest_text, Splitter::kMaxBetweenBytes);
  EXPECT_LE(fed.most_kept, Splitter::kMaxBetweenBytes + 2);
}

TEST(SplitterMemory, CommentsOfTheGreatestLengthStayWhole) {
  const std::string script = std::string(Splitter::kMaxBetweenBytes, ' ') + "/1";
  const std::vector<std::string> expected = {"b " + std::string(Splitter::kMaxBetweenBytes, ' '),
                                             "s /1"};
  EXPECT_EQ(Describe(SplitParts({script}).pieces, script), expected);
  for (size_t undecided = 0; undecided < 3; ++undecided) {
    EXPECT_EQ(Describe(SplitParts(CutAt(script, {script.size() - undecided})).pieces, script),
              expected);
  }
}

TEST(SplitterMemory, StatementsOverTheLimitComeWithoutText) {
  Options options;
  options.max_statement_bytes = 5000;
  const std::string statement = "SELECT '" + Repeat("a\n;", 10'000) + "'";
  const std::string script = "SELECT 1; " + statement + "; SELECT 2";
  const Fed fed = FeedInParts(script, options);
  EXPECT_EQ(fed.pieces, SplitParts({script}, options).pieces);
  EXPECT_EQ(
      Describe(fed.pieces, script),
      (std::vector<std::string>{"s SELECT 1", "b ; ", "s " + statement, "b ; ", "s SELECT 2"}));
  EXPECT_TRUE(fed.pieces[2].too_long);
  EXPECT_FALSE(fed.pieces[4].too_long);
  EXPECT_EQ(fed.pieces[4].line, 10'001u);
  EXPECT_EQ(fed.text_bytes, script.size() - statement.size());
  EXPECT_LE(fed.most_kept, 5000u);
}

TEST(SplitterMemory, TheLimitIsTheLastLengthThatIsKept) {
  for (const std::string script : {"SELECT 1;", "\\echo 12\r\n", "SELECT 1\\g", "-1234567;"}) {
    const size_t length = SplitParts({script}).pieces.front().length;
    for (const uint64_t limit : {length - 1, length}) {
      Options options;
      options.max_statement_bytes = limit;
      const Outcome whole = SplitParts({script}, options);
      EXPECT_EQ(whole.pieces.front().too_long, limit < length);
      EXPECT_EQ(whole.texts.front().size(), limit < length ? 0 : length);
      EXPECT_EQ(SplitParts(Bytes(script), options), whole);
    }
  }
}

TEST(SplitterMemory, AnyLimitGivesTheSamePieces) {
  for (const ScriptCase& c : ScriptCases()) {
    for (uint64_t limit = 0; limit < 12; ++limit) {
      Options options = c.options;
      options.max_statement_bytes = limit;
      const Outcome whole = SplitParts({c.script}, options);
      const Outcome bytes = SplitParts(Bytes(c.script), options);
      EXPECT_EQ(bytes, whole) << c.name << " " << limit;
    }
  }
}

TEST(SplitterMemory, TagsAreBounded) {
  const std::string longest(Splitter::kMaxTagBytes, 'a');
  EXPECT_EQ(SplitParts({"$" + longest + "$;$" + longest + "$"}).pieces.size(), 1u);
  // One letter more: words, between which a semicolon is one.
  const std::string script = "$" + longest + "a$;$" + longest + "a$";
  EXPECT_EQ(SplitParts({script}).pieces.size(), 3u);
  EXPECT_EQ(FeedInParts(script).pieces, SplitParts({script}).pieces);
}

TEST(SplitterMemory, ALargeBufferIsNotKept) {
  Splitter splitter;
  uint64_t pieces = 0;
  const auto sink = [&](const Piece&, std::string_view) { ++pieces; };
  splitter.Feed("SELECT '" + std::string(3 << 20, 'a'), sink);
  EXPECT_GT(splitter.buffered_bytes(), 3u << 20);
  splitter.Feed("';", sink);
  EXPECT_EQ(pieces, 1u);
  EXPECT_LE(splitter.buffered_bytes(), 1u);
}

}  // namespace
}  // namespace pgparsed::splitter
