#include "text/positions.h"

#include <gtest/gtest.h>

namespace pgparsed::text {
namespace {

// One character of each length: a, é (2 bytes), € (3 bytes), 😀 (4 bytes, a surrogate pair).
constexpr std::string_view kMixed = "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80z";

TEST(PositionMapper, CountsBytesInUtf8) {
  PositionMapper mapper(kMixed, Encoding::kUtf8);
  EXPECT_EQ(mapper.FromByte(0), 0u);
  EXPECT_EQ(mapper.FromByte(6), 6u);
  EXPECT_EQ(mapper.FromByte(kMixed.size()), 11u);
}

TEST(PositionMapper, CountsSurrogatePairsInUtf16) {
  PositionMapper mapper(kMixed, Encoding::kUtf16);
  EXPECT_EQ(mapper.FromByte(1), 1u);
  EXPECT_EQ(mapper.FromByte(3), 2u);
  EXPECT_EQ(mapper.FromByte(6), 3u);
  EXPECT_EQ(mapper.FromByte(10), 5u);
  EXPECT_EQ(mapper.FromByte(11), 6u);
}

TEST(PositionMapper, CountsCodePointsInUtf32) {
  PositionMapper mapper(kMixed, Encoding::kUtf32);
  EXPECT_EQ(mapper.FromByte(6), 3u);
  EXPECT_EQ(mapper.FromByte(10), 4u);
  EXPECT_EQ(mapper.FromByte(11), 5u);
}

TEST(PositionMapper, TakesOffsetsInAnyOrder) {
  PositionMapper mapper(kMixed, Encoding::kUtf16);
  EXPECT_EQ(mapper.FromByte(10), 5u);
  EXPECT_EQ(mapper.FromByte(3), 2u);
  EXPECT_EQ(mapper.FromByte(3), 2u);
  EXPECT_EQ(mapper.FromByte(0), 0u);
  EXPECT_EQ(mapper.FromByte(11), 6u);
}

TEST(PositionMapper, PutsOffsetsBeyondTheEndAtTheEnd) {
  for (const Encoding encoding : {Encoding::kUtf8, Encoding::kUtf16, Encoding::kUtf32}) {
    PositionMapper mapper(kMixed, encoding);
    EXPECT_EQ(mapper.FromByte(1000), mapper.FromByte(kMixed.size()));
  }
  PositionMapper empty("", Encoding::kUtf16);
  EXPECT_EQ(empty.FromByte(5), 0u);
}

TEST(PositionIndex, AgreesWithTheMapperInAnyOrder) {
  std::string text;
  for (int i = 0; i < 50; ++i) text += kMixed;
  for (const Encoding encoding : {Encoding::kUtf8, Encoding::kUtf16, Encoding::kUtf32}) {
    const PositionIndex index(text, encoding);
    for (size_t at = text.size() + 3; at-- > 0;) {
      PositionMapper mapper(text, encoding);
      ASSERT_EQ(index.FromByte(at), mapper.FromByte(at)) << at;
    }
  }
}

TEST(PositionIndex, IsTheIdentityWhereNothingChanges) {
  EXPECT_TRUE(PositionIndex("only ASCII", Encoding::kUtf16).identity());
  EXPECT_TRUE(PositionIndex(kMixed, Encoding::kUtf8).identity());
  EXPECT_FALSE(PositionIndex(kMixed, Encoding::kUtf32).identity());
  EXPECT_EQ(PositionIndex("only ASCII", Encoding::kUtf16).FromByte(99), 10u);
}

TEST(ByteOfCodePoint, FindsTheFirstByteOfEachCharacter) {
  EXPECT_EQ(ByteOfCodePoint(kMixed, 0), 0u);
  EXPECT_EQ(ByteOfCodePoint(kMixed, 1), 1u);
  EXPECT_EQ(ByteOfCodePoint(kMixed, 2), 3u);
  EXPECT_EQ(ByteOfCodePoint(kMixed, 3), 6u);
  EXPECT_EQ(ByteOfCodePoint(kMixed, 4), 10u);
  EXPECT_EQ(ByteOfCodePoint(kMixed, 5), kMixed.size());
  EXPECT_EQ(ByteOfCodePoint(kMixed, 50), kMixed.size());
}

TEST(LineColumnOf, CountsLinesAndColumnsFromOne) {
  const std::string_view text = "ab\n\xC3\xA9\xF0\x9F\x98\x80x\r\n\nend";
  const auto at = [&](size_t byte, Encoding encoding) {
    const LineColumn place = LineColumnOf(text, byte, encoding);
    return std::pair(place.line, place.column);
  };
  EXPECT_EQ(at(0, Encoding::kUtf8), std::pair(1u, 1u));
  EXPECT_EQ(at(2, Encoding::kUtf8), std::pair(1u, 3u));
  EXPECT_EQ(at(3, Encoding::kUtf8), std::pair(2u, 1u));
  EXPECT_EQ(at(9, Encoding::kUtf8), std::pair(2u, 7u));
  EXPECT_EQ(at(9, Encoding::kUtf16), std::pair(2u, 4u));
  EXPECT_EQ(at(9, Encoding::kUtf32), std::pair(2u, 3u));
  EXPECT_EQ(at(12, Encoding::kUtf8), std::pair(3u, 1u));
  EXPECT_EQ(at(13, Encoding::kUtf8), std::pair(4u, 1u));
  EXPECT_EQ(at(1000, Encoding::kUtf8), std::pair(4u, 4u));
}

}  // namespace
}  // namespace pgparsed::text
