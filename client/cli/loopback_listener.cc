#include "cli/loopback_listener.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <charconv>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

namespace pgparsed::cli {
namespace {

constexpr std::string_view kListenState = "0A";

template <typename Number>
std::optional<Number> ParseNumber(std::string_view text, int base) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Addresses stand as 32-bit words in hexadecimal, each as the machine reads the network's bytes.
bool Reaches127001(std::string_view address) {
  std::vector<uint32_t> words;
  for (; address.size() >= 8; address.remove_prefix(8)) {
    const auto word = ParseNumber<uint32_t>(address.substr(0, 8), 16);
    if (!word.has_value()) return false;
    words.push_back(*word);
  }
  if (!address.empty()) return false;
  const uint32_t loopback = htonl(INADDR_LOOPBACK);
  if (words.size() == 1) return words[0] == loopback || words[0] == INADDR_ANY;
  if (words.size() != 4 || words[0] != 0 || words[1] != 0) return false;
  const bool any = words[2] == 0 && words[3] == 0;
  const bool mapped = words[2] == htonl(0xFFFF) && (words[3] == loopback || words[3] == INADDR_ANY);
  return any || mapped;
}

}  // namespace

std::vector<uid_t> ListenerOwnersInTable(std::string_view table, uint16_t port) {
  std::vector<uid_t> owners;
  std::istringstream lines{std::string(table)};
  std::string line;
  while (std::getline(lines, line)) {
    // sl, local address:port, remote, state, queues, timer, retransmits, uid, …
    std::istringstream fields(line);
    std::string slot, local, remote, state, queues, timer, retransmits, uid;
    if (!(fields >> slot >> local >> remote >> state >> queues >> timer >> retransmits >> uid)) {
      continue;
    }
    const size_t colon = local.find(':');
    if (state != kListenState || colon == std::string::npos) continue;
    const std::string_view place(local);
    const auto number = ParseNumber<uint32_t>(place.substr(colon + 1), 16);
    const auto owner = ParseNumber<uid_t>(uid, 10);
    if (!number.has_value() || *number != port || !owner.has_value()) continue;
    if (Reaches127001(place.substr(0, colon))) owners.push_back(*owner);
  }
  return owners;
}

std::vector<uid_t> LoopbackListenerOwners(uint16_t port) {
  std::vector<uid_t> owners;
  for (const char* name : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream file(name);
    std::ostringstream table;
    table << file.rdbuf();
    const std::vector<uid_t> found = ListenerOwnersInTable(table.str(), port);
    owners.insert(owners.end(), found.begin(), found.end());
  }
  return owners;
}

}  // namespace pgparsed::cli
