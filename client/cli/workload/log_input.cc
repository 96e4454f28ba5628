#include "cli/workload/log_input.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "pgparsed/errors.h"

namespace pgparsed::cli {
namespace {

constexpr size_t kPieceBytes = 256u << 10;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

absl::Status BadInput(const std::string& label) {
  return MakeError(Reason::kInvalidRequest, absl::StrCat(label, ": ", std::strerror(errno)));
}

uint64_t SizeOf(int fd) {
  struct stat status {};
  if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) return 0;
  return static_cast<uint64_t>(status.st_size);
}

}  // namespace

absl::StatusOr<std::unique_ptr<LogInput>> LogInput::Open(const std::string& path, char delimiter) {
  if (path == "-") {
    return std::unique_ptr<LogInput>(
        new LogInput(STDIN_FILENO, "<stdin>", SizeOf(STDIN_FILENO), delimiter));
  }
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return BadInput(path);
  return std::unique_ptr<LogInput>(new LogInput(fd, path, SizeOf(fd), delimiter));
}

LogInput::LogInput(int fd, std::string label, uint64_t size, char delimiter)
    : fd_(fd), label_(std::move(label)), size_(size), delimiter_(delimiter) {}

LogInput::~LogInput() {
  if (fd_ != STDIN_FILENO) ::close(fd_);
}

absl::StatusOr<bool> LogInput::Fill() {
  if (end_) return false;
  if (begin_ > 0) {
    buffer_.erase(0, begin_);
    begin_ = 0;
  }
  const size_t size = buffer_.size();
  buffer_.resize(size + kPieceBytes);
  ssize_t got;
  do {
    got = ::read(fd_, buffer_.data() + size, kPieceBytes);
  } while (got < 0 && errno == EINTR);
  buffer_.resize(size + static_cast<size_t>(got > 0 ? got : 0));
  if (got < 0) return BadInput(label_);
  end_ = got == 0;
  return !end_;
}

absl::StatusOr<std::string_view> LogInput::Peek(size_t most) {
  while (buffer_.size() - begin_ < most) {
    const absl::StatusOr<bool> more = Fill();
    if (!more.ok()) return more.status();
    if (!*more) break;
  }
  if (!started_ && std::string_view(buffer_).starts_with(kByteOrderMark)) {
    begin_ = kByteOrderMark.size();
    done_ += kByteOrderMark.size();
  }
  started_ = true;
  return std::string_view(buffer_).substr(begin_, most);
}

absl::StatusOr<bool> LogInput::NextLine(LogLine& line) {
  if (!started_) {
    if (const auto first = Peek(kByteOrderMark.size()); !first.ok()) return first.status();
  }
  line = LogLine{.number = ++lines_};
  size_t searched = 0;
  while (true) {
    const std::string_view rest = std::string_view(buffer_).substr(begin_);
    const size_t feed = rest.find(delimiter_, searched);
    const size_t length = feed == std::string_view::npos ? rest.size() : feed;
    if (length > kMaxLogRecordBytes) line.too_long = true;
    if (feed != std::string_view::npos || (end_ && !rest.empty()) || (end_ && line.too_long)) {
      const size_t taken = feed == std::string_view::npos ? length : length + 1;
      if (!line.too_long) line.text = rest.substr(0, length);
      begin_ += taken;
      done_ += taken;
      return true;
    }
    if (end_) return false;
    if (line.too_long) {  // no need to keep it
      done_ += rest.size();
      begin_ = buffer_.size();
    }
    searched = line.too_long ? 0 : rest.size();
    if (const absl::StatusOr<bool> more = Fill(); !more.ok()) return more.status();
  }
}

}  // namespace pgparsed::cli
