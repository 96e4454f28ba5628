#include "cpp/call_set.h"

#include <grpcpp/grpcpp.h>

namespace pgparsed::client {

void CallSet::Add(const std::shared_ptr<grpc::ClientContext>& context) {
  bool cancelled;
  {
    const std::lock_guard lock(mutex_);
    contexts_.insert(context);
    cancelled = cancelled_;
  }
  if (cancelled) context->TryCancel();
}

void CallSet::Remove(const std::shared_ptr<grpc::ClientContext>& context) {
  const std::lock_guard lock(mutex_);
  contexts_.erase(context);
  // Under the lock: whoever waits may destroy this as soon as it sees the set empty.
  if (contexts_.empty()) empty_.notify_all();
}

void CallSet::CancelAll() {
  std::unordered_set<std::shared_ptr<grpc::ClientContext>> contexts;
  {
    const std::lock_guard lock(mutex_);
    cancelled_ = true;
    contexts = contexts_;
  }
  // Outside the lock: a cancelled call may end, and remove itself, before TryCancel returns.
  for (const auto& context : contexts) context->TryCancel();
}

bool CallSet::cancelled() const {
  const std::lock_guard lock(mutex_);
  return cancelled_;
}

void CallSet::WaitUntilEmpty() {
  std::unique_lock lock(mutex_);
  empty_.wait(lock, [this] { return contexts_.empty(); });
}

}  // namespace pgparsed::client
