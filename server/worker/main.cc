// pgparsed-worker-<major>: one libpg_query in a sandbox, fed by pgparsed through shared memory.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "channel/worker_end.h"
#include "grammar/options.h"
#include "worker/allocator.h"
#include "worker/command_line.h"
#include "worker/crash_handler.h"
#include "worker/job_loop.h"
#include "worker/large_stack.h"
#include "worker/memory.h"
#include "worker/sandbox.h"

namespace pgparsed::worker {
namespace {

constexpr int kExitFailure = 1;
constexpr int kExitUsage = 2;

std::string ProgramName() {
  return "pgparsed-worker-" + std::to_string(grammar::GrammarIdentity().major);
}

// One line to stderr.
int Fail(int exit_code, const std::string& message) {
  std::fprintf(stderr, "%s: %s\n", ProgramName().c_str(), message.c_str());
  return exit_code;
}

void PrintVersion() {
  const grammar::Identity identity = grammar::GrammarIdentity();
  std::printf("%s %s (libpg_query %s, PostgreSQL %s)\n", ProgramName().c_str(), PGPARSED_VERSION,
              std::string(identity.library_version).c_str(),
              std::string(identity.postgres_version).c_str());
}

void PrintDescription() {
  const grammar::Identity identity = grammar::GrammarIdentity();
  const auto print = [](const char* what, const std::string& value) {
    std::printf("%-22s%s\n", what, value.c_str());
  };
  const auto print_feature = [&](const char* what, bool has) { print(what, has ? "yes" : "no"); };
  print("grammar", std::to_string(identity.major));
  print("libpg_query", std::string(identity.library_version));
  print("PostgreSQL", std::string(identity.postgres_version));
  print("PostgreSQL number", std::to_string(identity.postgres_version_num));
  print("allocator", AllocatorName());
  print("stack", std::to_string(kLargeStackBytes >> 20) + " MiB");
  print_feature("parser options", grammar::kFeatures.parser_options);
  print_feature("fingerprint options", grammar::kFeatures.fingerprint_options);
  print_feature("pretty print", grammar::kFeatures.pretty_print);
  print_feature("comments", grammar::kFeatures.comments);
  print_feature("normalize utility", grammar::kFeatures.normalize_utility);
  print_feature("summary", grammar::kFeatures.summary);
}

void PrintHelp() {
  std::printf(
      "%s: parses SQL for pgparsed, which starts it.\n\n"
      "usage: %s --version | --describe | --help\n\n"
      "  --version   the versions of this program, libpg_query and PostgreSQL\n"
      "  --describe  the grammar, the allocator and what this grammar can do\n\n"
      "pgparsed passes --memory-limit=BYTES, and the channel as descriptor %d.\n",
      ProgramName().c_str(), ProgramName().c_str(), channel::kWorkerChannelFd);
}

// On the large stack: from here to the end of the process.
void Work(channel::WorkerEnd& channel, uint64_t memory_limit) {
  if (!InstallCrashHandler(&channel)) {
    std::exit(Fail(kExitFailure, "cannot install the signal handlers"));
  }
  WarmUp();
  if (const std::string failure = EnterSandbox(memory_limit); !failure.empty()) {
    std::exit(Fail(kExitFailure, failure));
  }
  RunJobs(channel);
}

int Run(const CommandLine& line) {
  auto channel = channel::WorkerEnd::Open(channel::kWorkerChannelFd);
  if (!channel.ok()) {
    return Fail(kExitUsage, "started by pgparsed, not by hand (see --help): " +
                                std::string(channel.status().message()));
  }
  if (const std::string failure = DropWhatIsNotNeeded(); !failure.empty()) {
    return Fail(kExitFailure, failure);
  }
  PrepareAllocator();
  if (!RunOnLargeStack(kLargeStackBytes, [&] { Work(**channel, line.memory_limit); })) {
    return Fail(kExitFailure, "cannot get the stack for parsing: raise the limit of address space");
  }
  return kExitFailure;
}

int Main(int argc, char** argv) {
  const CommandLine line = ParseCommandLine(argc, argv);
  switch (line.action) {
    case CommandLine::Action::kHelp:
      PrintHelp();
      return 0;
    case CommandLine::Action::kVersion:
      PrintVersion();
      return 0;
    case CommandLine::Action::kDescribe:
      PrintDescription();
      return 0;
    case CommandLine::Action::kRefuse:
      return Fail(kExitUsage, line.refusal);
    case CommandLine::Action::kRun:
      break;
  }
  return Run(line);
}

}  // namespace
}  // namespace pgparsed::worker

int main(int argc, char** argv) { return pgparsed::worker::Main(argc, argv); }
