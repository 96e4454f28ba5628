// A bar chart as SVG, for the README.
#pragma once

#include <string>
#include <vector>

namespace pgparsed::bench {

struct Bar {
  std::string label;
  double value = 0;
  bool ours = false;
};

struct BarGroup {
  std::string title;
  std::vector<Bar> bars;
};

// Horizontal bars, the groups below each other, all in one scale.
std::string BarChart(const std::string& title, const std::string& unit,
                     const std::vector<BarGroup>& groups);

}  // namespace pgparsed::bench
