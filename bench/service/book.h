// The figures of a run: each value of each round, and the bars that medians are held against.
#pragma once

#include <compare>
#include <map>
#include <string>
#include <vector>

namespace pgparsed::bench {

// What a value is of. `name` is what was measured ("calls", "p50"), `variant` how.
struct Key {
  std::string name;
  std::string grammar;
  std::string input;
  std::string variant;
  std::string unit;

  auto operator<=>(const Key&) const = default;
};

struct Bar {
  enum class Kind { kAtLeast, kAtMost };
  std::string title;
  Key key;
  Kind kind;
  double limit;
};

// The median of the rounds, and their standard deviation in relation to their mean.
struct Summary {
  double median = 0;
  double spread = 0;
  size_t rounds = 0;
};

class Book {
 public:
  // The value of one more round.
  void Add(const Key& key, double value);
  // The median of the bar's key is judged. To say it every round is fine.
  void Judge(const Bar& bar);
  // Both.
  void AddJudged(const Bar& bar, double value);

  const std::vector<Bar>& bars() const { return bars_; }
  // In the order in which they came first.
  const std::vector<Key>& keys() const { return keys_; }
  bool Has(const Key& key) const { return values_.contains(key); }
  Summary Of(const Key& key) const;

 private:
  std::map<Key, std::vector<double>> values_;
  std::vector<Key> keys_;
  std::vector<Bar> bars_;
};

}  // namespace pgparsed::bench
