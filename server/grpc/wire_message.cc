#include "grpc/wire_message.h"

#include <algorithm>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include "absl/functional/function_ref.h"
#include "pgparsed/errors.h"

namespace pgparsed::grpc_door {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

// Calls `take` for each length-delimited field at the top level. False if the message is malformed.
bool EachField(std::string_view message, absl::FunctionRef<void(const WireField&)> take) {
  CodedInputStream input(reinterpret_cast<const uint8_t*>(message.data()),
                         static_cast<int>(message.size()));
  while (const uint32_t tag = input.ReadTag()) {
    if (WireFormatLite::GetTagWireType(tag) != WireFormatLite::WIRETYPE_LENGTH_DELIMITED) {
      if (!WireFormatLite::SkipField(&input, tag)) return false;
      continue;
    }
    uint32_t length = 0;
    if (!input.ReadVarint32(&length)) return false;
    const auto at = static_cast<size_t>(input.CurrentPosition());
    if (length > message.size() - at || !input.Skip(static_cast<int>(length))) return false;
    take({.number = WireFormatLite::GetTagFieldNumber(tag), .bytes = message.substr(at, length)});
  }
  return input.ConsumedEntireMessage();
}

absl::Status MalformedChunk() {
  return MakeError(Reason::kInvalidRequest,
                   "a chunk is not a valid message of the contract; check the client's stubs");
}

}  // namespace

WireMessage::WireMessage(const grpc::ByteBuffer& buffer) {
  // One slice is shared; several are joined.
  grpc::ByteBuffer copy(buffer);
  if (!copy.TrySingleSlice(&slice_).ok()) (void)copy.DumpToSingleSlice(&slice_);
}

std::optional<WireField> WireMessage::LastOf(std::initializer_list<int> numbers) const {
  std::optional<WireField> last;
  const bool ok = EachField(bytes(), [&](const WireField& field) {
    if (std::find(numbers.begin(), numbers.end(), field.number) != numbers.end()) last = field;
  });
  return ok ? last : std::nullopt;
}

absl::StatusOr<std::vector<std::string_view>> StringsOf(std::string_view message, int field,
                                                        size_t most) {
  std::vector<std::string_view> values;
  const bool ok = EachField(message, [&](const WireField& found) {
    if (found.number == field && values.size() <= most) values.push_back(found.bytes);
  });
  if (ok) return values;
  return MalformedChunk();
}

absl::StatusOr<std::vector<uint64_t>> NumbersOf(std::string_view message, int field, size_t most) {
  std::vector<uint64_t> numbers;
  CodedInputStream input(reinterpret_cast<const uint8_t*>(message.data()),
                         static_cast<int>(message.size()));
  while (const uint32_t tag = input.ReadTag()) {
    uint64_t number = 0;
    uint32_t length = 0;
    if (WireFormatLite::GetTagFieldNumber(tag) != field) {
      if (!WireFormatLite::SkipField(&input, tag)) return MalformedChunk();
    } else if (WireFormatLite::GetTagWireType(tag) == WireFormatLite::WIRETYPE_VARINT) {
      if (!input.ReadVarint64(&number)) return MalformedChunk();
      if (numbers.size() <= most) numbers.push_back(number);
    } else if (WireFormatLite::GetTagWireType(tag) == WireFormatLite::WIRETYPE_LENGTH_DELIMITED) {
      if (!input.ReadVarint32(&length) || length > message.size()) return MalformedChunk();
      const auto limit = input.PushLimit(static_cast<int>(length));
      while (input.BytesUntilLimit() > 0) {
        if (!input.ReadVarint64(&number)) return MalformedChunk();
        if (numbers.size() <= most) numbers.push_back(number);
      }
      input.PopLimit(limit);
    } else {
      return MalformedChunk();
    }
  }
  if (!input.ConsumedEntireMessage()) return MalformedChunk();
  return numbers;
}

}  // namespace pgparsed::grpc_door
