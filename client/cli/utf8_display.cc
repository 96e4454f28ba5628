#include "cli/utf8_display.h"

#include <locale.h>
#include <wchar.h>

#include <cstdint>

namespace pgparsed::cli {
namespace {

constexpr const char* kReplacement = "\xEF\xBF\xBD";  // U+FFFD
constexpr const char* kEllipsis = "\xE2\x80\xA6";     // U+2026

struct Decoded {
  uint32_t code_point = 0;
  size_t length = 1;
  bool valid = false;
};

Decoded Decode(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return {};
  uint32_t code_point = lead & (0xFFu >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    code_point = (code_point << 6) | (byte(i) & 0x3Fu);
  }
  return {code_point, length, true};
}

bool ChangesDirection(uint32_t c) {
  return c == 0x061C || c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069);
}

// Columns of a code point, -1 for one that is not printable.
int Width(uint32_t code_point) {
  if (code_point >= 0x20 && code_point < 0x7F) return 1;
  // The width tables of UTF-8 whatever the user's locale is.
  static const locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", static_cast<locale_t>(nullptr));
  if (utf8 == static_cast<locale_t>(nullptr)) return code_point < 0xA0 ? -1 : 1;
  const locale_t before = uselocale(utf8);
  const int width = wcwidth(static_cast<wchar_t>(code_point));
  uselocale(before);
  return width;
}

}  // namespace

std::vector<Cell> DisplayCells(std::string_view text) {
  std::vector<Cell> cells;
  cells.reserve(text.size());
  int column = 0;
  for (size_t at = 0; at < text.size();) {
    const Decoded decoded = Decode(text.substr(at));
    Cell cell{at, std::string(text.substr(at, decoded.length)), 1};
    if (decoded.code_point == '\t' && decoded.valid) {
      cell.width = kTabStop - column % kTabStop;
      cell.text = std::string(static_cast<size_t>(cell.width), ' ');
    } else {
      cell.width = decoded.valid ? Width(decoded.code_point) : -1;
      if (cell.width < 0 || ChangesDirection(decoded.code_point)) {
        cell.text = kReplacement;
        cell.width = 1;
      }
    }
    column += cell.width;
    at += decoded.length;
    cells.push_back(std::move(cell));
  }
  return cells;
}

std::string Printable(std::string_view text) {
  std::string out;
  while (true) {
    const size_t end = text.find('\n');
    for (const Cell& cell : DisplayCells(text.substr(0, end))) out += cell.text;
    if (end == std::string_view::npos) return out;
    out += '\n';
    text.remove_prefix(end + 1);
  }
}

std::string PrintableLine(std::string_view text, int width) {
  const size_t end = text.find_first_of("\r\n");
  const bool more = end != std::string_view::npos &&
                    text.find_first_not_of("\r\n", end) != std::string_view::npos;
  // Four bytes a character, and some room for combining ones: no need to look at more.
  const std::string_view line = text.substr(0, end).substr(0, static_cast<size_t>(width) * 16);
  const std::vector<Cell> cells = DisplayCells(line);
  int whole = 0;
  for (const Cell& cell : cells) whole += cell.width;
  const bool cut = more || whole > width || line.size() < text.substr(0, end).size();
  std::string out;
  int used = 0;
  for (const Cell& cell : cells) {
    if (used + cell.width > (cut ? width - 1 : width)) break;
    out += cell.text;
    used += cell.width;
  }
  return cut ? out + kEllipsis : out;
}

}  // namespace pgparsed::cli
