#include "tests/conformance/oracle_client.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <limits>
#include <system_error>

#include "absl/strings/str_cat.h"

extern char** environ;

namespace pgparsed::conformance {

absl::StatusOr<std::unique_ptr<OracleClient>> OracleClient::Start(std::string program) {
  // A write to an oracle that died must come back as an error.
  std::signal(SIGPIPE, SIG_IGN);
  std::unique_ptr<OracleClient> client(new OracleClient(std::move(program)));
  if (absl::Status status = client->Spawn(); !status.ok()) return status;
  return client;
}

OracleClient::~OracleClient() { Reap(); }

absl::Status OracleClient::Spawn() {
  int request[2];
  int answer[2];
  if (pipe2(request, O_CLOEXEC) != 0 || pipe2(answer, O_CLOEXEC) != 0) {
    return absl::InternalError(absl::StrCat("pipe: ", std::generic_category().message(errno)));
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, request[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, answer[1], STDOUT_FILENO);
  char* arguments[] = {const_cast<char*>(program_.c_str()), nullptr};
  const int failed = posix_spawn(&pid_, program_.c_str(), &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(request[0]);
  close(answer[1]);
  to_oracle_ = request[1];
  from_oracle_ = answer[0];
  if (failed != 0) {
    pid_ = -1;
    return absl::NotFoundError(absl::StrCat("cannot start the oracle ", program_, ": ",
                                            std::generic_category().message(failed)));
  }
  return absl::OkStatus();
}

int OracleClient::Reap() {
  if (to_oracle_ >= 0) close(to_oracle_);
  if (from_oracle_ >= 0) close(from_oracle_);
  to_oracle_ = from_oracle_ = -1;
  if (pid_ < 0) return 0;
  // The oracle ends by itself: it is dead, or it reads the end of its stdin.
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

absl::StatusOr<OracleAnswers> OracleClient::Ask(uint32_t mask, std::string_view sql) {
  if (sql.size() > std::numeric_limits<uint32_t>::max()) {
    return absl::InvalidArgumentError("statement longer than 4 GiB");
  }
  if (std::optional<OracleAnswers> answers = AskProcess(mask, sql); answers.has_value()) {
    return *std::move(answers);
  }
  const int signal = Reap();
  if (absl::Status status = Spawn(); !status.ok()) return status;
  const bool one_operation = (mask & (mask - 1)) == 0;
  if (one_operation) {
    ++crashes_;
    OracleAnswer crashed;
    crashed.state = OracleAnswer::State::kCrashed;
    crashed.signal = signal;
    return OracleAnswers{{static_cast<OracleOperation>(mask), std::move(crashed)}};
  }
  OracleAnswers answers;
  for (uint32_t bit = 1; bit != 0 && bit <= mask; bit <<= 1) {
    if ((mask & bit) == 0) continue;
    absl::StatusOr<OracleAnswers> one = Ask(bit, sql);
    if (!one.ok()) return one.status();
    answers.merge(*one);
  }
  return answers;
}

std::optional<OracleAnswers> OracleClient::AskProcess(uint32_t mask, std::string_view sql) {
  const uint32_t head[2] = {mask, static_cast<uint32_t>(sql.size())};
  if (!WriteAll(head, sizeof head) || !WriteAll(sql.data(), sql.size())) return std::nullopt;
  OracleAnswers answers;
  for (uint32_t bit = 1; bit != 0 && bit <= mask; bit <<= 1) {
    if ((mask & bit) == 0) continue;
    uint32_t operation_and_state[2];
    OracleAnswer answer;
    if (!ReadAll(operation_and_state, sizeof operation_and_state) ||
        !ReadAll(&answer.nanoseconds, sizeof answer.nanoseconds)) {
      return std::nullopt;
    }
    const auto operation = static_cast<OracleOperation>(operation_and_state[0]);
    if (operation_and_state[1] == 0) {
      std::optional<std::string> bytes;
      if (!ReadString(&bytes)) return std::nullopt;
      answer.bytes = std::move(bytes).value_or("");
      if (operation == OracleOperation::kFingerprint) {
        std::memcpy(&answer.fingerprint, answer.bytes.data(), sizeof answer.fingerprint);
        answer.bytes.erase(0, sizeof answer.fingerprint);
      }
    } else if (operation_and_state[1] == 1) {
      answer.state = OracleAnswer::State::kError;
      OracleError& error = answer.error;
      std::optional<std::string> message;
      if (!ReadString(&message) || !ReadAll(&error.cursorpos, sizeof(int32_t)) ||
          !ReadString(&error.funcname) || !ReadString(&error.filename) ||
          !ReadAll(&error.lineno, sizeof(int32_t)) || !ReadString(&error.context)) {
        return std::nullopt;
      }
      error.message = std::move(message).value_or("");
    } else {
      answer.state = OracleAnswer::State::kUnsupported;
    }
    answers.emplace(operation, std::move(answer));
  }
  return answers;
}

bool OracleClient::WriteAll(const void* bytes, size_t length) {
  const char* at = static_cast<const char*>(bytes);
  while (length > 0) {
    const ssize_t written = write(to_oracle_, at, length);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    at += written;
    length -= static_cast<size_t>(written);
  }
  return true;
}

bool OracleClient::ReadAll(void* bytes, size_t length) {
  char* at = static_cast<char*>(bytes);
  while (length > 0) {
    const ssize_t got = read(from_oracle_, at, length);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    length -= static_cast<size_t>(got);
  }
  return true;
}

bool OracleClient::ReadString(std::optional<std::string>* text) {
  uint64_t length = 0;
  if (!ReadAll(&length, sizeof length)) return false;
  if (length == std::numeric_limits<uint64_t>::max()) {
    text->reset();
    return true;
  }
  text->emplace(length, '\0');
  return ReadAll((*text)->data(), length);
}

std::vector<OracleSplit> DecodeSplits(std::string_view bytes) {
  std::vector<OracleSplit> splits(bytes.size() / (2 * sizeof(int32_t)));
  for (size_t i = 0; i < splits.size(); ++i) {
    int32_t pair[2];
    std::memcpy(pair, bytes.data() + i * sizeof pair, sizeof pair);
    splits[i] = {pair[0], pair[1]};
  }
  return splits;
}

}  // namespace pgparsed::conformance
