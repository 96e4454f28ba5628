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

// Writes one answer from the front of a region of memory. Sections that do not fit are not
// written; the writer then only counts what would have been needed (overflowed(), needed_bytes()).
// Not thread-safe.
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

  // Takes back everything written since the section count was `count` (see section_count()).
  void TruncateTo(uint32_t count);

  uint32_t section_count() const { return static_cast<uint32_t>(starts_.size()); }
  bool overflowed() const { return needed_ > limit_; }
  // Bytes of the answer, written or not, header included.
  uint64_t needed_bytes() const { return needed_; }

  // Writes the header. After an overflow the caller must have truncated and added an error.
  // Returns the answer's total bytes.
  uint64_t Finish(uint64_t parse_ns, uint64_t convert_ns);

 private:
  std::byte* const base_;
  const uint64_t limit_;
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

// The sections of the answer in `region`, at most `answer_bytes` of it (what the channel says;
// checked here). An answer that breaks a rule is an INTERNAL error: its worker must go.
struct Answer {
  AnswerHeader header;
  std::vector<Section> sections;
};
absl::StatusOr<Answer> ReadAnswer(std::span<const std::byte> region, uint64_t answer_bytes);

}  // namespace pgparsed::channel
