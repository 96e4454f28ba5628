#include "bench/service/book.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace pgparsed::bench {

void Book::Add(const Key& key, double value) {
  std::vector<double>& values = values_[key];
  if (values.empty()) keys_.push_back(key);
  values.push_back(value);
}

void Book::Judge(const Bar& bar) {
  const auto same = [&](const Bar& other) { return other.key == bar.key; };
  if (std::none_of(bars_.begin(), bars_.end(), same)) bars_.push_back(bar);
}

void Book::AddJudged(const Bar& bar, double value) {
  Judge(bar);
  Add(bar.key, value);
}

Summary Book::Of(const Key& key) const {
  const auto found = values_.find(key);
  if (found == values_.end()) return {};
  std::vector<double> values = found->second;
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return {
      .median = values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2,
      .spread = mean == 0 ? 0 : std::sqrt(squares / count) / std::abs(mean),
      .rounds = values.size()};
}

}  // namespace pgparsed::bench
