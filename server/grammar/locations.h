// Locations of a tree in the encoding that was asked for. For the writers.
#pragma once

#include "text/positions.h"

namespace pgparsed::grammar {

class Locations {
 public:
  // `positions` must outlive this.
  explicit Locations(const text::PositionIndex& positions)
      : positions_(positions.identity() ? nullptr : &positions) {}

  // -1 (no location) and 0 stay.
  int At(int location) const {
    if (positions_ == nullptr || location <= 0) return location;
    return static_cast<int>(positions_->FromByte(static_cast<size_t>(location)));
  }

  // 0 stands for "to the end of the text" and stays.
  int Length(int length, int location) const {
    return length > 0 ? At(location + length) - At(location) : length;
  }

 private:
  const text::PositionIndex* const positions_;  // nullptr: bytes
};

}  // namespace pgparsed::grammar
