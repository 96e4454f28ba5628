#include "pool/wake_signal.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace pgparsed::pool {

absl::StatusOr<std::shared_ptr<WakeSignal>> WakeSignal::Create() {
  const int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (fd < 0) {
    return absl::ResourceExhaustedError(std::string("cannot create an eventfd: ") +
                                        std::strerror(errno));
  }
  return std::shared_ptr<WakeSignal>(new WakeSignal(fd));
}

WakeSignal::~WakeSignal() { close(fd_); }

// Neither call can fail in a way that matters: a full counter is set, an empty one is clear.
void WakeSignal::Set() const { (void)!eventfd_write(fd_, 1); }
void WakeSignal::Clear() const {
  eventfd_t count = 0;
  (void)!eventfd_read(fd_, &count);
}

}  // namespace pgparsed::pool
