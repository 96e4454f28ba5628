#include "cli/text_window.h"

#include <algorithm>

namespace pgparsed::cli {

void TextWindow::Restart(uint64_t offset) {
  const std::lock_guard lock(mutex_);
  text_.clear();
  begin_ = offset;
}

void TextWindow::Append(std::string_view bytes) {
  const std::lock_guard lock(mutex_);
  text_.append(bytes);
  if (text_.size() < 2 * keep_) return;
  const size_t surplus = text_.size() - keep_;
  text_.erase(0, surplus);
  begin_ += surplus;
}

std::string TextWindow::Read(uint64_t begin, uint64_t end) const {
  const std::lock_guard lock(mutex_);
  const uint64_t last = begin_ + text_.size();
  if (begin < begin_ || begin >= last || end <= begin) return {};
  return text_.substr(begin - begin_, std::min(end, last) - begin);
}

uint64_t TextWindow::LineBegin(uint64_t offset, size_t reach) const {
  const std::lock_guard lock(mutex_);
  if (offset <= begin_ || offset > begin_ + text_.size()) return offset;
  const size_t at = offset - begin_;
  const size_t first = at > reach ? at - reach : 0;
  const std::string_view before = std::string_view(text_).substr(first, at - first);
  const size_t feed = before.rfind('\n');
  if (feed != std::string_view::npos) return begin_ + first + feed + 1;
  return first == 0 && begin_ == 0 ? 0 : offset;
}

}  // namespace pgparsed::cli
