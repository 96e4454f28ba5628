#include "bench/conversion/chart.h"

#include <algorithm>
#include <cstdio>
#include <sstream>

namespace pgparsed::bench {

std::string BarChart(const std::string& title, const std::string& unit,
                     const std::vector<BarGroup>& groups) {
  constexpr int kLabelWidth = 190;
  constexpr int kBarWidth = 430;
  constexpr int kLine = 20;
  double largest = 0;
  int lines = 0;
  for (const BarGroup& group : groups) {
    for (const Bar& bar : group.bars) largest = std::max(largest, bar.value);
    lines += static_cast<int>(group.bars.size()) + 2;
  }
  std::ostringstream svg;
  svg << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"720\" height=\"" << lines * kLine + 50
      << "\" font-family=\"sans-serif\" font-size=\"13\">\n"
      << "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
      << "<text x=\"10\" y=\"22\" font-size=\"15\" font-weight=\"bold\">" << title << "</text>\n";
  int y = 50;
  for (const BarGroup& group : groups) {
    svg << "<text x=\"10\" y=\"" << y << "\" font-weight=\"bold\">" << group.title << "</text>\n";
    y += kLine;
    for (const Bar& bar : group.bars) {
      const double width = largest > 0 ? std::max(1.0, bar.value / largest * kBarWidth) : 1;
      char value[32];
      std::snprintf(value, sizeof(value), "%.1f", bar.value);
      svg << "<text x=\"" << kLabelWidth << "\" y=\"" << y << "\" text-anchor=\"end\">" << bar.label
          << "</text>\n<rect x=\"" << kLabelWidth + 8 << "\" y=\"" << y - 12 << "\" width=\""
          << width << "\" height=\"14\" fill=\"" << (bar.ours ? "#336791" : "#b9c4cc")
          << "\"/>\n<text x=\"" << kLabelWidth + 14 + width << "\" y=\"" << y << "\">" << value
          << ' ' << unit << "</text>\n";
      y += kLine;
    }
    y += kLine / 2;
  }
  svg << "</svg>\n";
  return svg.str();
}

}  // namespace pgparsed::bench
