#include "cpp/private_server.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "pgparsed/client.h"

extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace pgparsed {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kBinaryName = "pgparsed";
constexpr const char* kBinaryVariable = "PGPARSED_BIN";
// What a server's last words may add to an error, in bytes.
constexpr size_t kLastWordsBytes = 600;

absl::Status Unavailable(std::string_view message) {
  return MakeError(Reason::kUnavailable, message);
}

std::string ErrnoText(int error) { return std::strerror(error); }

bool IsExecutable(const std::string& path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

std::string OwnFolder() {
  char path[PATH_MAX];
  const ssize_t size = ::readlink("/proc/self/exe", path, sizeof path);
  if (size <= 0 || static_cast<size_t>(size) == sizeof path) return {};
  const std::string_view executable(path, static_cast<size_t>(size));
  return std::string(executable.substr(0, executable.rfind('/')));
}

absl::StatusOr<std::string> FindBinary(const std::string& wanted) {
  const char* variable = std::getenv(kBinaryVariable);
  const bool from_environment = wanted.empty() && variable != nullptr && *variable != '\0';
  const std::string named = from_environment ? variable : wanted;
  if (!named.empty()) {
    if (IsExecutable(named)) return named;
    return Unavailable(absl::StrCat(from_environment ? absl::StrCat(kBinaryVariable, "=") : "",
                                    named, " is not an executable file"));
  }
  const std::string own_folder = OwnFolder();
  if (!own_folder.empty()) {
    std::string beside = absl::StrCat(own_folder, "/", kBinaryName);
    if (IsExecutable(beside)) return beside;
  }
  if (const char* path = std::getenv("PATH"); path != nullptr) {
    for (const auto folder : absl::StrSplit(path, ':', absl::SkipEmpty())) {
      std::string candidate = absl::StrCat(folder, "/", kBinaryName);
      if (IsExecutable(candidate)) return candidate;
    }
  }
  return Unavailable(absl::StrCat("there is no ", kBinaryName, " beside ",
                                  own_folder.empty() ? "the program" : own_folder,
                                  " or in PATH; name it with ", kBinaryVariable));
}

std::vector<std::string> Environment() {
  std::vector<std::string> kept;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view variable(*entry);
    if (variable.starts_with("PGPARSED_") && !variable.starts_with("PGPARSED_WORKER_DIR=")) {
      continue;
    }
    kept.emplace_back(variable);
  }
  return kept;
}

std::vector<char*> Pointers(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  for (std::string& text : strings) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

bool Connects(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return false;
  std::memcpy(address.sun_path, path.data(), path.size());
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  const int result = ::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address);
  ::close(fd);
  return result == 0;
}

std::string ExitText(int status) {
  if (WIFSIGNALED(status)) return absl::StrCat("was killed by signal ", WTERMSIG(status));
  return absl::StrCat("ended with status ", WEXITSTATUS(status));
}

}  // namespace

absl::StatusOr<std::unique_ptr<PrivateServer>> PrivateServer::Start(PrivateServerOptions options) {
  absl::StatusOr<std::string> binary = FindBinary(options.binary);
  if (!binary.ok()) return binary.status();

  const char* base = std::getenv("TMPDIR");
  std::string directory =
      absl::StrCat(base != nullptr && *base == '/' ? base : "/tmp", "/pgparsed-private-XXXXXX");
  // Leave room for the socket's name in sun_path.
  if (directory.size() + std::strlen("/pgparsed.sock") >= sizeof(sockaddr_un::sun_path)) {
    directory = "/tmp/pgparsed-private-XXXXXX";
  }
  if (::mkdtemp(directory.data()) == nullptr) {  // mode 0700
    return Unavailable(absl::StrCat("cannot make a temporary folder (", directory,
                                    "): ", ErrnoText(errno), "; set TMPDIR"));
  }
  std::unique_ptr<PrivateServer> server(
      new PrivateServer(std::move(options), std::move(directory)));
  if (absl::Status status = server->Spawn(*binary); !status.ok()) return status;
  if (absl::Status status = server->WaitUntilItAnswers(); !status.ok()) return status;
  return server;
}

PrivateServer::PrivateServer(PrivateServerOptions options, std::string directory)
    : options_(std::move(options)), directory_(std::move(directory)) {}

