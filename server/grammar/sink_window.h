// A writer's view of a ByteSink: the window that it writes into now. For sources of this folder.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "grammar/byte_sink.h"

namespace pgparsed::grammar {

class SinkWindow {
 public:
  explicit SinkWindow(ByteSink& sink) : sink_(sink) {}

  // Where the first byte goes.
  char* Begin() {
    Take(sink_.Next(0));
    return begin_;
  }

  // `p`, or where to go on, with room for `bytes`, at most kLeastWindow less one. The byte before
  // it is always the one that was written last.
  char* Room(char* p, size_t bytes) {
    return static_cast<size_t>(end_ - p) >= bytes ? p : NextWindow(p);
  }

  // Writes a run of bytes of any size.
  char* Put(char* p, std::string_view bytes) {
    while (static_cast<size_t>(end_ - p) < bytes.size()) {
      const size_t fits = static_cast<size_t>(end_ - p);
      std::memcpy(p, bytes.data(), fits);
      bytes.remove_prefix(fits);
      p = NextWindow(p + fits);
    }
    if (!bytes.empty()) std::memcpy(p, bytes.data(), bytes.size());
    return p + bytes.size();
  }

  // `p` is the end of all.
  void End(const char* p) {
    const auto used = static_cast<size_t>(p - begin_);
    total_ += used;
    sink_.Finish(used);
  }

  // Bytes that the sink has taken.
  uint64_t total() const { return total_; }

 private:
  void Take(std::span<char> window) {
    begin_ = window.data();
    end_ = begin_ + window.size();
  }

  // The last byte moves into the next window: a writer may still take it back.
  [[gnu::noinline]] char* NextWindow(const char* p) {
    const auto used = static_cast<size_t>(p - begin_);
    if (used == 0) {
      Take(sink_.Next(0));
      return begin_;
    }
    const char last = p[-1];
    total_ += used - 1;
    Take(sink_.Next(used - 1));
    *begin_ = last;
    return begin_ + 1;
  }

  ByteSink& sink_;
  char* begin_ = nullptr;
  char* end_ = nullptr;
  uint64_t total_ = 0;
};

}  // namespace pgparsed::grammar
