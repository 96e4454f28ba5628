#include "pgparse_process.h"

#include <fcntl.h>
#include <net/if.h>
#include <pty.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include <gtest/gtest.h>

namespace pgparsed::test {
namespace {

namespace fs = std::filesystem;

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

bool AnyProcessWith(const std::string& environment_entry) {
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    // Empty for processes that ended and wait to be collected.
    const std::string environment = '\0' + ReadFile(entry.path() / "environ");
    if (environment.find('\0' + environment_entry + '\0') != std::string::npos) return true;
  }
  return false;
}

int ExitCode(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int Wait(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return ExitCode(status);
}

}  // namespace

Workplace::Workplace() : folder_(::testing::TempDir() + "pgparse-test-XXXXXX") {
  if (::mkdtemp(folder_.data()) == nullptr) ADD_FAILURE() << std::strerror(errno);
  fs::create_directory(temporary());
}

Workplace::~Workplace() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

std::string Workplace::File(const std::string& name, const std::string& content) const {
  const std::string path = folder_ + "/" + name;
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

bool Workplace::IsClean() const {
  // A server that is killed has left its folder already; its workers end a moment later.
  for (int i = 0; i < 1000; ++i) {
    if (!AnyProcessWith("TMPDIR=" + temporary())) return fs::is_empty(temporary());
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

std::string PgparseBinary() { return PGPARSED_TEST_BIN_DIR "/pgparse"; }

pid_t SpawnPgparse(const Workplace& place, const PgparseRun& run, int in, int out, int err) {
  std::vector<std::string> words = {PgparseBinary()};
  words.insert(words.end(), run.arguments.begin(), run.arguments.end());
  std::vector<std::string> variables = {"TMPDIR=" + place.temporary(), "PATH=/usr/bin:/bin",
                                        "TERM=xterm"};
  for (const char* kept : {"ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS"}) {
    if (const char* value = std::getenv(kept)) variables.push_back(std::string(kept) + "=" + value);
  }
  variables.insert(variables.end(), run.environment.begin(), run.environment.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::vector<char*> envp;
  for (std::string& variable : variables) envp.push_back(variable.data());
  envp.push_back(nullptr);

  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  ::setpgid(0, 0);
  ::dup2(in, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(err, STDERR_FILENO);
  ::execve(argv[0], argv.data(), envp.data());
  ::_exit(127);
}

bool HasPseudoTerminals() {
  int master = -1;
  int terminal = -1;
  if (::openpty(&master, &terminal, nullptr, nullptr, nullptr) != 0) return false;
  ::close(master);
  ::close(terminal);
  return true;
}

PgparseResult RunPgparse(const Workplace& place, const PgparseRun& run) {
  PgparseResult result;
  const int in = ::open(place.File("stdin", run.input).c_str(), O_RDONLY | O_CLOEXEC);
  const std::string out_path = place.File("stdout", "");
  const std::string err_path = place.File("stderr", "");
  const int out = ::open(out_path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  const int err = ::open(err_path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  int terminal = -1;
  int master = -1;
  if (run.on_a_terminal) {
    if (::openpty(&master, &terminal, nullptr, nullptr, nullptr) != 0) {
      ADD_FAILURE() << "no pseudo-terminal: " << std::strerror(errno);
      return result;
    }
    ::fcntl(master, F_SETFD, FD_CLOEXEC);
    ::fcntl(terminal, F_SETFD, FD_CLOEXEC);
  }
  const pid_t pid = run.on_a_terminal ? SpawnPgparse(place, run, in, terminal, terminal)
                                      : SpawnPgparse(place, run, in, out, err);
  if (run.on_a_terminal) {
    ::close(terminal);
    char buffer[4096];
    // EIO when the last process has closed its side.
    for (ssize_t n; (n = ::read(master, buffer, sizeof buffer)) > 0;) {
      result.out.append(buffer, static_cast<size_t>(n));
    }
    ::close(master);
  }
  result.exit_code = Wait(pid);
  for (const int fd : {in, out, err}) ::close(fd);
  if (!run.on_a_terminal) {
    result.out = ReadFile(out_path);
    result.err = ReadFile(err_path);
  }
  return result;
}

bool EnterPrivateNetwork() {
  if (::unshare(CLONE_NEWNET) != 0) return false;
  // The loopback interface of a new network is down.
  const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  ifreq request{};
  std::strcpy(request.ifr_name, "lo");
  request.ifr_flags = IFF_UP;
  const bool up = ::ioctl(fd, SIOCSIFFLAGS, &request) == 0;
  ::close(fd);
  return up;
}

}  // namespace pgparsed::test
