// A JSON text as a flat list of its values, in the order of the text: no recursion and no object
// for each value, so that nesting has no limit. The parser is nlohmann-json's event interface,
// which keeps a bit for each level that is open.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pgparsed::grammar {

class JsonTape {
 public:
  enum class Kind : uint8_t {
    kNull,
    kBool,
    kInteger,
    kUnsigned,
    kDouble,
    kString,
    kKey,
    kArray,
    kObject
  };

  struct Value {
    Kind kind;
    // kArray, kObject: the index behind its last value. kString, kKey: its bytes.
    uint32_t size;
    // kString, kKey: where it begins in the texts; else the value, a double as its bits.
    uint64_t bits;
  };

  // Reads a text. False if it is no JSON: `error_byte()` says where it stopped.
  bool Read(std::string_view text);

  uint64_t error_byte() const { return error_byte_; }
  const std::vector<Value>& values() const { return values_; }
  std::string_view TextOf(const Value& value) const {
    return std::string_view(texts_).substr(value.bits, value.size);
  }

 private:
  friend class TapeEvents;

  std::vector<Value> values_;
  std::string texts_;
  uint64_t error_byte_ = 0;
};

}  // namespace pgparsed::grammar
