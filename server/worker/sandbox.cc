#include "worker/sandbox.h"

#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace pgparsed::worker {
namespace {

std::string Failed(const char* what, int error) {
  return std::string("cannot ") + what + ": " + std::strerror(error);
}

bool SetLimit(__rlimit_resource resource, rlim_t value) {
  const rlimit limit = {.rlim_cur = value, .rlim_max = value};
  return setrlimit(resource, &limit) == 0;
}

#ifndef PGPARSED_SANITIZED

// System calls that are allowed whatever their arguments.
constexpr int kAllowed[] = {
    SCMP_SYS(munmap),          SCMP_SYS(mremap),
    SCMP_SYS(madvise),         SCMP_SYS(brk),           // memory
    SCMP_SYS(futex),           SCMP_SYS(sched_yield),   // the channel's doorbell
    SCMP_SYS(clock_gettime),   SCMP_SYS(gettimeofday),  // without a vDSO
    SCMP_SYS(getpid),          SCMP_SYS(gettid),
    SCMP_SYS(rt_sigreturn),    SCMP_SYS(rt_sigprocmask),  // the crash handler
    SCMP_SYS(restart_syscall), SCMP_SYS(exit),
    SCMP_SYS(exit_group),
};

struct ReleaseFilter {
  void operator()(void* filter) const { seccomp_release(filter); }
};

// Returns 0 or an error number.
int LoadFilter() {
  const std::unique_ptr<void, ReleaseFilter> filter(seccomp_init(SCMP_ACT_KILL_PROCESS));
  if (filter == nullptr) return ENOMEM;
  int result = seccomp_attr_set(filter.get(), SCMP_FLTATR_CTL_TSYNC, 1);
  for (const int call : kAllowed) {
    if (result == 0) result = seccomp_rule_add(filter.get(), SCMP_ACT_ALLOW, call, 0);
  }
  // Memory, but no new code.
  for (const int call : {SCMP_SYS(mmap), SCMP_SYS(mprotect)}) {
    if (result == 0) {
      result = seccomp_rule_add(filter.get(), SCMP_ACT_ALLOW, call, 1,
                                SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
    }
  }
  // A failed assertion's message.
  for (const int call : {SCMP_SYS(write), SCMP_SYS(writev)}) {
    for (const scmp_datum_t fd : {STDOUT_FILENO, STDERR_FILENO}) {
      if (result == 0) {
        result = seccomp_rule_add(filter.get(), SCMP_ACT_ALLOW, call, 1, SCMP_A0(SCMP_CMP_EQ, fd));
      }
    }
  }
  // longjmp() asks whether it runs on the alternate stack before it refuses to jump.
  if (result == 0) {
    result = seccomp_rule_add(filter.get(), SCMP_ACT_ALLOW, SCMP_SYS(sigaltstack), 1,
                              SCMP_A0(SCMP_CMP_EQ, 0));
  }
  // abort() signals the own thread.
  if (result == 0) {
    result = seccomp_rule_add(filter.get(), SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1,
                              SCMP_A0(SCMP_CMP_EQ, static_cast<scmp_datum_t>(getpid())));
  }
  if (result == 0) result = seccomp_load(filter.get());
  return -result;
}

#endif

}  // namespace

std::string DropWhatIsNotNeeded() {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return Failed("forbid new privileges", errno);
  if (!SetLimit(RLIMIT_CORE, 0)) return Failed("forbid core dumps", errno);
#ifndef PGPARSED_SANITIZED
  if (close_range(STDERR_FILENO + 1, ~0u, 0) != 0) {
    return Failed("close inherited descriptors", errno);
  }
  if (!SetLimit(RLIMIT_NOFILE, STDERR_FILENO + 1)) {
    return Failed("limit the number of descriptors", errno);
  }
#endif
  return {};
}

std::string EnterSandbox(uint64_t memory_limit) {
#ifndef PGPARSED_SANITIZED
  // With a buffer, the first output would ask for the descriptor's kind.
  std::setvbuf(stdout, nullptr, _IONBF, 0);
  if (memory_limit > 0 && !SetLimit(RLIMIT_DATA, memory_limit)) {
    return Failed("limit the memory", errno);
  }
  if (const int error = LoadFilter(); error != 0) {
    return Failed("enter the system call filter (seccomp)", error);
  }
#else
  (void)memory_limit;
#endif
  return {};
}

}  // namespace pgparsed::worker
