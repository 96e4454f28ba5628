// How far a long command is: one line on standard error that is written over and over.
//
//   queries.log  [==========          ]  50%  1.2 GB of 2.4 GB  85 MB/s  14 s left  1234567 queries
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace pgparsed::cli {

// How far it is.
struct ProgressState {
  uint64_t bytes = 0;         // done
  uint64_t bytes_in_all = 0;  // 0: not known
  uint64_t items = 0;
  double seconds = 0;  // since the beginning
};

// One line of at most `width` columns without its line break. Parts that find no room are left
// out, the bar first. `label` is cut if need be. Pure.
std::string RenderProgress(std::string_view label, std::string_view items_name,
                           const ProgressState& state, int width);

// Not thread-safe.
class Progress {
 public:
  using Clock = std::chrono::steady_clock;

  // Where the line goes. For tests; the program uses OnStandardError.
  struct Terminal {
    std::function<void(std::string_view)> write;
    std::function<Clock::time_point()> now;
    int width = 80;
  };

  // Silent unless standard error is a terminal that is not "dumb".
  static Progress OnStandardError(std::string label, std::string items_name, uint64_t bytes_in_all);

  // `items_name` is what items are called, "queries"; empty: they are not counted. Without a
  // terminal it is silent.
  Progress(std::string label, std::string items_name, uint64_t bytes_in_all,
           std::optional<Terminal> terminal);

  // Erases the line.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // May be called as often as one likes: it writes at most ten times a second.
  void Update(uint64_t bytes, uint64_t items);

  // Erases the line, so that something else can be written; the next Update brings it back.
  void Erase();

 private:
  const std::string label_;
  const std::string items_name_;
  const uint64_t bytes_in_all_;
  const std::optional<Terminal> terminal_;
  Clock::time_point begin_;
  std::optional<Clock::time_point> last_;
  bool shown_ = false;
};

}  // namespace pgparsed::cli
