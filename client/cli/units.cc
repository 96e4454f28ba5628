#include "cli/units.h"

#include <algorithm>

namespace pgparsed::cli {
namespace {

size_t SequenceLength(unsigned char lead) {
  if (lead < 0xC0) return 1;
  if (lead < 0xE0) return 2;
  return lead < 0xF0 ? 3 : 4;
}

}  // namespace

ByteMapper::ByteMapper(std::string_view text, v1::PositionEncoding encoding)
    : text_(text), encoding_(encoding) {}

size_t ByteMapper::ByteOf(uint64_t position) {
  const bool bytes =
      encoding_ != v1::POSITION_ENCODING_UTF16 && encoding_ != v1::POSITION_ENCODING_UTF32;
  if (bytes) return static_cast<size_t>(std::min<uint64_t>(position, text_.size()));
  if (position < position_) {
    byte_ = 0;
    position_ = 0;
  }
  while (position_ < position && byte_ < text_.size()) {
    const size_t length = SequenceLength(static_cast<unsigned char>(text_[byte_]));
    position_ += encoding_ == v1::POSITION_ENCODING_UTF16 && length == 4 ? 2 : 1;
    byte_ = std::min(byte_ + length, text_.size());
  }
  return byte_;
}

}  // namespace pgparsed::cli
