#include "bench/service/commands.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace pgparsed::bench {
namespace {

constexpr std::chrono::seconds kLongestEnd{5};

// A line without its end; nothing at the end of the file.
std::optional<std::string> ReadLine(FILE* file) {
  char* line = nullptr;
  size_t room = 0;
  const ssize_t size = getline(&line, &room, file);
  std::optional<std::string> text;
  if (size > 0) text.emplace(line, static_cast<size_t>(size) - (line[size - 1] == '\n' ? 1 : 0));
  std::free(line);
  return text;
}

Words SplitWords(const std::string& line) { return absl::StrSplit(line, ' ', absl::SkipEmpty()); }

}  // namespace

absl::StatusOr<std::unique_ptr<Child>> Child::Start(const std::vector<std::string>& command) {
  int in[2];
  int out[2];
  if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) {
    return absl::ResourceExhaustedError("cannot make a pipe");
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  std::vector<std::string> words = command;
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t pid = -1;
  const int error = posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(in[0]);
  close(out[1]);
  if (error != 0) {
    close(in[1]);
    close(out[0]);
    return absl::NotFoundError(
        absl::StrCat("cannot start ", command.front(), ": ", std::strerror(error)));
  }
  return std::unique_ptr<Child>(new Child(pid, fdopen(in[1], "w"), fdopen(out[0], "r")));
}

Child::~Child() {
  std::fclose(to_);
  std::fclose(from_);
  const auto deadline = std::chrono::steady_clock::now() + kLongestEnd;
  while (waitpid(pid_, nullptr, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() >= deadline) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
      return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

absl::StatusOr<Words> Child::Ask(std::string_view command, std::string_view bytes) {
  std::fprintf(to_, "%.*s %zu\n", static_cast<int>(command.size()), command.data(), bytes.size());
  std::fwrite(bytes.data(), 1, bytes.size(), to_);
  std::fflush(to_);
  const std::optional<std::string> line = ReadLine(from_);
  if (!line) return absl::AbortedError("a program ended at the command " + std::string(command));
  Words words = SplitWords(*line);
  if (words.empty() || words.front() != "ok") return absl::InternalError(*line);
  words.erase(words.begin());
  return words;
}

void ObeyCommands(
    const std::function<absl::StatusOr<std::string>(const Words& words, std::string bytes)>& obey) {
  while (const std::optional<std::string> line = ReadLine(stdin)) {
    Words words = SplitWords(*line);
    size_t size = 0;
    if (words.size() < 2 || !absl::SimpleAtoi(words.back(), &size)) return;
    words.pop_back();
    std::string bytes(size, '\0');
    if (std::fread(bytes.data(), 1, size, stdin) != size) return;
    const absl::StatusOr<std::string> answer = obey(words, std::move(bytes));
    if (answer.ok()) {
      std::printf("ok %s\n", answer->c_str());
    } else {
      std::printf("error %s\n", std::string(answer.status().message()).c_str());
    }
    std::fflush(stdout);
  }
}

}  // namespace pgparsed::bench
