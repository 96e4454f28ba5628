// The calls that are under way, so that all of them can be stopped and waited for. Used by Client
// (its own calls) and by Cancellation (the calls that it was given to).
//
// Thread-safety: every member function may be called from any thread.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <unordered_set>

namespace grpc {
class ClientContext;
}  // namespace grpc

namespace pgparsed::client {

class CallSet {
 public:
  // Before the call starts. Once CancelAll was called the context is cancelled at once: its call
  // then ends with CANCELLED without reaching the server.
  void Add(const std::shared_ptr<grpc::ClientContext>& context);

  // When the call has ended and nothing of it is used any more.
  void Remove(const std::shared_ptr<grpc::ClientContext>& context);

  // Stops the calls of now and of later. Does not wait.
  void CancelAll();
  bool cancelled() const;

  // Blocks until every call is removed.
  void WaitUntilEmpty();

 private:
  mutable std::mutex mutex_;
  std::condition_variable empty_;
  bool cancelled_ = false;
  std::unordered_set<std::shared_ptr<grpc::ClientContext>> contexts_;
};

}  // namespace pgparsed::client
