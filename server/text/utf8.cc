#include "text/utf8.h"

#include <cstring>

namespace pgparsed::text {
namespace {

constexpr uint64_t kHighBits = 0x8080808080808080ull;
constexpr uint64_t kLowBits = 0x0101010101010101ull;

// Whether all eight bytes are ASCII and none is NUL. (A byte x < 0x80 sets its high bit in
// x - 1 only if it is 0, or borrows from a lower byte that is 0.)
bool IsPlainAscii(uint64_t word) { return ((word | (word - kLowBits)) & kHighBits) == 0; }

// The last 1 to 7 bytes of a text as a word; bytes may be there twice, and some may be 1.
uint64_t LastBytes(const unsigned char* at, size_t left) {
  if (left < 4) {
    return 0x0101010101000000ull | at[0] | uint64_t{at[left / 2]} << 8 |
           uint64_t{at[left - 1]} << 16;
  }
  uint32_t first, last;
  std::memcpy(&first, at, sizeof(first));
  std::memcpy(&last, at + left - sizeof(last), sizeof(last));
  return first | uint64_t{last} << 32;
}

bool IsContinuation(unsigned char byte) { return (byte & 0xC0) == 0x80; }

// The length of the valid sequence that starts with the non-ASCII byte at `at`; 0 if there is none.
// Table 3-7 of the Unicode standard: only the second byte has ranges that depend on the first.
size_t SequenceLength(const unsigned char* at, size_t left) {
  const unsigned char lead = at[0];
  if (lead < 0xC2 || lead > 0xF4) return 0;
  const size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (left < length) return 0;
  unsigned char low = 0x80;
  unsigned char high = 0xBF;
  if (lead == 0xE0) low = 0xA0;   // overlong
  if (lead == 0xED) high = 0x9F;  // surrogates
  if (lead == 0xF0) low = 0x90;   // overlong
  if (lead == 0xF4) high = 0x8F;  // beyond U+10FFFF
  if (at[1] < low || at[1] > high) return 0;
  for (size_t i = 2; i < length; ++i) {
    if (!IsContinuation(at[i])) return 0;
  }
  return length;
}

}  // namespace

std::optional<size_t> FindInvalid(std::string_view text) {
  const auto* const begin = reinterpret_cast<const unsigned char*>(text.data());
  const auto* const end = begin + text.size();
  const auto* at = begin;
  while (at < end) {
    if (end - at >= 8) {
      uint64_t word;
      std::memcpy(&word, at, sizeof(word));
      if (IsPlainAscii(word)) {
        at += sizeof(word);
        continue;
      }
    } else if (IsPlainAscii(LastBytes(at, static_cast<size_t>(end - at)))) {
      return std::nullopt;
    }
    if (*at == 0) return static_cast<size_t>(at - begin);
    if (*at < 0x80) {
      ++at;
      continue;
    }
    const size_t length = SequenceLength(at, static_cast<size_t>(end - at));
    if (length == 0) return static_cast<size_t>(at - begin);
    at += length;
  }
  return std::nullopt;
}

}  // namespace pgparsed::text
