// The command line of a worker. pgparsed writes it; a person sees --help, --version and --describe.
#pragma once

#include <cstdint>
#include <string>

namespace pgparsed::worker {

struct CommandLine {
  enum class Action { kRun, kHelp, kVersion, kDescribe, kRefuse };
  Action action = Action::kRun;
  std::string refusal;        // for kRefuse: what is wrong
  uint64_t memory_limit = 0;  // bytes; 0: none
};

CommandLine ParseCommandLine(int argc, const char* const* argv);

}  // namespace pgparsed::worker
