// The ways from a text to a result that are compared.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace pgparsed::bench {

struct Variant {
  std::string_view name;
  // Does all of it for one text, from the text (for deparse: from its tree) to the result's bytes,
  // whose number it returns. 0: not possible for this text.
  uint64_t (*run)(const std::string& text);
  // What `run` gets instead of the SQL, empty for a text that is left out; nullptr: the SQL itself.
  std::string (*prepare)(const std::string& sql);
};

// The library's variants are its public functions, called as any program calls them.
std::span<const Variant> Variants();

}  // namespace pgparsed::bench
