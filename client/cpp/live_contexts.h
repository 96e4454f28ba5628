// Makes the contexts of calls and waits until the last of them is destroyed.
//
// A context holds a reference to its channel. The last reference must never go on a thread of
// gRPC's that runs callbacks: the channel's destructor waits for those threads, and in gRPC 1.51 a
// thread that waits for itself goes on with a queue that is freed. So a client keeps its channel
// until no context is left, wherever the last holder of each lets go of it.
//
// Thread-safety: every member function may be called from any thread.
#pragma once

#include <grpcpp/grpcpp.h>

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>

namespace pgparsed::client {

class LiveContexts {
 public:
  std::shared_ptr<grpc::ClientContext> Make() {
    auto context = std::make_unique<grpc::ClientContext>();
    {
      const std::lock_guard lock(mutex_);
      ++live_;
    }
    return {context.release(), [this](grpc::ClientContext* ended) {
              delete ended;
              const std::lock_guard lock(mutex_);
              // Under the lock: whoever waits may destroy this as soon as it sees none left.
              if (--live_ == 0) none_left_.notify_all();
            }};
  }

  // Blocks until every context is destroyed.
  void WaitUntilNone() {
    std::unique_lock lock(mutex_);
    none_left_.wait(lock, [this] { return live_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable none_left_;
  size_t live_ = 0;
};

}  // namespace pgparsed::client
