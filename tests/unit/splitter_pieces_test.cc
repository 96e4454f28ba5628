#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "splitter/split_text.h"
#include "splitter_cases.h"

namespace pgparsed::splitter {
namespace {

class SplitterScripts : public testing::TestWithParam<ScriptCase> {
 protected:
  const std::string& script() const { return GetParam().script; }
  Outcome Split(const std::vector<std::string_view>& parts) const {
    return SplitParts(parts, GetParam().options);
  }
};

TEST_P(SplitterScripts, GivesThePieces) {
  const Outcome whole = Split({script()});
  std::vector<Piece> pieces = whole.pieces;
  for (Piece& piece : pieces) piece.offset -= GetParam().options.start_offset;
  EXPECT_EQ(Describe(pieces, script()), GetParam().pieces);
  EXPECT_EQ(whole.incomplete, GetParam().incomplete);
}

TEST_P(SplitterScripts, CoversTheScriptAndCountsItsLines) {
  const Outcome whole = Split({script()});
  uint64_t offset = GetParam().options.start_offset;
  uint64_t line = GetParam().options.start_line;
  for (size_t i = 0; i < whole.pieces.size(); ++i) {
    const Piece& piece = whole.pieces[i];
    const std::string text =
        script().substr(piece.offset - GetParam().options.start_offset, piece.length);
    EXPECT_EQ(piece.offset, offset);
    EXPECT_EQ(piece.line, line) << text;
    EXPECT_EQ(whole.texts[i], piece.kind == PieceKind::kCopyData ? "" : text);
    offset += piece.length;
    line += static_cast<uint64_t>(std::count(text.begin(), text.end(), '\n'));
  }
  EXPECT_EQ(offset, GetParam().options.start_offset + script().size());
}

TEST_P(SplitterScripts, GivesTheSameInAnyParts) {
  const Outcome whole = Split({script()});
  EXPECT_EQ(Split(Bytes(script())), whole) << "byte by byte";
  for (size_t first = 0; first <= script().size(); ++first) {
    EXPECT_EQ(Split(CutAt(script(), {first})), whole) << "cut at " << first;
    for (size_t second = first; second <= script().size(); ++second) {
      ASSERT_EQ(Split(CutAt(script(), {first, second})), whole) << first << " " << second;
    }
  }
}

TEST_P(SplitterScripts, ResumesAnywhere) {
  const uint64_t start = GetParam().options.start_offset;
  const Outcome bytes = Split(Bytes(script()));
  for (const Outcome::Resume& resume : bytes.resumes) {
    Options options = GetParam().options;
    options.start_offset = resume.offset;
    options.start_line = resume.line;
    options.standard_conforming_strings = resume.standard_strings;
    const Outcome rest = SplitParts({script().substr(resume.offset - start)}, options);
    size_t known = 0;
    while (known < bytes.pieces.size() && bytes.pieces[known].offset < resume.offset) ++known;
    EXPECT_LE(known, resume.pieces) << "not handed out yet";
    EXPECT_EQ(rest.pieces, std::vector<Piece>(bytes.pieces.begin() + static_cast<ptrdiff_t>(known),
                                              bytes.pieces.end()))
        << "from " << resume.offset;
    EXPECT_EQ(rest.incomplete, bytes.incomplete);
  }
}

INSTANTIATE_TEST_SUITE_P(Scripts, SplitterScripts, testing::ValuesIn(ScriptCases()),
                         [](const auto& test) { return test.param.name; });

// Made of what matters to the splitter, so that its states meet each other.
std::string Garbage(std::mt19937& random) {
  static const std::string kTokens[] = {" ",
                                        "\n",
                                        "\r\n",
                                        "\r",
                                        ";",
                                        "\\;",
                                        "'",
                                        "''",
                                        "E'",
                                        "\\'",
                                        "\\\\",
                                        "\\",
                                        "B'",
                                        "U&'",
                                        "\"",
                                        "$$",
                                        "$a$",
                                        "$a",
                                        "$",
                                        "$1",
                                        "--",
                                        "-",
                                        "/",
                                        "*",
                                        "/*",
                                        "*/",
                                        "(",
                                        ")",
                                        "a",
                                        "1",
                                        ":",
                                        "::",
                                        ":a",
                                        "end",
                                        "begin ",
                                        "atomic",
                                        " case ",
                                        "create ",
                                        "or ",
                                        "replace ",
                                        "\\g",
                                        "\\copy ",
                                        "\\echo ",
                                        "function ",
                                        "copy t from stdin;\n",
                                        "copy t from stdin",
                                        "\n\\.\n",
                                        "\\.",
                                        "\xEF\xBB\xBF",
                                        "\xc3",
                                        "set standard_conforming_strings = off;",
                                        "reset standard_conforming_strings;",
                                        "`",
                                        "|",
                                        ".",
                                        std::string(1, '\0')};
  std::string script;
  for (size_t count = random() % 24; count > 0; --count) {
    script += kTokens[random() % std::size(kTokens)];
  }
  return script;
}

TEST(SplitterGarbage, IsCoveredAndGivesTheSameInAnyParts) {
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    const std::string script = Garbage(random);
    const Outcome whole = SplitParts({script});
    uint64_t offset = 0;
    uint64_t line = 1;
    for (const Piece& piece : whole.pieces) {
      ASSERT_EQ(piece.offset, offset) << testing::PrintToString(script);
      ASSERT_EQ(piece.line, line) << testing::PrintToString(script);
      ASSERT_GT(piece.length, 0u);
      line += static_cast<uint64_t>(
          std::count(script.begin() + static_cast<ptrdiff_t>(offset),
                     script.begin() + static_cast<ptrdiff_t>(offset + piece.length), '\n'));
      offset += piece.length;
    }
    ASSERT_EQ(offset, script.size()) << testing::PrintToString(script);
    ASSERT_EQ(SplitParts(Bytes(script)), whole) << testing::PrintToString(script);
    std::vector<size_t> places = {random() % (script.size() + 1), random() % (script.size() + 1)};
    std::sort(places.begin(), places.end());
    ASSERT_EQ(SplitParts(CutAt(script, places)), whole) << testing::PrintToString(script);
  }
}

TEST(SplitterGarbage, ResumesAnywhere) {
  std::mt19937 random(2);
  for (int i = 0; i < 5000; ++i) {
    const std::string script = Garbage(random);
    const Outcome bytes = SplitParts(Bytes(script));
    for (const Outcome::Resume& resume : bytes.resumes) {
      Options options;
      options.start_offset = resume.offset;
      options.start_line = resume.line;
      options.standard_conforming_strings = resume.standard_strings;
      const Outcome rest = SplitParts({std::string_view(script).substr(resume.offset)}, options);
      ASSERT_LE(rest.pieces.size(), bytes.pieces.size()) << testing::PrintToString(script);
      const size_t known = bytes.pieces.size() - rest.pieces.size();
      ASSERT_LE(known, resume.pieces) << testing::PrintToString(script);
      ASSERT_EQ(rest.pieces,
                std::vector<Piece>(bytes.pieces.begin() + static_cast<ptrdiff_t>(known),
                                   bytes.pieces.end()))
          << testing::PrintToString(script) << " from " << resume.offset;
      ASSERT_EQ(rest.incomplete, bytes.incomplete) << testing::PrintToString(script);
    }
  }
}

TEST(SplitText, GivesThePiecesOfAScript) {
  const SplitResult result = SplitText("SELECT 1; SELECT (2");
  EXPECT_EQ(result.pieces, SplitParts({"SELECT 1; SELECT (2"}).pieces);
  EXPECT_TRUE(result.incomplete);
}

TEST(SplitText, TakesNoDataThatNeverEnds) {
  const std::string script =
      "SET standard_conforming_strings = off;\nCOPY t FROM stdin; SELECT\n'\\';';\nCOPY u FROM "
      "stdin;\nSELECT 2;";
  const SplitResult result = SplitText(script);
  EXPECT_EQ(Describe(result.pieces, script),
            (std::vector<std::string>{"s SET standard_conforming_strings = off", "b ;\n",
                                      "s COPY t FROM stdin", "b ; ", "s SELECT\n'\\';'", "b ;\n",
                                      "s COPY u FROM stdin", "b ;\n", "s SELECT 2", "b ;"}));
  EXPECT_FALSE(result.incomplete);
  EXPECT_EQ(result.pieces[8].line, 5u);
}

TEST(SplitText, KeepsDataThatEndedBeforeDataThatDoesNot) {
  const std::string script = "COPY t FROM stdin\\; COPY u FROM stdin;\n1\n\\.\nSELECT 1; SELECT (2";
  Options options;
  options.start_offset = 100;
  options.start_line = 10;
  const SplitResult result = SplitText(script, options);
  std::vector<Piece> pieces = result.pieces;
  for (Piece& piece : pieces) piece.offset -= 100;
  EXPECT_EQ(
      Describe(pieces, script),
      (std::vector<std::string>{"s COPY t FROM stdin", "b \\; ", "s COPY u FROM stdin", "b ;\n",
                                "d1 1\n\\.\n", "s SELECT 1", "b ; ", "s SELECT (2"}));
  EXPECT_EQ(pieces.back().line, 13u);
  EXPECT_TRUE(result.incomplete);
}

}  // namespace
}  // namespace pgparsed::splitter
