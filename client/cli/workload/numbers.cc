#include "cli/workload/numbers.h"

#include <charconv>

namespace pgparsed::cli {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::optional<uint64_t> ParseCount(std::string_view text) {
  if (text.empty() || !IsDigit(text.front())) return std::nullopt;
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<uint64_t> ParseDecimal(std::string_view text, int shift) {
  const size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  const std::string_view fraction =
      point == std::string_view::npos ? std::string_view() : text.substr(point + 1);
  if (whole.empty() && fraction.empty()) return std::nullopt;
  for (const char c : fraction) {
    if (!IsDigit(c)) return std::nullopt;
  }
  std::optional<uint64_t> value = whole.empty() ? 0 : ParseCount(whole);
  if (!value.has_value()) return std::nullopt;
  const auto digit = [&](size_t at) {
    return at < fraction.size() ? static_cast<uint64_t>(fraction[at] - '0') : 0;
  };
  for (int i = 0; i < shift; ++i) {
    if (__builtin_mul_overflow(*value, uint64_t{10}, &*value) ||
        __builtin_add_overflow(*value, digit(static_cast<size_t>(i)), &*value)) {
      return std::nullopt;
    }
  }
  if (digit(static_cast<size_t>(shift)) >= 5 &&
      __builtin_add_overflow(*value, uint64_t{1}, &*value)) {
    return std::nullopt;
  }
  return value;
}

}  // namespace pgparsed::cli
