#include "grpc/listen_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace pgparsed::grpc_door {
namespace {

absl::Status CheckUnix(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    return absl::InvalidArgumentError(absl::StrCat("the socket path ", path, " has ", path.size(),
                                                   " bytes; at most ", sizeof(address.sun_path) - 1,
                                                   " are possible: choose a shorter one"));
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);

  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  struct stat info;
  if (stat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) {
    return absl::InvalidArgumentError(absl::StrCat("the folder of the socket path ", path,
                                                   " does not exist: make it or choose another"));
  }
  if (access(folder.c_str(), W_OK | X_OK) != 0) {
    return absl::InvalidArgumentError(absl::StrCat("cannot write in the folder of the socket path ",
                                                   path,
                                                   ": change its permissions or choose another"));
  }
  if (lstat(path.c_str(), &info) != 0) return absl::OkStatus();
  if (!S_ISSOCK(info.st_mode)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, " exists and is no socket: remove it or choose another --listen path"));
  }
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return absl::InternalError(absl::StrCat("socket: ", std::strerror(errno)));
  const auto close_fd = absl::MakeCleanup([fd] { close(fd); });
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0 ||
      errno != ECONNREFUSED) {
    return absl::InvalidArgumentError(absl::StrCat("another server listens on ", path,
                                                   ": stop it or choose another --listen path"));
  }
  if (unlink(path.c_str()) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot remove the old socket ", path, ": ", std::strerror(errno)));
  }
  return absl::OkStatus();
}

// Fills in a socket address; false if the host is no IP address.
bool MakeSockaddr(const ListenAddress& address, sockaddr_storage& storage, socklen_t& length) {
  const std::string host = address.host == "localhost" ? "127.0.0.1" : address.host;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&storage);
  if (inet_pton(AF_INET, host.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(address.port);
    length = sizeof(*v4);
    return true;
  }
  storage = {};
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&storage);
  if (inet_pton(AF_INET6, host.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(address.port);
    length = sizeof(*v6);
    return true;
  }
  return false;
}

absl::Status CheckTcp(const ListenAddress& address) {
  sockaddr_storage storage{};
  socklen_t length = 0;
  if (!MakeSockaddr(address, storage, length)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "cannot listen on ", address.ToString(), ": the host must be an IP address or localhost"));
  }
  const int fd = socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot listen on ", address.ToString(), ": ", std::strerror(errno)));
  }
  const auto close_fd = absl::MakeCleanup([fd] { close(fd); });
  const int one = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
  if (bind(fd, reinterpret_cast<sockaddr*>(&storage), length) != 0 || listen(fd, 1) != 0) {
    const int error = errno;
    if (error == EADDRINUSE) {
      return absl::InvalidArgumentError(
          absl::StrCat("the port of ", address.ToString(),
                       " is taken: stop what listens there or choose another with --listen"));
    }
    return absl::InvalidArgumentError(
        absl::StrCat("cannot listen on ", address.ToString(), ": ", std::strerror(error)));
  }
  return absl::OkStatus();
}

}  // namespace

bool ListenAddress::is_loopback() const {
  return is_unix() || host == "localhost" || host == "::1" || absl::StartsWith(host, "127.");
}

std::string ListenAddress::ToString() const {
  if (is_unix()) return absl::StrCat("unix:", unix_path);
  if (absl::StrContains(host, ':')) return absl::StrCat("[", host, "]:", port);
  return absl::StrCat(host, ":", port);
}

absl::StatusOr<ListenAddress> ParseListenAddress(std::string_view input) {
  const absl::string_view text(input.data(), input.size());
  const auto error = [text] {
    return absl::InvalidArgumentError(absl::StrCat(
        "'", text, "' is no address to listen on: use unix:/path, 127.0.0.1:50051 or [::1]:50051"));
  };
  ListenAddress address;
  if (absl::StartsWith(text, "unix:")) {
    absl::string_view path = text.substr(5);
    if (absl::StartsWith(path, "//")) path.remove_prefix(2);
    if (path.empty()) return error();
    address.unix_path = std::string(path);
    return address;
  }
  const size_t colon = text.rfind(':');
  if (colon == absl::string_view::npos) return error();
  absl::string_view host = text.substr(0, colon);
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  } else if (absl::StrContains(host, ':')) {
    return error();
  }
  uint32_t port = 0;
  if (host.empty() || !absl::SimpleAtoi(text.substr(colon + 1), &port) || port > 65535) {
    return error();
  }
  address.host = std::string(host);
  address.port = static_cast<uint16_t>(port);
  return address;
}

absl::Status CheckListenAddress(const ListenAddress& address) {
  return address.is_unix() ? CheckUnix(address.unix_path) : CheckTcp(address);
}

}  // namespace pgparsed::grpc_door
