#include "postgres_server.h"

#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace pgparsed::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kUser = "nobody";
constexpr std::chrono::seconds kPatience{30};

bool IsRoot() { return ::geteuid() == 0; }

// Whether a user who is neither the owner nor in the group gets to `path`.
bool OthersReach(fs::path path) {
  for (; path.has_relative_path(); path = path.parent_path()) {
    const fs::perms permissions = fs::status(path).permissions();
    if ((permissions & fs::perms::others_exec) == fs::perms::none) return false;
  }
  return true;
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

}  // namespace

PostgresServer::PostgresServer(std::string folder)
    : folder_(std::move(folder)), prefix_(PGPARSED_POSTGRESQL_ROOT) {}

std::unique_ptr<PostgresServer> PostgresServer::Start(const std::vector<std::string>& settings) {
  std::string folder = ::testing::TempDir() + "pgparsed-postgres-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) {
    ADD_FAILURE() << folder << ": " << std::strerror(errno);
    return nullptr;
  }
  std::unique_ptr<PostgresServer> server(new PostgresServer(std::move(folder)));
  if (!server->CreateCluster()) return nullptr;
  server->Spawn(settings);
  return server->WaitUntilReady() ? std::move(server) : nullptr;
}

PostgresServer::~PostgresServer() {
  StopWith(SIGQUIT);
  if (alive_ >= 0) ::close(alive_);
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

std::string PostgresServer::LogFile(const std::string& extension) const {
  return absl::StrCat(folder_, "/log/postgresql.", extension);
}

// A program of PostgreSQL, with the environment of neither the test nor the user.
std::vector<std::string> PostgresServer::Command(const std::string& program) const {
  return {"/usr/bin/env",
          "-i",
          "PATH=/usr/bin:/bin",
          "LC_ALL=C",
          "TZ=GMT",  // the one time zone that needs no file
          absl::StrCat("LD_LIBRARY_PATH=", prefix_, "/lib/" PGPARSED_LIBRARY_ARCHITECTURE),
          absl::StrCat("PGHOST=", folder_),
          "PGUSER=postgres",
          "PGDATABASE=postgres",
          absl::StrCat(prefix_, PGPARSED_POSTGRESQL_PROGRAMS "/", program)};
}

namespace {

// Of a command, one that runs as the server's user and ends when this thread does.
std::vector<std::string> AsServer(std::vector<std::string> command) {
  std::vector<std::string> words = {"/usr/bin/setpriv", "--pdeathsig=QUIT"};
  if (IsRoot()) {
    const passwd* const user = ::getpwnam(kUser);
    words.push_back(absl::StrCat("--reuid=", user->pw_uid));
    words.push_back(absl::StrCat("--regid=", user->pw_gid));
    words.push_back("--clear-groups");
  }
  words.insert(words.end(), std::make_move_iterator(command.begin()),
               std::make_move_iterator(command.end()));
  return words;
}

}  // namespace

bool PostgresServer::CreateCluster() {
  if (IsRoot()) {
    const passwd* const user = ::getpwnam(kUser);
    if (user == nullptr || ::chown(folder_.c_str(), user->pw_uid, user->pw_gid) != 0) {
      ADD_FAILURE() << folder_ << " cannot be given to the user " << kUser;
      return false;
    }
    if (!OthersReach(prefix_)) {
      const std::string copy = folder_ + "/usr";
      fs::copy(prefix_, copy, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
      prefix_ = copy;
    }
  }
  std::vector<std::string> command = AsServer(Command("initdb"));
  command.insert(command.end(), {"--pgdata=" + folder_ + "/data", "--username=postgres",
                                 "--auth=trust", "--encoding=UTF8", "--no-locale", "--no-sync"});
  const ProgramResult result = RunProgram(command);
  EXPECT_EQ(result.exit_code, 0) << result.output;
  return result.exit_code == 0;
}

void PostgresServer::Spawn(const std::vector<std::string>& settings) {
  std::vector<std::string> command = AsServer(Command("postgres"));
  command.insert(command.end(), {"-D", folder_ + "/data"});
  std::vector<std::string> all = {"listen_addresses=",
                                  "unix_socket_directories=" + folder_,
                                  "fsync=off",
                                  "jit=off",
                                  "shared_buffers=16MB",
                                  "log_directory=" + folder_ + "/log",
                                  "log_filename=postgresql.log",
                                  "log_rotation_age=0",
                                  "log_rotation_size=0"};
  all.insert(all.end(), settings.begin(), settings.end());
  for (std::string& setting : all) {
    command.emplace_back("-c");
    command.push_back(std::move(setting));
  }
  std::vector<char*> argv;
  for (std::string& word : command) argv.push_back(word.data());
  argv.push_back(nullptr);

  const std::string log = folder_ + "/server.log";
  const int out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  int alive[2];
  ASSERT_EQ(::pipe2(alive, O_CLOEXEC), 0);
  pid_ = ::fork();
  if (pid_ == 0) {
    ::dup2(out, STDOUT_FILENO);
    ::dup2(out, STDERR_FILENO);
    ::fcntl(alive[1], F_SETFD, 0);  // every process of the server inherits it
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  ::close(out);
  ::close(alive[1]);
  alive_ = alive[0];
}

bool PostgresServer::WaitUntilReady() {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (std::chrono::steady_clock::now() < deadline) {
    // The last line is the server's state.
    if (ReadFile(folder_ + "/data/postmaster.pid").find("\nready") != std::string::npos) {
      return true;
    }
    if (::waitpid(pid_, nullptr, WNOHANG) == pid_) {
      pid_ = -1;
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ADD_FAILURE() << "PostgreSQL does not start: " << ReadFile(folder_ + "/server.log");
  return false;
}

ProgramResult PostgresServer::Run(const std::string& program,
                                  const std::vector<std::string>& arguments,
                                  const std::vector<std::string>& environment) const {
  std::vector<std::string> command = Command(program);
  command.insert(command.end() - 1, environment.begin(), environment.end());
  command.insert(command.end(), arguments.begin(), arguments.end());
  return RunProgram(command);
}

void PostgresServer::Stop() { StopWith(SIGINT); }

void PostgresServer::StopWith(int signal) {
  if (pid_ < 0) return;
  ::kill(pid_, signal);
  pollfd end{.fd = alive_, .events = 0, .revents = 0};
  constexpr int kMilliseconds = std::chrono::milliseconds(kPatience).count();
  if (::poll(&end, 1, kMilliseconds) != 1) {
    ADD_FAILURE() << "PostgreSQL does not stop: " << ReadFile(folder_ + "/server.log");
    ::kill(pid_, SIGKILL);
  }
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

}  // namespace pgparsed::test
