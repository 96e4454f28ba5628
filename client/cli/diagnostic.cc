#include "cli/diagnostic.h"

#include <algorithm>
#include <vector>

#include "cli/utf8_display.h"

namespace pgparsed::cli {
namespace {

constexpr const char* kEllipsis = "\xE2\x80\xA6";  // U+2026
constexpr const char* kBold = "\033[1m";
constexpr const char* kRed = "\033[1;31m";
constexpr const char* kGreen = "\033[1;32m";
constexpr const char* kReset = "\033[0m";

// Only so many bytes of a line before and behind the place are looked at: lines may be megabytes
// long. It is more than fits a terminal, so characters that this cuts are not shown.
constexpr size_t kReach = 2048;

std::string Coloured(std::string_view text, const char* colour, bool on) {
  if (!on) return std::string(text);
  return colour + std::string(text) + kReset;
}

struct Excerpt {
  std::string line;
  int caret = 0;  // columns before the caret
};

// `at` is the byte in `line` that the caret stands under. At most `width` columns.
Excerpt Cut(std::string_view line, size_t at, int width) {
  const size_t begin = at > kReach ? at - kReach : 0;
  const size_t end = std::min(line.size(), at + kReach);
  const std::vector<Cell> cells = DisplayCells(line.substr(begin, end - begin));

  size_t caret = 0;
  while (caret < cells.size() && cells[caret].byte + begin < at) ++caret;

  // Grow a window around the caret, two columns to the left for one to the right, until the width
  // is used up or the line is in it. One column is kept for each ellipsis.
  const int room = std::max(width - 2, 8);
  size_t first = caret;
  size_t last = caret;  // behind the last cell in the window
  int used = 1;         // the caret's own column at the end of the line
  if (last < cells.size()) used = std::max(1, cells[last++].width);
  bool grew = true;
  while (grew) {
    grew = false;
    for (int i = 0; i < 2 && first > 0 && used + cells[first - 1].width <= room; ++i) {
      used += cells[--first].width;
      grew = true;
    }
    if (last < cells.size() && used + cells[last].width <= room) {
      used += cells[last++].width;
      grew = true;
    }
  }

  Excerpt excerpt;
  if (first > 0 || begin > 0) {
    excerpt.line += kEllipsis;
    excerpt.caret = 1;
  }
  for (size_t i = first; i < last; ++i) {
    excerpt.line += cells[i].text;
    if (i < caret) excerpt.caret += cells[i].width;
  }
  if (last < cells.size() || end < line.size()) excerpt.line += kEllipsis;
  return excerpt;
}

std::string RenderExcerpt(std::string_view text, Place place, const DiagnosticStyle& style) {
  size_t at = std::min(place.byte, text.size());
  uint32_t number = place.line;
  if (text.find_first_not_of(" \t\r\n", at) == std::string_view::npos) {
    // The end of the text: show what comes before it.
    while (at > 0 && (text[at - 1] == '\n' || text[at - 1] == '\r' || text[at - 1] == ' ' ||
                      text[at - 1] == '\t')) {
      --at;
      if (text[at] == '\n' && number > 1) --number;
    }
  }
  const size_t before = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
  const size_t begin = before == std::string_view::npos ? 0 : before + 1;
  size_t end = std::min(text.find('\n', at), text.size());
  if (end > at && text[end - 1] == '\r') --end;
  const std::string_view line = text.substr(begin, end - begin);
  if (line.empty()) return {};

  std::string margin = std::to_string(number);
  if (margin.size() < 5) margin.insert(0, 5 - margin.size(), ' ');
  margin += " | ";
  const std::string empty_margin = std::string(margin.size() - 2, ' ') + "| ";
  const Excerpt excerpt = Cut(line, at - begin, style.width - static_cast<int>(margin.size()));
  return margin + excerpt.line + "\n" + empty_margin +
         std::string(static_cast<size_t>(excerpt.caret), ' ') +
         Coloured("^", kGreen, style.colour) + "\n";
}

}  // namespace

std::string RenderDiagnostic(std::string_view label, std::string_view text,
                             std::optional<Place> place, std::string_view message,
                             const DiagnosticStyle& style) {
  std::string head = Printable(label) + ":";
  if (place.has_value()) {
    head += std::to_string(place->line) + ":" + std::to_string(place->column) + ":";
  }
  std::string out = Coloured(head, kBold, style.colour) + " " +
                    Coloured("error:", kRed, style.colour) + " " + Printable(message) + "\n";
  if (place.has_value()) out += RenderExcerpt(text, *place, style);
  return out;
}

Place PlaceOfByte(std::string_view text, size_t byte) {
  const std::string_view before = text.substr(0, byte);
  Place place;
  place.byte = before.size();
  place.line = 1 + static_cast<uint32_t>(std::count(before.begin(), before.end(), '\n'));
  const size_t line_break = before.rfind('\n');
  place.column = 1 + static_cast<uint32_t>(line_break == std::string_view::npos
                                               ? before.size()
                                               : before.size() - line_break - 1);
  return place;
}

}  // namespace pgparsed::cli
