// Whether a text is well-formed JSON. For what is made of parts that others wrote: an answer must
// be readable, or be an error.
#pragma once

#include <string_view>

namespace pgparsed::grammar {

// Strict RFC 8259: one value, valid UTF-8, no more than white space around it. Pure; memory in
// proportion to the nesting.
bool IsJson(std::string_view text);

}  // namespace pgparsed::grammar
