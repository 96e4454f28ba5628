// What benchmarks work on.
#pragma once

#include <string>
#include <vector>

namespace pgparsed::bench {

struct Input {
  std::string name;
  // One text, or many that are done one after the other.
  std::vector<std::string> texts;
  // So long that one pass is enough to time it.
  bool long_running = false;
};

// SELECT 1; a SELECT of 46 bytes; one of 384 with a join, an aggregate's FILTER and an IN list; the
// reference job (1,500 SELECTs of 400 columns joined by UNION ALL: 3.4 MB). From `corpus`, if it is
// there: bench/large_select.sql, and every statement of the regression scripts.
std::vector<Input> Inputs(const std::string& corpus);

}  // namespace pgparsed::bench
