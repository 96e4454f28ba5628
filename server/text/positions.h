// Places in a text, in the units that clients count in.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace pgparsed::text {

// The same values as channel::PositionEncoding and pgparsed.v1.PositionEncoding.
enum class Encoding : uint32_t { kUtf8 = 1, kUtf16 = 2, kUtf32 = 3 };

// Translates byte offsets of one text to an encoding. Ascending offsets cost one pass over the
// text in all; a smaller offset than the last starts again. `text` must be valid UTF-8 and outlive
// this. Offsets beyond the end count as the end. Not thread-safe.
class PositionMapper {
 public:
  PositionMapper(std::string_view text, Encoding encoding);

  uint32_t FromByte(size_t byte_offset);

 private:
  std::string_view text_;
  Encoding encoding_;
  size_t byte_ = 0;
  uint32_t units_ = 0;
};

// As PositionMapper, for offsets in any order: each costs the same, after one pass over the text.
// It takes a byte for each 16 of the text, and nothing where positions are bytes anyway.
class PositionIndex {
 public:
  // `text` must be valid UTF-8 and outlive this.
  PositionIndex(std::string_view text, Encoding encoding);

  // Whether all positions stay as they are.
  bool identity() const { return units_.empty(); }
  uint32_t FromByte(size_t byte_offset) const;

 private:
  std::string_view text_;
  Encoding encoding_;
  std::vector<uint32_t> units_;  // before each block of the text
};

// The byte offset of the code point with index `index` from 0; the text's size if it has fewer.
size_t ByteOfCodePoint(std::string_view text, size_t index);

// The line and column of a byte offset, both from 1, the column in the encoding's units. Lines end
// with \n; a \r before it belongs to the line.
struct LineColumn {
  uint32_t line = 1;
  uint32_t column = 1;
};
LineColumn LineColumnOf(std::string_view text, size_t byte_offset, Encoding encoding);

}  // namespace pgparsed::text
