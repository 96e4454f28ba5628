// The shared-memory channel between the front and one worker: layout, state machine, security.
//
// Layout
// ------
// One anonymous memfd per worker, sealed at its size. Everything but the control page is sparse: a
// page exists only once it was written, and pages beyond kKeptBytes of a region go back to the
// system when the worker is idle, or when its slot is freed and the file has more than
// kMostKeptBytes.
//
//   offset 0                    ControlPage (the rest of kControlBytes is never touched)
//   kControlBytes               slot 0: text region (text_bytes), answer region (answer_bytes)
//   kControlBytes + stride      slot 1: ...
//   ...                         stride = text_bytes + answer_bytes; all are multiples of 64 KiB
//
//   text region                 JobHeader | pad to 128 | text | NUL | pad to 8 | comments
//   answer region               AnswerHeader | sections (sections.h)
//                               in the last kPieceWindows * kPieceBytes: windows for pieces
//
// The NUL behind the text is the front's promise: the worker may hand the text to C code as it is.
//
// State machine of a slot (SlotControl::state)
// --------------------------------------------
//
//            front: job written            worker: took it
//   kFree ---------------------> kRequested --------------> kRunning
//     ^                                                         |
//     |   front: last lease gone                                | worker: answer written
//     +------------------------------- kAnswered <--------------+
//
// The front has one job with the worker at a time. The other slots are free, or hold answers that
// are still read in place (a lease, front_end.h): so the worker runs the next job while an earlier
// answer is being sent. With all slots leased the worker idles until one comes back; how long that
// is depends on how fast clients take what they asked for.
//
// Pieces
// ------
// A tree that is asked for in pieces (kFlagTreeInPieces) leaves through the windows while the job
// runs: the worker fills window 0, 1, … in turn and says how many bytes it has (SlotControl::
// piece_bytes, which is 0 while a window is free); the front lends it out and sets it back to 0
// when nobody reads it any more. With no window free the worker waits: so neither side ever holds
// more of the tree than the windows.
//
// Doorbells
// ---------
// Each side sleeps on a futex word that the other one increments ("rings"). A sleeper first sets
// its `sleeping` flag; who rings makes the system call only if that flag is set. All four accesses
// are sequentially consistent, so either the ringer sees the flag or the sleeper sees the ring.
// Before it sleeps a side spins for a short while, if the front found that there is a CPU to spare.
//
// Security
// --------
// The front is trusted. A worker is not: it parses what strangers wrote, in C, and is to be taken
// for hostile from its first job on. Both map the whole file read-write, so a hostile worker can
// change any byte at any time, and:
//
//   it lies about lengths, states,      the front reads every such value once into a local and
//   section counts                      checks it against its own copy of the geometry
//   (front_end.cc,
//                                       sections.cc); a lie is the end of that worker
//   it changes the geometry, or frees   the front never reads these back: the geometry and which
//   a slot that is leased               slots are free are kept in its own memory
//   it changes an answer while the      payloads have checked bounds; who decides by their content
//   front reads it                      copies it first
//   it shrinks or grows the file        F_SEAL_SHRINK, F_SEAL_GROW, F_SEAL_SEAL: no SIGBUS
//   it punches holes in the file        they read as zeros
//   it maps the file executable or      MFD_NOEXEC_SEAL where the kernel has it; the descriptor is
//   executes it                         closed after mapping and the sandbox allows no execve
//   it fills a window that is lent      the front knows by its own flags which windows are lent,
//   and out                                 reads them in turn only it rings without end the
//   front's thread that feeds this worker wakes up for
//                                       nothing, until the job's time is over
//   it does not ring, clears the        the job's time runs out; and the front's own wake-ups (the
//   sleeping flag, or moves the         worker died, the job was cancelled) ignore the flag, while
//   sleeper with FUTEX_REQUEUE          no sleep is longer than kLongestSleep
//   it fills its slots with junk        the file's size bounds it; a slot is given back with its
//                                       pages whenever the file has more of them than it should
//   it reaches for other workers' jobs  each worker has a channel of its own, without a name
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "channel/message.h"

