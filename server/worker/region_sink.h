// A ByteSink over one region of memory. What does not fit is only counted.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "grammar/byte_sink.h"

namespace pgparsed::worker {

class RegionSink final : public grammar::ByteSink {
 public:
  // A region below kLeastWindow takes nothing.
  explicit RegionSink(std::span<char> region)
      : region_(region), in_region_(region.size() >= kLeastWindow) {}

  std::span<char> Next(size_t used) override {
    written_ += used;
    if (used == 0 && in_region_) return region_;
    in_region_ = false;
    return overflow_;
  }

  void Finish(size_t used) override { written_ += used; }

  // Whether the region holds everything.
  bool fits() const { return in_region_; }
  uint64_t written() const { return written_; }

 private:
  const std::span<char> region_;
  bool in_region_;
  uint64_t written_ = 0;
  std::array<char, kLeastWindow> overflow_;
};

}  // namespace pgparsed::worker
