// Calls that are under way, so that all of them can be stopped: the calls that a Cancellation was
// given to, and those of a Client, which also waits for them.
//
// Thread-safety: every member function may be called from any thread.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>

namespace grpc {
class ClientContext;
}  // namespace grpc

namespace pgparsed::client {

class CallSet {
 public:
  // Before the call starts. Once CancelAll was called the context is cancelled at once: its call
  // then ends with CANCELLED without reaching the server. The set does not keep the context alive.
  void Add(const std::shared_ptr<grpc::ClientContext>& context);

  // When the call has ended, or never starts.
  void Remove(const grpc::ClientContext* context);

  // Stops the calls of now and of later. Does not wait.
  void CancelAll();
  bool cancelled() const;

 private:
  mutable std::mutex mutex_;
  bool cancelled_ = false;
  std::unordered_map<const grpc::ClientContext*, std::weak_ptr<grpc::ClientContext>> contexts_;
};

}  // namespace pgparsed::client
