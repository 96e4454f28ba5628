// Positions in the answer's unit, as byte offsets of the text again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "pgparsed/v1/common.pb.h"

namespace pgparsed::cli {

// Ascending positions cost one pass over the text in all; a smaller one than the last starts
// again. `text` must be valid UTF-8 and outlive this. Positions beyond the end, and inside a
// character, count as the end of what they reach. Not thread-safe.
class ByteMapper {
 public:
  ByteMapper(std::string_view text, v1::PositionEncoding encoding);

  size_t ByteOf(uint64_t position);

 private:
  std::string_view text_;
  v1::PositionEncoding encoding_;
  size_t byte_ = 0;
  uint64_t position_ = 0;
};

}  // namespace pgparsed::cli
