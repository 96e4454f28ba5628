#include "grammar/json_tape.h"

#include <cstring>
#include <nlohmann/json.hpp>

namespace pgparsed::grammar {

using Kind = JsonTape::Kind;

// nlohmann-json's SAX interface: its names and types are given.
class TapeEvents final : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit TapeEvents(JsonTape& tape) : tape_(tape) {}

  bool null() override { return Add(Kind::kNull, 0, 0); }
  bool boolean(bool value) override { return Add(Kind::kBool, 0, value ? 1 : 0); }
  bool number_integer(int64_t value) override {
    return Add(Kind::kInteger, 0, static_cast<uint64_t>(value));
  }
  bool number_unsigned(uint64_t value) override { return Add(Kind::kUnsigned, 0, value); }
  bool number_float(double value, const std::string&) override {
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    return Add(Kind::kDouble, 0, bits);
  }
  bool string(std::string& value) override { return AddText(Kind::kString, value); }
  bool key(std::string& value) override { return AddText(Kind::kKey, value); }
  bool binary(nlohmann::json::binary_t&) override { return false; }
  bool start_object(size_t) override { return Open(Kind::kObject); }
  bool end_object() override { return Close(); }
  bool start_array(size_t) override { return Open(Kind::kArray); }
  bool end_array() override { return Close(); }
  bool parse_error(size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    tape_.error_byte_ = position;
    return false;
  }

 private:
  bool Add(Kind kind, uint32_t size, uint64_t bits) {
    tape_.values_.push_back({kind, size, bits});
    return true;
  }

  bool AddText(Kind kind, const std::string& text) {
    Add(kind, static_cast<uint32_t>(text.size()), tape_.texts_.size());
    tape_.texts_ += text;
    return true;
  }

  bool Open(Kind kind) {
    open_.push_back(static_cast<uint32_t>(tape_.values_.size()));
    return Add(kind, 0, 0);
  }

  bool Close() {
    tape_.values_[open_.back()].size = static_cast<uint32_t>(tape_.values_.size());
    open_.pop_back();
    return true;
  }

  JsonTape& tape_;
  std::vector<uint32_t> open_;
};

bool JsonTape::Read(std::string_view text) {
  values_.reserve(text.size() / 12);
  TapeEvents events(*this);
  return nlohmann::json::sax_parse(text.begin(), text.end(), &events) && !values_.empty();
}

}  // namespace pgparsed::grammar
