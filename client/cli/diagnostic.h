// Errors as people read them: file:line:column, the line, a caret under the place.
//
//   query.sql:3:15: error: syntax error at or near "FORM"
//       3 | SELECT * FORM t
//         |          ^
//
// Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pgparsed::cli {

// How diagnostics look.
struct DiagnosticStyle {
  int width = 100;      // columns of an excerpt at most, its margin included
  bool colour = false;  // ANSI colours
};

// A place in a text.
struct Place {
  size_t byte = 0;      // from 0; the text's size is its end
  uint32_t line = 1;    // as it is shown, from 1
  uint32_t column = 1;  // as it is shown, from 1
};

// `label` names the text: a file's name, "<stdin>". The result ends with a line break. Where the
// place is the end of the text behind a line break, the last line that holds something is shown.
std::string RenderDiagnostic(std::string_view label, std::string_view text,
                             std::optional<Place> place, std::string_view message,
                             const DiagnosticStyle& style);

// The place of a byte, its column counted in bytes.
Place PlaceOfByte(std::string_view text, size_t byte);

}  // namespace pgparsed::cli
