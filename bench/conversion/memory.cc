#include "bench/conversion/memory.h"

#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

namespace pgparsed::bench {
namespace {

uint64_t StatusBytes(const char* key) {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    if (word == key) {
      uint64_t kibibytes = 0;
      status >> kibibytes;
      return kibibytes << 10;
    }
  }
  return 0;
}

// Sets the peak back to what is resident now.
void ResetPeak() { std::ofstream("/proc/self/clear_refs") << "5"; }

}  // namespace

uint64_t PeakBytes(const Variant& variant, const std::string& text) {
  int ends[2];
  if (pipe(ends) != 0) return 0;
  const pid_t child = fork();
  if (child == 0) {
    const std::string input = variant.prepare != nullptr ? variant.prepare(text) : text;
    malloc_trim(0);
    ResetPeak();
    const uint64_t before = StatusBytes("VmRSS:");
    const bool possible = variant.run(input) > 0;
    const uint64_t grown = possible ? StatusBytes("VmHWM:") - before : 0;
    _exit(write(ends[1], &grown, sizeof(grown)) == sizeof(grown) ? 0 : 1);
  }
  close(ends[1]);
  uint64_t grown = 0;
  if (child < 0 || read(ends[0], &grown, sizeof(grown)) != sizeof(grown)) grown = 0;
  close(ends[0]);
  if (child > 0) waitpid(child, nullptr, 0);
  return grown;
}

}  // namespace pgparsed::bench
