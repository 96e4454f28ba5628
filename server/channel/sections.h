// Sections of an answer: written by a worker into the channel, read by the front out of it.
// The layout is message.h's. The writer trusts its caller, the reader trusts nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "channel/message.h"

namespace pgparsed::channel {

// Writes one answer from the front of a region of memory; one section may stand at the region's end
// instead. Sections that do not fit are not written; the writer then only counts what would have
// been needed (overflowed(), needed_bytes()). Not thread-safe.
class AnswerWriter {
 public:
  // Both must outlive the writer. `max_bytes` bounds the answer below the region's size.
  AnswerWriter(std::span<std::byte> region, uint64_t max_bytes);

  // Adds a section with a copy of the payload.
  void Add(SectionKind kind, std::string_view payload);

  // Adds a section of u32 values.
  void AddColumn(SectionKind kind, std::span<const uint32_t> column);

  // The same in pieces: Begin, any number of Append, End. Sections do not nest.
  void Begin(SectionKind kind);
  void Append(std::string_view bytes);
  void End();

  // What can be written in place now, between Begin and End: the free part of the region, less
  // `spare` bytes at its end. Appended() takes the first `bytes` of it as the payload; more bytes
  // than it has are an overflow.
  std::span<char> Room(uint64_t spare) const;
  void Appended(uint64_t bytes) { needed_ += bytes; }

  // The tail: one section that somebody wrote at the end of TailRoom(), back to front. That is the
  // end of the region, and leaves `spare` bytes for more sections. Once, outside of Begin and End.
  std::span<char> TailRoom(uint64_t spare) const;
  void AddTail(SectionKind kind, uint64_t bytes);
  void DropTail();

  // Takes back everything written since the section count was `count` (see section_count()).
  void TruncateTo(uint32_t count);

  uint32_t section_count() const { return static_cast<uint32_t>(starts_.size()); }
  bool overflowed() const { return needed_bytes() > limit_; }
  // Bytes of the answer, written or not, header and tail included.
  uint64_t needed_bytes() const { return needed_ + tail_bytes_; }

  // Writes the header. After an overflow the caller must have truncated and added an error.
  // Returns the answer's total bytes, without the tail.
  uint64_t Finish(uint64_t parse_ns, uint64_t convert_ns);

 private:
  std::byte* const base_;
  const uint64_t region_;
  const uint64_t limit_;
  SectionKind tail_kind_{};
  uint64_t tail_bytes_ = 0;
  uint64_t needed_ = sizeof(AnswerHeader);
  uint64_t section_start_ = 0;
  std::vector<uint64_t> starts_;
};

// One section of an answer. The payload is a view into shared memory: its bounds are checked, its
// bytes may change under the reader, who therefore copies before checking content.
struct Section {
  SectionKind kind{};
  std::string_view payload;
};

// An answer as a worker left it: nothing of it is checked.
struct UnreadAnswer {
  std::span<const std::byte> region;
  uint64_t bytes = 0;  // of the region's beginning, as the worker says
};

struct Answer {
  AnswerHeader header;
  std::vector<Section> sections;
};

// The sections of an answer; the tail, if there is one, is the last of them. An answer that breaks
// a rule is an INTERNAL error: its worker must go.
absl::StatusOr<Answer> ReadAnswer(const UnreadAnswer& unread);

}  // namespace pgparsed::channel
