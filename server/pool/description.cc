#include "pool/description.h"

#include <cstring>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "channel/sections.h"

namespace pgparsed::pool {
namespace {

constexpr uint64_t kMostBytes = 64u << 10;
constexpr uint32_t kLongestString = 256;

}  // namespace

channel::JobHeader DescribeJob() {
  channel::JobHeader header;
  header.operations = channel::kOpDescribe;
  header.max_answer_bytes = kMostBytes;
  return header;
}

absl::StatusOr<GrammarStatus> ReadDescription(const channel::UnreadAnswer& unread, uint32_t major) {
  absl::StatusOr<channel::Answer> answer = channel::ReadAnswer(unread);
  if (!answer.ok()) return absl::FailedPreconditionError(answer.status().message());
  for (const channel::Section& section : answer->sections) {
    channel::DescriptionRecord record;
    if (section.kind != channel::SectionKind::kDescription ||
        section.payload.size() < sizeof(record)) {
      continue;
    }
    std::memcpy(&record, section.payload.data(), sizeof(record));
    std::string_view strings = section.payload.substr(sizeof(record));
    if (record.major != major) {
      return absl::FailedPreconditionError(
          absl::StrCat("it has grammar ", record.major, ", which is not what its name says"));
    }
    GrammarStatus status;
    status.major = record.major;
    status.postgres_version_num = record.postgres_version_num;
    status.features = record.features;
    const auto take = [&strings](uint32_t size, std::string& to) {
      if (size > kLongestString || size > strings.size()) return false;
      to = std::string(strings.substr(0, size));
      strings.remove_prefix(size);
      return true;
    };
    if (!take(record.library_version_bytes, status.library_version) ||
        !take(record.postgres_version_bytes, status.postgres_version) ||
        !take(record.allocator_bytes, status.allocator)) {
      break;
    }
    return status;
  }
  return absl::FailedPreconditionError("it does not introduce itself as a worker does");
}

}  // namespace pgparsed::pool
