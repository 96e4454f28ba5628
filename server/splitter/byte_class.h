// The classes of bytes that PostgreSQL's lexical rules speak of. Bytes from 0x80 on count as
// letters, whatever they encode, so no character is ever cut or decoded.
#pragma once

#include <array>
#include <cstdint>

namespace pgparsed::splitter {

// What a byte begins outside quotes and comments.
enum class Begins : uint8_t {
  kOther,  // an operator, or nothing that SQL knows
  kSpace,
  kWord,
  kNumber,
  kQuote,
  kDoubleQuote,
  kDollar,
  kDash,
  kSlash,
  kColon,
  kOpenParenthesis,
  kCloseParenthesis,
  kSemicolon,
  kBackslash,
};

namespace internal {

constexpr uint8_t kWordStartBit = 1;
constexpr uint8_t kTagBit = 2;
constexpr uint8_t kWordBit = 4;

struct ByteTables {
  std::array<Begins, 256> begins{};
  std::array<uint8_t, 256> bits{};
};

constexpr ByteTables MakeByteTables() {
  ByteTables tables;
  for (const char c : {' ', '\t', '\n', '\r', '\f', '\v'}) {
    tables.begins[static_cast<uint8_t>(c)] = Begins::kSpace;
  }
  for (int c = 0; c < 256; ++c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c >= 0x80;
    const bool digit = c >= '0' && c <= '9';
    if (letter) tables.begins[c] = Begins::kWord;
    if (digit) tables.begins[c] = Begins::kNumber;
    tables.bits[c] =
        static_cast<uint8_t>((letter ? kWordStartBit : 0) | (letter || digit ? kTagBit : 0) |
                             (letter || digit || c == '$' ? kWordBit : 0));
  }
  tables.begins['\''] = Begins::kQuote;
  tables.begins['"'] = Begins::kDoubleQuote;
  tables.begins['$'] = Begins::kDollar;
  tables.begins['-'] = Begins::kDash;
  tables.begins['/'] = Begins::kSlash;
  tables.begins[':'] = Begins::kColon;
  tables.begins['('] = Begins::kOpenParenthesis;
  tables.begins[')'] = Begins::kCloseParenthesis;
  tables.begins[';'] = Begins::kSemicolon;
  tables.begins['\\'] = Begins::kBackslash;
  return tables;
}

inline constexpr ByteTables kByteTables = MakeByteTables();

constexpr bool HasBit(char c, uint8_t bit) {
  return (kByteTables.bits[static_cast<uint8_t>(c)] & bit) != 0;
}

}  // namespace internal

constexpr Begins WhatBegins(char c) {
  return internal::kByteTables.begins[static_cast<uint8_t>(c)];
}
constexpr bool IsSpace(char c) { return WhatBegins(c) == Begins::kSpace; }
constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }
// A byte with which words and the tags of dollar quotes begin.
constexpr bool IsWordStart(char c) { return internal::HasBit(c, internal::kWordStartBit); }
// A byte inside a tag, or the name of a psql variable.
constexpr bool IsTagByte(char c) { return internal::HasBit(c, internal::kTagBit); }
// A byte inside a word: `$` too, so that it begins no dollar quote there.
constexpr bool IsWordByte(char c) { return internal::HasBit(c, internal::kWordBit); }
// ASCII only, whatever the locale.
constexpr char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace pgparsed::splitter
