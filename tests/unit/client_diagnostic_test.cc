#include "cli/diagnostic.h"

#include <gtest/gtest.h>

#include "cli/units.h"
#include "cli/utf8_display.h"

namespace pgparsed::cli {
namespace {

std::string Render(std::string_view text, size_t byte, int width = 100) {
  DiagnosticStyle style;
  style.width = width;
  return RenderDiagnostic("q.sql", text, PlaceOfByte(text, byte), "wrong", style);
}

// The excerpt's line and what stands above the caret in it.
std::string AboveTheCaret(const std::string& rendered) {
  const size_t first = rendered.find('\n') + 1;
  const size_t second = rendered.find('\n', first) + 1;
  const std::string line = rendered.substr(first, second - first - 1);
  const size_t caret = rendered.find('^', second) - second;
  size_t column = 0;
  std::string above;
  for (const Cell& cell : DisplayCells(line)) {
    if (column == caret) above = cell.text;
    column += static_cast<size_t>(cell.width);
  }
  return above;
}

TEST(Diagnostic, TheCaretStandsUnderThePlace) {
  EXPECT_EQ(Render("SELECT * FORM t", 9),
            "q.sql:1:10: error: wrong\n"
            "    1 | SELECT * FORM t\n"
            "      |          ^\n");
}

TEST(Diagnostic, OnlyTheLineOfThePlaceIsShown) {
  EXPECT_EQ(Render("SELECT 1;\r\nSELECT x y z;\r\nSELECT 2", 18),
            "q.sql:2:8: error: wrong\n"
            "    2 | SELECT x y z;\n"
            "      |        ^\n");
}

TEST(Diagnostic, WideAndCombiningCharactersMoveTheCaretByTheirWidth) {
  const std::string text = "SELECT \"\xE6\xBC\xA2\xE5\xAD\x97\" X";  // two wide characters
  EXPECT_EQ(Render(text, text.find('X')),
            "q.sql:1:17: error: wrong\n"
            "    1 | SELECT \"\xE6\xBC\xA2\xE5\xAD\x97\" X\n"
            "      |               ^\n");
  const std::string combining = "'e\xCC\x81' X";  // e and a combining accent: one column
  EXPECT_EQ(Render(combining, combining.find('X')),
            "q.sql:1:7: error: wrong\n"
            "    1 | 'e\xCC\x81' X\n"
            "      |     ^\n");
}

TEST(Diagnostic, TabsAreWrittenAsSpaces) {
  EXPECT_EQ(Render("\tSELECT\tX", 8),
            "q.sql:1:9: error: wrong\n"
            "    1 |     SELECT  X\n"
            "      |             ^\n");
}

TEST(Diagnostic, TheEndOfTheTextIsShownBehindItsLastWord) {
  EXPECT_EQ(Render("SELECT (", 8),
            "q.sql:1:9: error: wrong\n"
            "    1 | SELECT (\n"
            "      |         ^\n");
  EXPECT_EQ(Render("SELECT (\n\n", 10),
            "q.sql:3:1: error: wrong\n"
            "    1 | SELECT (\n"
            "      |         ^\n");
}

TEST(Diagnostic, AnEmptyTextHasNoExcerpt) { EXPECT_EQ(Render("", 0), "q.sql:1:1: error: wrong\n"); }

TEST(Diagnostic, LongLinesAreCutAroundThePlace) {
  const std::string text = std::string(5000, 'a') + " X " + std::string(5000, 'b');
  const std::string rendered = Render(text, 5001, 60);
  EXPECT_EQ(AboveTheCaret(rendered), "X");
  const size_t first = rendered.find('\n') + 1;
  const std::string line = rendered.substr(first, rendered.find('\n', first) - first);
  int width = 0;
  for (const Cell& cell : DisplayCells(line)) width += cell.width;
  EXPECT_LE(width, 60);
  EXPECT_GE(width, 50);
  EXPECT_NE(line.find("\xE2\x80\xA6 "), 0u);
  EXPECT_TRUE(line.ends_with("b\xE2\x80\xA6"));
}

TEST(Diagnostic, LongLinesOfMultiByteTextAreCutBetweenCharacters) {
  std::string text;
  for (int i = 0; i < 3000; ++i) text += "\xE6\xBC\xA2";
  const size_t at = text.size();
  text += "X";
  for (int i = 0; i < 3000; ++i) text += "\xE6\xBC\xA2";
  const std::string rendered = Render(text, at, 61);
  EXPECT_EQ(AboveTheCaret(rendered), "X");
  EXPECT_EQ(rendered.find("\xEF\xBF\xBD"), std::string::npos);
}

TEST(Diagnostic, NothingThatATerminalObeysGetsThrough) {
  const std::string text = "SELECT \x1B[31m X";
  EXPECT_EQ(Render(text, 13).find('\x1B'), std::string::npos);
  const std::string rendered =
      RenderDiagnostic("f\x1B]0;x", "", std::nullopt, "near \"\x1B[2J\"", {});
  EXPECT_EQ(rendered.find('\x1B'), std::string::npos);
  EXPECT_EQ(Printable("a\xE2\x80\xAE"
                      "b"),
            "a\xEF\xBF\xBD"
            "b");  // right-to-left override
}

TEST(Diagnostic, ColoursAreOnlyThereWhenAskedFor) {
  DiagnosticStyle style;
  style.colour = true;
  const Place place = PlaceOfByte("SELECT X", 7);
  EXPECT_NE(RenderDiagnostic("q", "SELECT X", place, "m", style).find("\x1B[1;31merror:\x1B[0m"),
            std::string::npos);
}

TEST(Units, PositionsBecomeByteOffsetsInEveryEncoding) {
  const std::string text = "a\xC3\xA9\xF0\x9F\x98\x80z";  // a, 2 bytes, 4 bytes, z
  ByteMapper utf8(text, v1::POSITION_ENCODING_UTF8);
  EXPECT_EQ(utf8.ByteOf(7), 7u);
  ByteMapper utf16(text, v1::POSITION_ENCODING_UTF16);
  EXPECT_EQ(utf16.ByteOf(1), 1u);
  EXPECT_EQ(utf16.ByteOf(2), 3u);
  EXPECT_EQ(utf16.ByteOf(4), 7u);
  EXPECT_EQ(utf16.ByteOf(1), 1u);  // backwards
  ByteMapper utf32(text, v1::POSITION_ENCODING_UTF32);
  EXPECT_EQ(utf32.ByteOf(3), 7u);
  EXPECT_EQ(utf32.ByteOf(99), 8u);
}

TEST(PrintableLine, IsTheFirstLineCutToTheWidth) {
  EXPECT_EQ(PrintableLine("SELECT 1", 20), "SELECT 1");
  EXPECT_EQ(PrintableLine("SELECT 1\n", 20), "SELECT 1");
  EXPECT_EQ(PrintableLine("SELECT\n1", 20), "SELECT\xE2\x80\xA6");
  EXPECT_EQ(PrintableLine("abcdefgh", 5), "abcd\xE2\x80\xA6");
}

}  // namespace
}  // namespace pgparsed::cli
