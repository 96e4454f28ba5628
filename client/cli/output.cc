#include "cli/output.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "pgparsed/errors.h"

namespace pgparsed::cli {
namespace {

constexpr size_t kBufferBytes = 64u << 10;

bool IsSet(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

bool DumbTerminal() {
  const char* term = std::getenv("TERM");
  return term == nullptr || std::strcmp(term, "dumb") == 0;
}

int TerminalWidth(int fd) {
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col < 20) return 100;
  return size.ws_col;
}

}  // namespace

Output::Output(int fd)
    : fd_(fd),
      is_terminal_(::isatty(fd) == 1),
      colour_(is_terminal_ && !IsSet("NO_COLOR") && !DumbTerminal()),
      width_(is_terminal_ ? TerminalWidth(fd) : 100) {}

bool Output::Write(std::string_view text) {
  if (error_ != 0) return false;
  buffer_.append(text);
  if (buffer_.size() >= kBufferBytes) Flush();
  return error_ == 0;
}

absl::Status Output::Finish() {
  Flush();
  if (error_ == 0 || error_ == EPIPE) return absl::OkStatus();
  return MakeError(Reason::kInternal,
                   absl::StrCat("cannot write the output: ", std::strerror(error_)));
}

void Output::Flush() {
  std::string_view rest = buffer_;
  while (!rest.empty() && error_ == 0) {
    const ssize_t written = ::write(fd_, rest.data(), rest.size());
    if (written >= 0) {
      rest.remove_prefix(static_cast<size_t>(written));
    } else if (errno != EINTR) {
      error_ = errno;
    }
  }
  buffer_.clear();
}

}  // namespace pgparsed::cli
