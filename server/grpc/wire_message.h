// A request that is read in place: views of its fields instead of a message object with a copy of
// each query. For streams, whose chunks hold thousands; and because protobuf refuses a whole chunk
// when one string in it is not valid UTF-8, which here is the matter of one query.
//
// Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>

#include "absl/status/statusor.h"

namespace pgparsed::grpc_door {

// A length-delimited field.
struct WireField {
  int number = 0;
  std::string_view bytes;
};

class WireMessage {
 public:
  // Shares the buffer's memory if it is in one piece, else copies it.
  explicit WireMessage(const grpc::ByteBuffer& buffer);

  std::string_view bytes() const {
    return {reinterpret_cast<const char*>(slice_.begin()), slice_.size()};
  }

  // The last length-delimited field of those numbers, as a oneof is read: others are passed over.
  // nullopt if there is none or the message is malformed.
  std::optional<WireField> LastOf(std::initializer_list<int> numbers) const;

 private:
  grpc::Slice slice_;
};

// The values of a repeated string field of a message, unchecked as to UTF-8; other fields are
// passed over. Of more than `most` values the first most + 1 come: they take more memory than the
// message. kInvalidRequest if the message is malformed.
absl::StatusOr<std::vector<std::string_view>> StringsOf(std::string_view message, int field,
                                                        size_t most);

// The values of a repeated field of varints, packed or not; of more than `most` the first most + 1.
// kInvalidRequest if the message is malformed.
absl::StatusOr<std::vector<uint64_t>> NumbersOf(std::string_view message, int field, size_t most);

}  // namespace pgparsed::grpc_door
