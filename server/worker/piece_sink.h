// A ByteSink whose windows are the channel's: what is written leaves piece by piece, and the writer
// waits while the front has no window free.
#pragma once

#include <cstddef>
#include <span>

#include "channel/worker_end.h"
#include "grammar/byte_sink.h"

namespace pgparsed::worker {

class PieceSink final : public grammar::ByteSink {
 public:
  explicit PieceSink(channel::WorkerEnd& channel) : channel_(channel) {}

  std::span<char> Next(size_t used) override {
    const std::span<std::byte> window = channel_.NextPiece(used);
    return {reinterpret_cast<char*>(window.data()), window.size()};
  }

  void Finish(size_t used) override { channel_.FinishPieces(used); }

 private:
  channel::WorkerEnd& channel_;
};

}  // namespace pgparsed::worker
