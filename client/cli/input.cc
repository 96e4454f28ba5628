#include "cli/input.h"

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

constexpr size_t kMostBytes = 1u << 30;
constexpr size_t kPieceBytes = 256u << 10;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

absl::Status BadInput(const std::string& label, const std::string& why) {
  return MakeError(Reason::kInvalidRequest, absl::StrCat(label, ": ", why));
}

absl::StatusOr<Input> ReadAll(int fd, std::string label) {
  Input input{std::move(label), {}};
  while (true) {
    const size_t size = input.text.size();
    if (size > kMostBytes) {
      return BadInput(input.label, "it is larger than 1 GiB, which no server takes in one piece");
    }
    input.text.resize(size + kPieceBytes);
    const ssize_t got = ::read(fd, input.text.data() + size, kPieceBytes);
    input.text.resize(size + static_cast<size_t>(got > 0 ? got : 0));
    if (got == 0) break;
    if (got < 0 && errno != EINTR) return BadInput(input.label, std::strerror(errno));
  }
  if (input.text.starts_with(kByteOrderMark)) input.text.erase(0, kByteOrderMark.size());
  return input;
}

}  // namespace

absl::StatusOr<Input> ReadInput(const std::optional<std::string>& argument,
                                const std::optional<std::string>& file, const std::string& hint) {
  if (argument.has_value() && *argument != "-") return Input{"<query>", *argument};
  if (!argument.has_value() && file.has_value() && *file != "-") {
    const int fd = ::open(file->c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return BadInput(*file, std::strerror(errno));
    absl::StatusOr<Input> input = ReadAll(fd, *file);
    ::close(fd);
    return input;
  }
  if (::isatty(STDIN_FILENO) == 1) {
    const std::string line = hint + "\n";
    [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, line.data(), line.size());
  }
  return ReadAll(STDIN_FILENO, "<stdin>");
}

}  // namespace pgparsed::cli
