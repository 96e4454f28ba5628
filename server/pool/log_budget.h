// Bounds how much a crash loop can write into the log: so many lines in a while, then one line that
// says how many were left out. Used by one thread.
#pragma once

#include <chrono>
#include <cstdint>

#include <spdlog/spdlog.h>

namespace pgparsed::pool {

class LogBudget {
 public:
  using Clock = std::chrono::steady_clock;

  static constexpr uint32_t kLines = 20;
  static constexpr std::chrono::seconds kPeriod{10};

  // Whether a line may be written now.
  bool Take(Clock::time_point now) {
    if (now - period_start_ >= kPeriod) {
      if (left_out_ > 0) spdlog::warn("{} lines about workers were left out of the log", left_out_);
      period_start_ = now;
      lines_ = 0;
      left_out_ = 0;
    }
    if (lines_ < kLines) {
      ++lines_;
      return true;
    }
    ++left_out_;
    return false;
  }

 private:
  Clock::time_point period_start_{};
  uint32_t lines_ = 0;
  uint32_t left_out_ = 0;
};

}  // namespace pgparsed::pool
