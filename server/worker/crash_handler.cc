#include "worker/crash_handler.h"

#include <signal.h>
#include <unistd.h>

#include <new>

#include "worker/large_stack.h"
#include "worker/memory.h"

namespace pgparsed::worker {
namespace {

// EX_SOFTWARE: the front reads the last words, not this.
constexpr int kCrashExitCode = 70;

constexpr size_t kSignalStackBytes = size_t{64} << 10;
alignas(64) constinit std::byte signal_stack[kSignalStackBytes] = {};

constinit channel::WorkerEnd* last_channel = nullptr;

[[noreturn]] void End(channel::LastWords words) {
  last_channel->SayLastWords(words);
  _exit(kCrashExitCode);
}

// Some of the library's code takes a failed allocation for memory, and dies of that.
[[noreturn]] void EndOfWorker() {
  End(AllocationFailed() ? channel::LastWords::kMemoryLimit : channel::LastWords::kFatalSignal);
}

void OnFatalSignal(int signal_number, siginfo_t* info, void*) {
  if (signal_number == SIGSEGV) {
    switch (HandleStackFault(info->si_addr)) {
      case StackFault::kGrown:
        return;
      case StackFault::kOverflow:
        End(channel::LastWords::kStackOverflow);
      case StackFault::kNoMemory:
        End(channel::LastWords::kMemoryLimit);
      case StackFault::kElsewhere:
        break;
    }
  }
  EndOfWorker();
}

}  // namespace

// The library ends the process for errors that it has nobody to tell of.
extern "C" {
[[noreturn]] void __real_exit(int code);
[[noreturn]] void __wrap_exit(int code);
void __wrap_exit(int code) {
  if (last_channel == nullptr) __real_exit(code);
  EndOfWorker();
}
}

bool InstallCrashHandler(channel::WorkerEnd* channel) {
  last_channel = channel;
  stack_t alternate = {};
  alternate.ss_sp = signal_stack;
  alternate.ss_size = sizeof(signal_stack);
  if (sigaltstack(&alternate, nullptr) != 0) return false;
  struct sigaction action = {};
  action.sa_sigaction = OnFatalSignal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (const int signal_number : {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE}) {
    if (sigaction(signal_number, &action, nullptr) != 0) return false;
  }
  std::set_new_handler([] { End(channel::LastWords::kMemoryLimit); });
  return true;
}

}  // namespace pgparsed::worker
