#include "cpp/batch_window.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "cpp/exchange.h"

namespace pgparsed::client {
namespace {

// More chunks than that are seldom under way.
constexpr size_t kMostSpare = 4;

}  // namespace

absl::StatusOr<const v1::BatchRequest*> BatchWindow::Next() {
  std::shared_ptr<v1::BatchRequest> request;
  {
    const std::lock_guard lock(mutex_);
    if (given_ < unanswered_.size()) {
      written_ = unanswered_[given_++];
      return written_.get();
    }
    if (ended_) return nullptr;
    // The Write of all that were given has returned: who takes a spare one has it alone.
    if (!spare_.empty()) {
      request = std::move(spare_.back());
      spare_.pop_back();
    }
  }
  if (request == nullptr) request = std::make_shared<v1::BatchRequest>();
  v1::BatchRequest::Chunk& chunk = *request->mutable_chunk();
  do {
    chunk.Clear();
    const absl::StatusOr<bool> more = source_(chunk);
    if (!more.ok()) return more.status();
    if (!*more) {
      const std::lock_guard lock(mutex_);
      ended_ = true;
      return nullptr;
    }
  } while (chunk.queries().empty());
  const std::lock_guard lock(mutex_);
  unanswered_.push_back(request);
  ++given_;
  written_ = std::move(request);
  return written_.get();
}

absl::Status BatchWindow::Take(v1::BatchResponse& answer) {
  const std::lock_guard lock(mutex_);
  const uint64_t first = answered_before_ + answer.first_index();
  if (first != answered_) {
    return Malformed(absl::StrCat("query ", first, " where ", answered_, " is the next"));
  }
  if (given_ == 0) return Malformed("more answers than queries");
  const auto asked = static_cast<uint32_t>(unanswered_.front()->chunk().queries_size());
  if (answer.count() != asked) {
    return Malformed(absl::StrCat("answers to ", answer.count(), " of ", asked, " queries"));
  }
  if (spare_.size() < kMostSpare) spare_.push_back(std::move(unanswered_.front()));
  unanswered_.pop_front();
  --given_;
  answered_ += asked;
  answer.set_first_index(first);
  return absl::OkStatus();
}

void BatchWindow::Rewind() {
  const std::lock_guard lock(mutex_);
  given_ = 0;
  written_ = nullptr;
  answered_before_ = answered_;
}

uint64_t BatchWindow::answered() const {
  const std::lock_guard lock(mutex_);
  return answered_;
}

bool BatchWindow::finished() const {
  const std::lock_guard lock(mutex_);
  return ended_ && unanswered_.empty();
}

}  // namespace pgparsed::client
