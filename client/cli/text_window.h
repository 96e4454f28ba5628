// The last part of a text that is read once: what answers about it, which come later, are shown
// with.
//
// Thread-safe: one thread appends, another looks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

namespace pgparsed::cli {

class TextWindow {
 public:
  // Keeps at least the last `keep` bytes, and less than twice as many.
  explicit TextWindow(size_t keep) : keep_(keep) {}

  // Forgets everything; the next bytes stand at `offset` of the text.
  void Restart(uint64_t offset);
  void Append(std::string_view bytes);

  // What is there of text[begin, end), from its beginning on if that is still there, else empty.
  std::string Read(uint64_t begin, uint64_t end) const;

  // Where the line begins that holds `offset`. `offset` itself when that is not known any more or
  // farther than `reach` bytes before it.
  uint64_t LineBegin(uint64_t offset, size_t reach) const;

 private:
  const size_t keep_;
  mutable std::mutex mutex_;
  std::string text_;
  uint64_t begin_ = 0;  // of text_ in the text
};

}  // namespace pgparsed::cli
