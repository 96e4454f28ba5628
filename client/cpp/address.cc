#include "cpp/address.h"

#include <sys/un.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "absl/strings/str_cat.h"
#include "pgparsed/errors.h"

namespace pgparsed::client {
namespace {

constexpr std::string_view kUnix = "unix:";
constexpr std::array<std::string_view, 4> kSchemes = {"dns:", "ipv4:", "ipv6:", "unix-abstract:"};

absl::Status BadAddress(std::string_view address, std::string_view why) {
  return MakeError(Reason::kInvalidRequest,
                   absl::StrCat("address \"", std::string(address), "\": ", std::string(why),
                                " (host:port, [::1]:port, unix:/path)"));
}

absl::StatusOr<std::string> UnixTarget(std::string_view address, std::string_view path) {
  // "unix:///path" is the URI form of "unix:/path".
  if (path.starts_with("//")) {
    path.remove_prefix(2);
    if (!path.starts_with("/")) return BadAddress(address, "a unix:// path must be absolute");
  }
  if (path.empty()) return BadAddress(address, "the path is empty");
  if (path.find('\0') != std::string_view::npos)
    return BadAddress(address, "a NUL byte in the path");
  constexpr size_t kLongest = sizeof(sockaddr_un::sun_path) - 1;
  if (path.size() > kLongest) {
    return BadAddress(address, absl::StrCat("the system takes socket paths of at most ", kLongest,
                                            " bytes, this has ", path.size()));
  }
  return std::string(kUnix) + std::string(path);
}

bool IsHostCharacter(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
         c == '.' || c == '_';
}

bool IsV6Character(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == ':' ||
         c == '.' || c == '%';
}

}  // namespace

absl::StatusOr<std::string> TargetOfAddress(std::string_view address) {
  if (address.empty()) return BadAddress(address, "it is empty");
  if (address.starts_with(kUnix)) {
    return UnixTarget(address, address.substr(kUnix.size()));
  }
  if (address.starts_with("/")) return UnixTarget(address, address);
  if (address.find("://") != std::string_view::npos ||
      std::any_of(kSchemes.begin(), kSchemes.end(),
                  [&](std::string_view scheme) { return address.starts_with(scheme); })) {
    if (std::none_of(kSchemes.begin(), kSchemes.end(), [&](std::string_view scheme) {
          return address.starts_with(scheme) && address.size() > scheme.size();
        })) {
      return BadAddress(address, "not a scheme of gRPC");
    }
    return std::string(address);
  }

  std::string_view host = address;
  std::string_view port;
  bool has_port = false;
  if (address.front() == '[') {
    const size_t close = address.find(']');
    if (close == std::string_view::npos) return BadAddress(address, "no ] behind the [");
    host = address.substr(0, close + 1);
    const std::string_view inside = host.substr(1, host.size() - 2);
    if (inside.empty() || !std::all_of(inside.begin(), inside.end(), IsV6Character)) {
      return BadAddress(address, "not an IPv6 address in the brackets");
    }
    std::string_view rest = address.substr(close + 1);
    if (!rest.empty() && rest.front() != ':') return BadAddress(address, "no : behind the ]");
    has_port = !rest.empty();
    if (has_port) port = rest.substr(1);
  } else {
    const size_t colon = address.find(':');
    if (colon != std::string_view::npos) {
      if (address.find(':', colon + 1) != std::string_view::npos) {
        return BadAddress(address, "an IPv6 address needs brackets");
      }
      host = address.substr(0, colon);
      port = address.substr(colon + 1);
      has_port = true;
    }
    if (host.empty()) return BadAddress(address, "no host before the :");
    if (!std::all_of(host.begin(), host.end(), IsHostCharacter)) {
      return BadAddress(address, "a character that no host name has");
    }
  }
  if (!has_port) return absl::StrCat(std::string(host), ":", kDefaultPort);
  int number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (error != std::errc() || end != port.data() + port.size() || number < 1 || number > 65535) {
    return BadAddress(address, "the port is not a number from 1 to 65535");
  }
  return absl::StrCat(std::string(host), ":", number);
}

bool IsLocalTarget(std::string_view target) {
  if (target.starts_with(kUnix) || target.starts_with("unix-abstract:")) return true;
  for (const std::string_view scheme : {"dns:///", "dns:", "ipv4:", "ipv6:"}) {
    if (target.starts_with(scheme)) {
      target.remove_prefix(scheme.size());
      break;
    }
  }
  return target.starts_with("127.") || target.starts_with("[::1]") || target == "localhost" ||
         target.starts_with("localhost:");
}

}  // namespace pgparsed::client
