#include "worker/command_line.h"

#include <charconv>
#include <optional>
#include <string_view>

namespace pgparsed::worker {
namespace {

// The number behind "--name=", if `argument` is that option with a number.
std::optional<uint64_t> NumberOption(std::string_view argument, std::string_view name) {
  if (!argument.starts_with(name)) return std::nullopt;
  argument.remove_prefix(name.size());
  uint64_t value = 0;
  const char* const last = argument.data() + argument.size();
  const auto [end, error] = std::from_chars(argument.data(), last, value);
  if (error != std::errc() || end != last) return std::nullopt;
  return value;
}

}  // namespace

CommandLine ParseCommandLine(int argc, const char* const* argv) {
  CommandLine line;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--help") {
      line.action = CommandLine::Action::kHelp;
    } else if (argument == "--version") {
      line.action = CommandLine::Action::kVersion;
    } else if (argument == "--describe") {
      line.action = CommandLine::Action::kDescribe;
    } else if (const auto limit = NumberOption(argument, "--memory-limit=")) {
      line.memory_limit = *limit;
    } else {
      line.action = CommandLine::Action::kRefuse;
      line.refusal = "unknown or malformed argument '" + std::string(argument) + "'; see --help";
      return line;
    }
  }
  return line;
}

}  // namespace pgparsed::worker
