// A log file, or standard input, line by line in constant memory.
//
// Not thread-safe. Everything that reads blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace pgparsed::cli {

// The longest line, and the longest entry of several lines, in bytes: beyond what any server takes
// as a query.
inline constexpr size_t kMaxLogRecordBytes = 32u << 20;

// A line of a log.
struct LogLine {
  std::string_view text;  // without its delimiter; valid until the next call
  uint64_t number = 0;    // from 1
  bool too_long = false;  // longer than kMaxLogRecordBytes: `text` is empty
};

class LogInput {
 public:
  // "-" is standard input. Lines end with `delimiter`. kInvalidRequest when the file cannot be
  // opened.
  static absl::StatusOr<std::unique_ptr<LogInput>> Open(const std::string& path,
                                                        char delimiter = '\n');

  ~LogInput();
  LogInput(const LogInput&) = delete;
  LogInput& operator=(const LogInput&) = delete;

  // The file's name or "<stdin>".
  const std::string& label() const { return label_; }
  // The size of a regular file, else 0.
  uint64_t size() const { return size_; }
  // How much was handed out so far.
  uint64_t bytes_done() const { return done_; }

  // The next line; false: there is none. A byte order mark at the start is left out. The last line
  // needs no line feed. kInvalidRequest when reading fails.
  absl::StatusOr<bool> NextLine(LogLine& line);

  // What comes next, at most `most` bytes and less only at the end of the input; valid until the
  // next call.
  absl::StatusOr<std::string_view> Peek(size_t most);

 private:
  LogInput(int fd, std::string label, uint64_t size, char delimiter);

  // Reads more into buffer_; false: the end.
  absl::StatusOr<bool> Fill();

  const int fd_;
  const std::string label_;
  const uint64_t size_;
  const char delimiter_;
  std::string buffer_;
  size_t begin_ = 0;  // of what is not handed out yet
  bool end_ = false;
  bool started_ = false;
  uint64_t done_ = 0;
  uint64_t lines_ = 0;
};

}  // namespace pgparsed::cli
