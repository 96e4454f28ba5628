// The path to a place in a tree, for messages: stmts[0].stmt.SelectStmt.fromClause[2].RangeVar.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pgparsed::grammar {

// Gathered from the inside out, by functions that return because something below them failed.
class TreePath {
 public:
  void AddName(std::string_view name) { steps_.push_back({name, kName}); }
  void AddIndex(int index) { steps_.push_back({{}, index}); }

  std::string ToString() const {
    std::string path;
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
      if (step->index != kName) {
        path += "[" + std::to_string(step->index) + "]";
      } else {
        if (!path.empty()) path += '.';
        path += step->name;
      }
      if (path.size() > kMostBytes) return path.substr(0, kMostBytes) + "…";
    }
    return path;
  }

 private:
  static constexpr int kName = -1;
  static constexpr size_t kMostBytes = 1000;

  struct Step {
    std::string_view name;
    int index;
  };
  std::vector<Step> steps_;
};

}  // namespace pgparsed::grammar
