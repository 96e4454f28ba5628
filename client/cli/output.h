// Standard output and what is known about the terminal behind it.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace pgparsed::cli {

// Writes to a file descriptor through a buffer. A reader that went away (`| head`) is no error:
// from then on Write says false and Finish is OK. Not thread-safe.
class Output {
 public:
  explicit Output(int fd);

  // False: stop, nothing more will arrive.
  bool Write(std::string_view text);

  // Writes what is left. INTERNAL when something could not be written (a full disk).
  absl::Status Finish();

  bool is_terminal() const { return is_terminal_; }
  // A terminal, NO_COLOR is not set and TERM is not "dumb".
  bool colour() const { return colour_; }
  // Columns of the terminal; 100 when it is none.
  int width() const { return width_; }

 private:
  void Flush();

  const int fd_;
  bool is_terminal_;
  bool colour_;
  int width_;
  int error_ = 0;  // errno of the first write that failed
  std::string buffer_;
};

}  // namespace pgparsed::cli
