#include "cpp/call_set.h"

#include <grpcpp/grpcpp.h>

#include <vector>

namespace pgparsed::client {

void CallSet::Add(const std::shared_ptr<grpc::ClientContext>& context) {
  bool cancelled;
  {
    const std::lock_guard lock(mutex_);
    contexts_.emplace(context.get(), context);
    cancelled = cancelled_;
  }
  if (cancelled) context->TryCancel();
}

void CallSet::Remove(const grpc::ClientContext* context) {
  const std::lock_guard lock(mutex_);
  contexts_.erase(context);
}

void CallSet::CancelAll() {
  std::vector<std::shared_ptr<grpc::ClientContext>> contexts;
  {
    const std::lock_guard lock(mutex_);
    cancelled_ = true;
    contexts.reserve(contexts_.size());
    for (const auto& [key, context] : contexts_) {
      if (auto held = context.lock(); held != nullptr) contexts.push_back(std::move(held));
    }
  }
  // Outside the lock: a cancelled call may end, and remove itself, before TryCancel returns.
  for (const auto& context : contexts) context->TryCancel();
}

bool CallSet::cancelled() const {
  const std::lock_guard lock(mutex_);
  return cancelled_;
}

}  // namespace pgparsed::client