namespace pgparsed::channel {

inline constexpr uint64_t kChannelMagic = 0x3143'6465'7372'6770;  // "pgrsedC1"
inline constexpr uint32_t kMaxSlots = 8;
// Slots and regions start at multiples of this, whatever the page size.
inline constexpr uint64_t kRegionAlignment = 64u << 10;
inline constexpr uint64_t kControlBytes = kRegionAlignment;
// Pages that a free slot's region may keep, for the next job, when the channel is trimmed.
inline constexpr uint64_t kKeptBytes = 256u << 10;
// A slot is trimmed when it is given back and the file has more than this: so answers of 1 MiB come
// again without a page fault.
inline constexpr uint64_t kMostKeptBytes = 8u << 20;
// Where the text starts in the text region.
inline constexpr uint64_t kTextOffset = 128;
// The windows for pieces of a tree, at the end of an answer region.
inline constexpr uint32_t kPieceWindows = 4;
inline constexpr uint64_t kPieceBytes = 1u << 20;
inline constexpr uint64_t kPiecesBytes = kPieceWindows * kPieceBytes;

enum SlotState : uint32_t {
  kFree = 0,
  kRequested = 1,
  kRunning = 2,
  kAnswered = 3,
};

struct alignas(64) Doorbell {
  std::atomic<uint32_t> rings{0};     // the futex word
  std::atomic<uint32_t> sleeping{0};  // by whom the bell is meant for
};

struct alignas(64) SlotControl {
  std::atomic<uint32_t> state{kFree};
  std::atomic<uint64_t> answer_bytes{0};  // by the worker, before kAnswered
  std::atomic<uint32_t> piece_bytes[kPieceWindows]{};
};

struct ControlPage {
  // Written by the front before the worker exists; for the worker only.
  uint64_t magic = kChannelMagic;
  uint32_t version = kProtocolVersion;
  uint32_t slot_count = 0;
  uint64_t text_bytes = 0;    // of a text region
  uint64_t answer_bytes = 0;  // of an answer region
  int32_t front_pid = 0;
  uint32_t worker_spin_ns = 0;  // 0: do not spin

  Doorbell worker_bell;                      // rung by the front, slept on by the worker
  Doorbell front_bell;                       // the other way round
  std::atomic<uint32_t> last_words{0};       // a LastWords
  std::atomic<uint32_t> purge_wanted{0};     // by the front, which then rings
  std::atomic<uint64_t> allocated_bytes{0};  // MemoryReport, by the worker
  std::atomic<uint64_t> resident_bytes{0};
  std::atomic<uint64_t> retained_bytes{0};
  SlotControl slots[kMaxSlots];
};

static_assert(std::atomic<uint32_t>::is_always_lock_free &&
              std::atomic<uint64_t>::is_always_lock_free);
static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t));
static_assert(sizeof(ControlPage) <= 4096);
static_assert(sizeof(JobHeader) <= kTextOffset);

constexpr uint64_t RoundUp(uint64_t value, uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// Where the comments start in the text region.
constexpr uint64_t CommentsOffset(uint64_t text_bytes) {
  return RoundUp(kTextOffset + text_bytes + 1, 8);
}

// Where a slot's regions start in the file.
constexpr uint64_t TextRegionOffset(uint64_t text_region, uint64_t answer_region, uint32_t slot) {
  return kControlBytes + slot * (text_region + answer_region);
}
// Where a window for pieces starts in an answer region of that size.
constexpr uint64_t PieceOffset(uint64_t answer_region, uint32_t window) {
  return answer_region - kPiecesBytes + window * kPieceBytes;
}
constexpr uint64_t AnswerRegionOffset(uint64_t text_region, uint64_t answer_region, uint32_t slot) {
  return TextRegionOffset(text_region, answer_region, slot) + text_region;
}

}  // namespace pgparsed::channel
