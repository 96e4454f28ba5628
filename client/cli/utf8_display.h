// Text as a terminal shows it: how wide it is, and nothing in it that a terminal obeys.
// All functions are pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace pgparsed::cli {

// One character (code point) of a text.
struct Cell {
  size_t byte = 0;   // where it begins in the text
  std::string text;  // what to print for it: UTF-8
  int width = 1;     // columns: 0 for combining characters, 2 for wide ones
};

// Tabs become spaces up to the next multiple of kTabStop columns. Control characters, marks that
// change the direction of the text, and invalid bytes become U+FFFD.
inline constexpr int kTabStop = 4;
std::vector<Cell> DisplayCells(std::string_view text);

// The same as one string; line breaks stay.
std::string Printable(std::string_view text);

// The first line only, cut with an ellipsis to at most `width` columns.
std::string PrintableLine(std::string_view text, int width);

}  // namespace pgparsed::cli
