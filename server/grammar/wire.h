// The protobuf wire format, as far as small flat messages need it. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pgparsed::grammar {

// Reads the fields of one message one after the other. `while (reader.Next())`; groups and
// malformed bytes end it, then ok() is false.
class WireReader {
 public:
  explicit WireReader(std::string_view message) : rest_(message) {}

  bool Next();

  uint32_t field() const { return field_; }
  uint64_t number() const { return number_; }        // of varint and fixed fields, else 0
  std::string_view bytes() const { return bytes_; }  // of length-delimited fields, else empty
  bool ok() const { return ok_; }

 private:
  std::optional<uint64_t> Varint();
  bool Fail();

  std::string_view rest_;
  uint32_t field_ = 0;
  uint64_t number_ = 0;
  std::string_view bytes_;
  bool ok_ = true;
};

// Appends the fields of a message in the order of the calls; proto3 defaults are left out.
class WireWriter {
 public:
  void Number(uint32_t field, uint64_t value);
  void Bytes(uint32_t field, std::string_view value);
  // As Bytes, but written when empty too: elements of repeated fields, sub-messages.
  void Element(uint32_t field, std::string_view value);

  const std::string& message() const { return message_; }

 private:
  void Varint(uint64_t value);

  std::string message_;
};

}  // namespace pgparsed::grammar
