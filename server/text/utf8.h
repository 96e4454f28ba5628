// UTF-8 text: validity, and byte offsets in other units. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace pgparsed::text {

// The offset of the first byte that makes `text` unfit as a query: a NUL byte (it would cut a C
// string) or the start of an invalid UTF-8 sequence (overlong, surrogate, beyond U+10FFFF or
// truncated). nullopt if the text is fine. Fast on ASCII.
std::optional<size_t> FindInvalid(std::string_view text);

}  // namespace pgparsed::text
