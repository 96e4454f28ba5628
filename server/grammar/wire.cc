#include "grammar/wire.h"

#include <cstring>

namespace pgparsed::grammar {
namespace {

enum WireType : uint32_t { kVarint = 0, kFixed64 = 1, kLengthDelimited = 2, kFixed32 = 5 };

}  // namespace

bool WireReader::Fail() {
  ok_ = false;
  rest_ = {};
  return false;
}

std::optional<uint64_t> WireReader::Varint() {
  uint64_t value = 0;
  for (uint32_t shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

bool WireReader::Next() {
  if (rest_.empty()) return false;
  const auto tag = Varint();
  if (!tag || *tag >> 3 == 0 || *tag >> 3 > 0x1FFFFFFF) return Fail();
  field_ = static_cast<uint32_t>(*tag >> 3);
  number_ = 0;
  bytes_ = {};
  const uint32_t type = *tag & 7;
  if (type == kVarint) {
    const auto value = Varint();
    if (!value) return Fail();
    number_ = *value;
    return true;
  }
  if (type == kLengthDelimited) {
    const auto length = Varint();
    if (!length || *length > rest_.size()) return Fail();
    bytes_ = rest_.substr(0, *length);
    rest_.remove_prefix(*length);
    return true;
  }
  if (type == kFixed64 || type == kFixed32) {
    const size_t length = type == kFixed64 ? 8 : 4;
    if (rest_.size() < length) return Fail();
    std::memcpy(&number_, rest_.data(), length);
    rest_.remove_prefix(length);
    return true;
  }
  return Fail();
}

void WireWriter::Varint(uint64_t value) {
  for (; value >= 0x80; value >>= 7) message_ += static_cast<char>(value | 0x80);
  message_ += static_cast<char>(value);
}

void WireWriter::Number(uint32_t field, uint64_t value) {
  if (value == 0) return;
  Varint(uint64_t{field} << 3 | kVarint);
  Varint(value);
}

void WireWriter::Bytes(uint32_t field, std::string_view value) {
  if (!value.empty()) Element(field, value);
}

void WireWriter::Element(uint32_t field, std::string_view value) {
  Varint(uint64_t{field} << 3 | kLengthDelimited);
  Varint(value.size());
  message_ += value;
}

}  // namespace pgparsed::grammar
