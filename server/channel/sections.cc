#include "channel/sections.h"

#include <algorithm>
#include <cstring>

namespace pgparsed::channel {
namespace {

constexpr uint64_t PadTo8(uint64_t bytes) { return (bytes + 7) & ~uint64_t{7}; }

// More sections than any job can ask for: an answer with more is not one.
constexpr uint32_t kMaxSections = 256;

}  // namespace

AnswerWriter::AnswerWriter(std::span<std::byte> region, uint64_t max_bytes)
    : base_(region.data()),
      region_(region.size()),
      limit_(std::min<uint64_t>(region.size(), max_bytes)) {}

void AnswerWriter::Begin(SectionKind kind) {
  section_start_ = needed_;
  starts_.push_back(needed_);
  const SectionHeader header{.kind = kind, .reserved = 0, .bytes = 0};
  Append({reinterpret_cast<const char*>(&header), sizeof(header)});
}

void AnswerWriter::Append(std::string_view bytes) {
  if (bytes.empty()) return;
  if (needed_bytes() + bytes.size() <= limit_)
    std::memcpy(base_ + needed_, bytes.data(), bytes.size());
  needed_ += bytes.size();
}

void AnswerWriter::End() {
  const uint64_t payload = needed_ - section_start_ - sizeof(SectionHeader);
  const uint64_t padded = section_start_ + sizeof(SectionHeader) + PadTo8(payload);
  if (padded + tail_bytes_ <= limit_) {
    std::memset(base_ + needed_, 0, padded - needed_);
    std::memcpy(base_ + section_start_ + offsetof(SectionHeader, bytes), &payload, sizeof(payload));
  }
  needed_ = padded;
}

std::span<char> AnswerWriter::Room(uint64_t spare) const {
  const uint64_t taken = needed_bytes() + spare;
  return {reinterpret_cast<char*>(base_ + needed_), taken < region_ ? region_ - taken : 0};
}

std::span<char> AnswerWriter::TailRoom(uint64_t spare) const {
  const std::span<char> room = Room(spare);
  return {room.data() + spare, room.size()};
}

void AnswerWriter::AddTail(SectionKind kind, uint64_t bytes) {
  tail_kind_ = kind;
  tail_bytes_ = bytes;
}

void AnswerWriter::DropTail() { tail_bytes_ = 0; }

void AnswerWriter::Add(SectionKind kind, std::string_view payload) {
  Begin(kind);
  Append(payload);
  End();
}

void AnswerWriter::AddColumn(SectionKind kind, std::span<const uint32_t> column) {
  Add(kind, {reinterpret_cast<const char*>(column.data()), column.size_bytes()});
}

void AnswerWriter::TruncateTo(uint32_t count) {
  if (count >= starts_.size()) return;
  needed_ = starts_[count];
  starts_.resize(count);
}

uint64_t AnswerWriter::Finish(uint64_t parse_ns, uint64_t convert_ns) {
  const AnswerHeader header{.version = kProtocolVersion,
                            .section_count = section_count(),
                            .total_bytes = needed_,
                            .parse_ns = parse_ns,
                            .convert_ns = convert_ns,
                            .tail_bytes = tail_bytes_,
                            .tail_kind = tail_kind_};
  std::memcpy(base_, &header, sizeof(header));
  return needed_;
}

absl::StatusOr<Answer> ReadAnswer(const UnreadAnswer& unread) {
  const std::span<const std::byte> region = unread.region;
  const uint64_t answer_bytes = unread.bytes;
  if (answer_bytes < sizeof(AnswerHeader) || answer_bytes > region.size()) {
    return absl::InternalError("the worker's answer has an impossible size");
  }
  Answer answer;
  std::memcpy(&answer.header, region.data(), sizeof(AnswerHeader));
  if (answer.header.version != kProtocolVersion) {
    return absl::InternalError(
        "the worker speaks another version of the channel: install pgparsed and its workers "
        "from one build");
  }
  if (answer.header.section_count > kMaxSections || answer.header.total_bytes != answer_bytes) {
    return absl::InternalError("the worker's answer contradicts itself");
  }
  if (answer.header.tail_bytes > region.size() - answer_bytes) {
    return absl::InternalError("the tail of the worker's answer does not fit");
  }
  answer.sections.reserve(answer.header.section_count + 1);
  uint64_t at = sizeof(AnswerHeader);
  for (uint32_t i = 0; i < answer.header.section_count; ++i) {
    SectionHeader header;
    if (answer_bytes - at < sizeof(header)) {
      return absl::InternalError("a section of the worker's answer has no header");
    }
    std::memcpy(&header, region.data() + at, sizeof(header));
    at += sizeof(header);
    // Compared without padding first: PadTo8 of a huge size would wrap around.
    if (header.bytes > answer_bytes - at || PadTo8(header.bytes) > answer_bytes - at) {
      return absl::InternalError("a section of the worker's answer is longer than the answer");
    }
    answer.sections.push_back(
        {header.kind, {reinterpret_cast<const char*>(region.data() + at), header.bytes}});
    at += PadTo8(header.bytes);
  }
  if (const uint64_t bytes = answer.header.tail_bytes; bytes > 0) {
    const auto tail = region.last(bytes);
    answer.sections.push_back(
        {answer.header.tail_kind, {reinterpret_cast<const char*>(tail.data()), tail.size()}});
  }
  return answer;
}

}  // namespace pgparsed::channel
