// ParseScript without its door: bytes of a script in, answers about its pieces out, in order and in
// bounded memory.
//
// The splitter cuts the bytes into pieces as they come; some pieces in a row are a group, whose
// statements are run as one chunk of an ItemStream. Only so many groups are worked on or wait to be
// sent; the rest of the last bytes waits as text, and while it does no more bytes should be fed
// (HasRoom).
//
// Feed and Finish are called by one thread at a time, everything else by any. Callbacks come on
// threads of the pool, or before a call returns, and must not block.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "pgparsed/v1/streams.pb.h"
#include "service/backend.h"
#include "service/item_stream.h"
#include "splitter/splitter.h"
#include "sync/mutex.h"

namespace pgparsed::service {

struct ScriptAnswer {
  // Without `results`: those are `columns` (item_results.h).
  v1::ParseScriptResponse head;
  std::vector<std::string> columns;
};

class ScriptStream : public std::enable_shared_from_this<ScriptStream> {
 public:
  // A group is closed when it has so many statements, bytes of statements, or pieces: about the
  // work of one job.
  static constexpr size_t kGroupStatements = ItemStream::kJobItems;
  static constexpr size_t kGroupBytes = ItemStream::kJobBytes;
  static constexpr int kGroupPieces = 1024;

  struct Callbacks {
    // An error is the end of the stream.
    std::function<void(absl::StatusOr<ScriptAnswer>)> answer;
    // HasRoom is true again.
    std::function<void()> room;
    // After Finish: the last answer has been reported as sent.
    std::function<void()> end;
  };

  ScriptStream(Backend::OpenStream stream, const splitter::Options& options, Callbacks callbacks);

  // The next bytes of the script.
  void Feed(std::string_view bytes) ABSL_LOCKS_EXCLUDED(mutex_);
  // The script is over.
  void Finish() ABSL_LOCKS_EXCLUDED(mutex_);

  // Whether more bytes may be fed. If not, `room` is called when they may.
  bool HasRoom() ABSL_LOCKS_EXCLUDED(mutex_);
  // An answer has left: another group may be run.
  void OnAnswerSent() ABSL_LOCKS_EXCLUDED(mutex_);
  // Ends everything; no callback comes any more.
  void Cancel();

 private:
  struct Group {
    v1::ParseScriptResponse head;
    std::string text;                                   // of all its statements
    std::vector<std::pair<size_t, size_t>> statements;  // begin and length in `text`
    ItemStream::Refused refused;
    bool standard_strings = true;  // how the statements are to be parsed
  };

  void Take(const splitter::Piece& piece, std::string_view text);
  void CloseGroup();
  void Run(Group group);
  void Work() ABSL_LOCKS_EXCLUDED(mutex_);

  const Backend::OpenStream stream_;
  const Callbacks callbacks_;

  // Of the feeding thread.
  splitter::Splitter splitter_;
  Group open_;

  sync::Mutex mutex_;
  std::deque<Group> waiting_ ABSL_GUARDED_BY(mutex_);
  uint32_t in_flight_ ABSL_GUARDED_BY(mutex_) = 0;  // groups that run or are not yet sent
  bool working_ ABSL_GUARDED_BY(mutex_) = false;    // a thread is in Work
  bool work_again_ ABSL_GUARDED_BY(mutex_) = false;
  bool room_wanted_ ABSL_GUARDED_BY(mutex_) = false;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace pgparsed::service
