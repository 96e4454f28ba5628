// Wakes a thread that sleeps in epoll: an eventfd.
#pragma once

#include <memory>

#include "absl/status/statusor.h"

namespace pgparsed::pool {

class WakeSignal {
 public:
  static absl::StatusOr<std::shared_ptr<WakeSignal>> Create();
  ~WakeSignal();
  WakeSignal(const WakeSignal&) = delete;
  WakeSignal& operator=(const WakeSignal&) = delete;

  int fd() const { return fd_; }
  // Thread-safe, does not block.
  void Set() const;
  void Clear() const;

 private:
  explicit WakeSignal(int fd) : fd_(fd) {}
  const int fd_;
};

}  // namespace pgparsed::pool