PrivateServer::~PrivateServer() {
  Stop();
  RemoveDirectory();
}

std::string PrivateServer::address() const { return absl::StrCat("unix:", socket_path()); }
std::string PrivateServer::socket_path() const {
  return absl::StrCat(directory_, "/pgparsed.sock");
}

std::string PrivateServer::Log() const {
  std::ifstream file(absl::StrCat(directory_, "/log"), std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

absl::Status PrivateServer::Spawn(const std::string& binary) {
  std::vector<std::string> arguments = {binary, absl::StrCat("--listen=unix:", socket_path()),
                                        "--exit-with-parent"};
  arguments.insert(arguments.end(), options_.flags.begin(), options_.flags.end());
  std::vector<std::string> environment = Environment();
  const std::vector<char*> argv = Pointers(arguments);
  const std::vector<char*> envp = Pointers(environment);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  const std::string log = absl::StrCat(directory_, "/log");
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(),
                                   O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);

  // Whatever the caller blocks or ignores, the server begins with the usual signals.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigset_t usual;
  sigemptyset(&none);
  sigemptyset(&usual);
  for (const int signal : {SIGHUP, SIGINT, SIGPIPE, SIGTERM}) sigaddset(&usual, signal);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

  const int error =
      ::posix_spawn(&pid_, binary.c_str(), &actions, &attributes, argv.data(), envp.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    pid_ = -1;
    return Unavailable(absl::StrCat("cannot start ", binary, ": ", ErrnoText(error)));
  }
  return absl::OkStatus();
}

absl::Status PrivateServer::WaitUntilItAnswers() {
  const auto deadline = Clock::now() + options_.start_timeout;
  const std::string late =
      absl::StrCat("did not answer within ", options_.start_timeout.count(), " ms");
  // First until the socket takes connections: cheaper and faster than gRPC's own waiting.
  while (!Connects(socket_path())) {
    if (!IsRunning()) return Ended(ExitText(exit_status_));
    if (Clock::now() >= deadline) return Ended(late);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  ClientOptions client_options;
  client_options.address = address();
  auto client = Client::Connect(std::move(client_options));
  if (!client.ok()) return client.status();
  CallOptions call;
  call.wait_for_ready = true;
  call.timeout =
      std::max(std::chrono::milliseconds(1),
               std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()));
  const auto grammars = (*client)->ListGrammars({}, call);
  if (grammars.ok()) return absl::OkStatus();
  if (!IsRunning()) return Ended(ExitText(exit_status_));
  if (ReasonOf(grammars.status()) == Reason::kDeadline) return Ended(late);
  return Ended(absl::StrCat("did not answer: ", grammars.status().message()));
}

absl::Status PrivateServer::Ended(const std::string& what) {
  std::string words = Log();
  while (!words.empty() && words.back() == '\n') words.pop_back();
  if (words.size() > kLastWordsBytes) {
    words = words.substr(words.size() - kLastWordsBytes);
    if (const size_t line = words.find('\n'); line != std::string::npos) words.erase(0, line + 1);
  }
  return Unavailable(absl::StrCat("the private server ", what, words.empty() ? "" : ":\n", words));
}

bool PrivateServer::IsRunning() {
  if (pid_ < 0) return false;
  int status = 0;
  pid_t result;
  do {
    result = ::waitpid(pid_, &status, WNOHANG);
  } while (result < 0 && errno == EINTR);
  if (result == 0) return true;
  exit_status_ = status;
  pid_ = -1;
  return false;
}

void PrivateServer::Stop() {
  if (options_.stop_timeout.count() > 0 && IsRunning()) {
    ::kill(pid_, SIGTERM);
    const auto deadline = Clock::now() + options_.stop_timeout;
    while (IsRunning() && Clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
  if (!IsRunning()) return;
  ::kill(pid_, SIGKILL);
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

void PrivateServer::RemoveDirectory() {
  if (directory_removed_) return;
  directory_removed_ = true;
  ::unlink(socket_path().c_str());
  ::unlink(absl::StrCat(directory_, "/log").c_str());
  ::rmdir(directory_.c_str());
}

}  // namespace pgparsed
