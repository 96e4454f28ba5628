// Numbers of logs. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace pgparsed::cli {

// Digits only, up to 2^64 - 1.
std::optional<uint64_t> ParseCount(std::string_view text);

// A decimal number without sign and exponent, "0.123", times 10^shift, rounded to the nearest whole
// number. shift is 0 for microseconds, 3 for milliseconds that become microseconds.
std::optional<uint64_t> ParseDecimal(std::string_view text, int shift);

}  // namespace pgparsed::cli
