// Where a writer's bytes go: memory that is handed over in windows, so that the writer needs to
// hold no more than one of them and the sink decides how many there are at a time.
#pragma once

#include <cstddef>
#include <span>

namespace pgparsed::grammar {

class ByteSink {
 public:
  // No writer asks for a window smaller than this, or needs a larger one to go on.
  static constexpr size_t kLeastWindow = 4096;

  virtual ~ByteSink() = default;

  // Takes the first `used` bytes of the last window, and gives the next one, of at least
  // kLeastWindow bytes. The first call has `used` 0. May block until there is room.
  virtual std::span<char> Next(size_t used) = 0;

  // Takes the first `used` bytes of the last window: the end.
  virtual void Finish(size_t used) = 0;
};

}  // namespace pgparsed::grammar
