// The worker's end of a channel: takes jobs, hands back answers. The layout, the state machine and
// the security section are in channel_layout.h.
//
// One thread of the worker uses it. The worker trusts the front.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "channel/message.h"

namespace pgparsed::channel {

// The descriptor on which a worker finds its channel.
inline constexpr int kWorkerChannelFd = 3;

// What a worker leaves in its channel before it dies of something that it could name.
enum class LastWords : uint32_t {
  kNone = 0,           // it was killed, or crashed in a way that it could not see
  kStackOverflow = 1,  // the job nested deeper than the large stack
  kMemoryLimit = 2,    // an allocation failed at the memory limit
  kFatalSignal = 3,    // SIGSEGV and such, not from the stack
};

// What a worker's allocator says of itself, in bytes. The front shows it and decides nothing by it.
struct MemoryReport {
  uint64_t allocated = 0;  // in use
  uint64_t resident = 0;   // held from the system
  uint64_t retained = 0;   // kept without memory behind it
};

class WorkerEnd {
 public:
  // A worker that has had no job for so long tends its memory.
  static constexpr uint64_t kIdleAfterNs = 100'000'000;

  // Maps the channel behind `fd`. The mapping stays until the end of the process.
  static absl::StatusOr<std::unique_ptr<WorkerEnd>> Open(int fd);
  virtual ~WorkerEnd() = default;

  // A job as it stands in the channel. Views are valid until FinishJob.
  struct Job {
    JobHeader header;
    std::string_view text;
    std::string_view comments;
    std::span<std::byte> answer;
  };

  // Blocks until there is a job. Never returns after the front closed, because the process dies
  // with it (PDEATHSIG). Calls `tend` meanwhile: once when the worker is idle, and whenever the
  // front asks for it.
  virtual Job NextJob(absl::FunctionRef<void()> tend) = 0;
  Job NextJob() {
    return NextJob([] {});
  }

  // Tells the front.
  virtual void Report(const MemoryReport& report) = 0;

  // Tells the front that the first `used` bytes of the last window hold a piece (0: nothing yet)
  // and gives the next window that is free, of kPieceBytes. Blocks until there is one. For a job
  // with kFlagTreeInPieces; its answer must stay below the windows.
  virtual std::span<std::byte> NextPiece(size_t used) = 0;

  // The first `used` bytes of the last window are the last piece.
  virtual void FinishPieces(size_t used) = 0;

  // Hands the answer to the front. `answer_bytes` is what AnswerWriter::Finish returned.
  virtual void FinishJob(uint64_t answer_bytes) = 0;

  // Async-signal-safe: leaves last words for the front. The caller exits next.
  virtual void SayLastWords(LastWords words) = 0;
};

}  // namespace pgparsed::channel
