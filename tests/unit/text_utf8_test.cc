#include "text/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace pgparsed::text {
namespace {

using std::string_literals::operator""s;

// The text behind 0 to 16 bytes of ASCII: the fast path reads eight at a time.
void ExpectInvalidAt(const std::string& text, size_t offset) {
  for (size_t before = 0; before <= 16; ++before) {
    EXPECT_EQ(FindInvalid(std::string(before, 'x') + text), before + offset) << before;
    EXPECT_EQ(FindInvalid(std::string(before, 'x') + text + "yyyyyyyyyyyyyyyy"), before + offset)
        << before;
  }
}

TEST(FindInvalid, TakesEveryCodePointThatUnicodeHas) {
  std::string all;
  for (uint32_t c = 1; c <= 0x10FFFF; ++c) {
    if (c >= 0xD800 && c <= 0xDFFF) continue;
    if (c < 0x80) {
      all += static_cast<char>(c);
    } else if (c < 0x800) {
      all += static_cast<char>(0xC0 | c >> 6);
      all += static_cast<char>(0x80 | (c & 0x3F));
    } else if (c < 0x10000) {
      all += static_cast<char>(0xE0 | c >> 12);
      all += static_cast<char>(0x80 | (c >> 6 & 0x3F));
      all += static_cast<char>(0x80 | (c & 0x3F));
    } else {
      all += static_cast<char>(0xF0 | c >> 18);
      all += static_cast<char>(0x80 | (c >> 12 & 0x3F));
      all += static_cast<char>(0x80 | (c >> 6 & 0x3F));
      all += static_cast<char>(0x80 | (c & 0x3F));
    }
  }
  EXPECT_EQ(FindInvalid(all), std::nullopt);
  EXPECT_EQ(FindInvalid(""), std::nullopt);
}

TEST(FindInvalid, RefusesNul) { ExpectInvalidAt("ab\0cd"s, 2); }

TEST(FindInvalid, RefusesOverlongForms) {
  ExpectInvalidAt("\xC0\x80", 0);
  ExpectInvalidAt("\xC1\xBF", 0);
  ExpectInvalidAt("a\xE0\x9F\xBF", 1);
  ExpectInvalidAt("a\xF0\x8F\xBF\xBF", 1);
}

TEST(FindInvalid, RefusesSurrogates) {
  ExpectInvalidAt("\xED\xA0\x80", 0);
  ExpectInvalidAt("\xED\xBF\xBF", 0);
}

TEST(FindInvalid, RefusesCodePointsBeyondTheLast) {
  ExpectInvalidAt("\xF4\x90\x80\x80", 0);
  ExpectInvalidAt("\xF5\x80\x80\x80", 0);
  ExpectInvalidAt("\xFF\xFE", 0);
}

TEST(FindInvalid, RefusesTruncatedSequences) {
  ExpectInvalidAt("\xC3", 0);
  ExpectInvalidAt("ab\xE2\x82", 2);
  ExpectInvalidAt("ab\xF0\x9F\x98", 2);
  ExpectInvalidAt("\xC3\xA9\xC3", 2);
}

TEST(FindInvalid, RefusesAContinuationByteAlone) { ExpectInvalidAt("abc\x80", 3); }

}  // namespace
}  // namespace pgparsed::text
