#include "text/positions.h"

#include <algorithm>

namespace pgparsed::text {
namespace {

bool IsContinuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

// The units that the characters take whose first byte is in `text`. Bytes that only continue a
// character count for nothing, so a text may be cut anywhere.
uint32_t CountUnits(std::string_view text, Encoding encoding) {
  if (encoding == Encoding::kUtf8) return static_cast<uint32_t>(text.size());
  uint32_t units = 0;
  for (const char byte : text) {
    units += !IsContinuation(byte);
    // A character of four bytes is beyond the basic plane: two units of UTF-16.
    units += encoding == Encoding::kUtf16 && static_cast<unsigned char>(byte) >= 0xF0;
  }
  return units;
}

}  // namespace

PositionMapper::PositionMapper(std::string_view text, Encoding encoding)
    : text_(text), encoding_(encoding) {}

uint32_t PositionMapper::FromByte(size_t byte_offset) {
  byte_offset = std::min(byte_offset, text_.size());
  if (encoding_ == Encoding::kUtf8) return static_cast<uint32_t>(byte_offset);
  if (byte_offset < byte_) {
    byte_ = 0;
    units_ = 0;
  }
  units_ += CountUnits(text_.substr(byte_, byte_offset - byte_), encoding_);
  byte_ = byte_offset;
  return units_;
}

namespace {

constexpr size_t kBlockBytes = 64;

bool IsAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char byte) { return static_cast<unsigned char>(byte) < 0x80; });
}

}  // namespace

PositionIndex::PositionIndex(std::string_view text, Encoding encoding)
    : text_(text), encoding_(encoding) {
  if (encoding == Encoding::kUtf8 || IsAscii(text)) return;
  uint32_t units = 0;
  for (size_t at = 0; at <= text.size(); at += kBlockBytes) {
    units_.push_back(units);
    units += CountUnits(text.substr(at, kBlockBytes), encoding);
  }
}

uint32_t PositionIndex::FromByte(size_t byte_offset) const {
  byte_offset = std::min(byte_offset, text_.size());
  if (identity()) return static_cast<uint32_t>(byte_offset);
  const size_t block = byte_offset / kBlockBytes;
  const size_t begin = block * kBlockBytes;
  return units_[block] + CountUnits(text_.substr(begin, byte_offset - begin), encoding_);
}

size_t ByteOfCodePoint(std::string_view text, size_t index) {
  for (size_t byte = 0; byte < text.size(); ++byte) {
    if (IsContinuation(text[byte])) continue;
    if (index == 0) return byte;
    --index;
  }
  return text.size();
}

LineColumn LineColumnOf(std::string_view text, size_t byte_offset, Encoding encoding) {
  const std::string_view before = text.substr(0, std::min(byte_offset, text.size()));
  const size_t line_break = before.rfind('\n');
  const size_t line_start = line_break == std::string_view::npos ? 0 : line_break + 1;
  return {.line = 1 + static_cast<uint32_t>(std::count(before.begin(), before.end(), '\n')),
          .column = 1 + CountUnits(before.substr(line_start), encoding)};
}

}  // namespace pgparsed::text
