// C strings of a tree, most of which are a few characters: without a call for each. For the
// writers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__) && !defined(PGPARSED_SANITIZED)
#include <emmintrin.h>
#endif

namespace pgparsed::grammar {

// strlen.
[[gnu::always_inline]] inline size_t LengthOf(const char* text) {
#if defined(__SSE2__) && !defined(PGPARSED_SANITIZED)
  // Reads behind the end, but not beyond its page: what is there does not matter.
  constexpr uintptr_t kPage = 4096;
  if (reinterpret_cast<uintptr_t>(text) % kPage <= kPage - sizeof(__m128i)) [[likely]] {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text));
    const auto zeros =
        static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_setzero_si128())));
    if (zeros != 0) [[likely]] {
      return static_cast<size_t>(__builtin_ctz(zeros));
    }
  }
#endif
  return std::strlen(text);
}

// Copies a string that fits 16 bytes and has only characters that JSON takes as they are (and
// libpg_query too: '<' and '>' it escapes). Returns its length, or -1 if the string is another one.
// Writes up to 16 bytes in any case.
[[gnu::always_inline]] inline int CopyPlain(char* to, const char* from) {
#if defined(__SSE2__) && !defined(PGPARSED_SANITIZED)
  constexpr uintptr_t kPage = 4096;
  if (reinterpret_cast<uintptr_t>(from) % kPage > kPage - sizeof(__m128i)) [[unlikely]]
    return -1;
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  const auto is = [&](char c) { return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(c)); };
  const __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1F)), bytes);
  const __m128i escaped =
      _mm_or_si128(_mm_or_si128(is('"'), is('\\')), _mm_or_si128(is('<'), is('>')));
  const auto ends = static_cast<unsigned>(_mm_movemask_epi8(_mm_or_si128(control, escaped)));
  if (ends == 0) return -1;
  const int length = __builtin_ctz(ends);
  if (from[length] != '\0') [[unlikely]]
    return -1;
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), bytes);
  return length;
#else
  (void)to;
  (void)from;
  return -1;
#endif
}

// memcpy.
[[gnu::always_inline]] inline void CopyShort(char* to, const char* from, size_t size) {
  if (size > 16) [[unlikely]] {
    std::memcpy(to, from, size);
  } else if (size >= 8) {
    uint64_t first, last;
    std::memcpy(&first, from, 8);
    std::memcpy(&last, from + size - 8, 8);
    std::memcpy(to, &first, 8);
    std::memcpy(to + size - 8, &last, 8);
  } else if (size >= 4) {
    uint32_t first, last;
    std::memcpy(&first, from, 4);
    std::memcpy(&last, from + size - 4, 4);
    std::memcpy(to, &first, 4);
    std::memcpy(to + size - 4, &last, 4);
  } else {
    for (size_t i = 0; i < size; ++i) to[i] = from[i];
  }
}

}  // namespace pgparsed::grammar
