#include "pool/worker_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace pgparsed::pool {
namespace {

// <sys/pidfd.h> is missing from older C libraries.
int PidfdOpen(pid_t pid) { return static_cast<int>(syscall(SYS_pidfd_open, pid, 0)); }
int PidfdKill(int pidfd) {
  return static_cast<int>(syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, nullptr, 0));
}
constexpr auto kIdTypePidfd = static_cast<idtype_t>(3);  // P_PIDFD

// posix_spawn's attributes and file actions, freed in the end.
class SpawnSetup {
 public:
  SpawnSetup() {
    posix_spawnattr_init(&attributes_);
    posix_spawn_file_actions_init(&actions_);
  }
  ~SpawnSetup() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnSetup(const SpawnSetup&) = delete;
  SpawnSetup& operator=(const SpawnSetup&) = delete;

  // 0 or an errno.
  int Prepare(int channel_fd) {
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    for (const int error :
         {posix_spawnattr_setsigmask(&attributes_, &none),
          posix_spawnattr_setsigdefault(&attributes_, &all),
          posix_spawnattr_setpgroup(&attributes_, 0),
          posix_spawnattr_setflags(
              &attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP),
          posix_spawn_file_actions_adddup2(&actions_, channel_fd, channel::kWorkerChannelFd),
          posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0),
          posix_spawn_file_actions_adddup2(&actions_, STDERR_FILENO, STDOUT_FILENO),
          posix_spawn_file_actions_addclosefrom_np(&actions_, channel::kWorkerChannelFd + 1)}) {
      if (error != 0) return error;
    }
    return 0;
  }

  int Spawn(pid_t* pid, const char* path, char* const* argv, char* const* env) {
    return posix_spawn(pid, path, &actions_, &attributes_, argv, env);
  }

 private:
  posix_spawnattr_t attributes_;
  posix_spawn_file_actions_t actions_;
};

std::vector<std::string> WorkerEnvironment() {
  std::vector<std::string> environment = {"LANG=C.UTF-8"};
#ifdef PGPARSED_SANITIZED
  for (const char* name : {"ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "LSAN_OPTIONS"}) {
    if (const char* value = getenv(name)) environment.push_back(absl::StrCat(name, "=", value));
  }
#endif
  return environment;
}

std::vector<char*> Pointers(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (std::string& text : strings) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// When memory runs out for all, a worker goes, not the front: its job gets another one.
void PreferForOomKill(pid_t pid) {
  std::ofstream(absl::StrCat("/proc/", pid, "/oom_score_adj")) << 800;
}

std::string Describe(const siginfo_t& info) {
  if (info.si_code == CLD_EXITED) return absl::StrCat("exited with status ", info.si_status);
  const char* name = sigdescr_np(info.si_status);
  return absl::StrCat("killed by signal ", info.si_status, " (", name ? name : "unknown", ")",
                      info.si_code == CLD_DUMPED ? ", core dumped" : "");
}

}  // namespace

absl::StatusOr<std::shared_ptr<WorkerProcess>> WorkerProcess::Spawn(const Options& options) {
  absl::StatusOr<std::unique_ptr<channel::FrontEnd>> front =
      channel::FrontEnd::Create(options.channel);
  if (!front.ok()) return front.status();

  std::vector<std::string> arguments = {options.path.substr(options.path.rfind('/') + 1),
                                        absl::StrCat("--memory-limit=", options.memory_limit)};
  std::vector<std::string> environment = WorkerEnvironment();

  SpawnSetup setup;
  pid_t pid = 0;
  int error = setup.Prepare((*front)->fd());
  if (error == 0) {
    error = setup.Spawn(&pid, options.path.c_str(), Pointers(arguments).data(),
                        Pointers(environment).data());
  }
  if (error != 0) {
    return absl::UnavailableError(
        absl::StrCat("cannot start '", options.path, "': ", strerror(error)));
  }
  PreferForOomKill(pid);
  const int pidfd = PidfdOpen(pid);
  if (pidfd < 0) {
    error = errno;
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    return absl::UnavailableError(
        absl::StrCat("cannot watch '", options.path, "': ", strerror(error)));
  }
  return std::shared_ptr<WorkerProcess>(
      new WorkerProcess(pid, pidfd, options.grammar, *std::move(front)));
}

WorkerProcess::WorkerProcess(pid_t pid, int pidfd, uint32_t grammar,
                             std::unique_ptr<channel::FrontEnd> channel)
    : pid_(pid),
      pidfd_(pidfd),
      grammar_(grammar),
      started_(Clock::now()),
      channel_(std::move(channel)) {}

WorkerProcess::~WorkerProcess() { close(pidfd_); }

void WorkerProcess::Kill(KillReason reason) {
  KillReason none = KillReason::kNone;
  kill_reason_.compare_exchange_strong(none, reason, std::memory_order_acq_rel);
  PidfdKill(pidfd_);
}

void WorkerProcess::Reap() {
  siginfo_t info{};
  while (waitid(kIdTypePidfd, static_cast<id_t>(pidfd_), &info, WEXITED) != 0 && errno == EINTR) {
  }
  {
    sync::MutexLock lock(mutex_);
    death_ = Describe(info);
  }
  sigkill_.store(info.si_code == CLD_KILLED && info.si_status == SIGKILL,
                 std::memory_order_release);
  dead_.store(true, std::memory_order_release);
}

std::string WorkerProcess::death() const {
  sync::MutexLock lock(mutex_);
  return death_;
}

void WorkerProcess::set_start_error(std::string error) {
  sync::MutexLock lock(mutex_);
  start_error_ = std::move(error);
}

std::string WorkerProcess::start_error() const {
  sync::MutexLock lock(mutex_);
  return start_error_;
}

}  // namespace pgparsed::pool
