// How the benchmark speaks with the programs that it starts: commands and answers over pipes. A
// command is a line of words, the last of which is the number of bytes that follow the line. An
// answer is a line, "ok" and words, or "error" and a text.
#pragma once

#include <sys/types.h>

#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace pgparsed::bench {

using Words = std::vector<std::string>;

// A program that obeys commands. It ends when its input does, so also when this process dies.
// Not thread-safe.
class Child {
 public:
  static absl::StatusOr<std::unique_ptr<Child>> Start(const std::vector<std::string>& command);

  // Closes its input and waits for its end; kills it if that takes long.
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }

  // Blocks until the answer is there. Returns the words behind "ok".
  absl::StatusOr<Words> Ask(std::string_view command, std::string_view bytes = {});

 private:
  Child(pid_t pid, FILE* to, FILE* from) : pid_(pid), to_(to), from_(from) {}

  const pid_t pid_;
  FILE* to_;
  FILE* from_;
};

// The other side: obeys commands from standard input until it ends. `obey` gets the words of a
// command without the number, and returns the words behind "ok".
void ObeyCommands(
    const std::function<absl::StatusOr<std::string>(const Words& words, std::string bytes)>& obey);

}  // namespace pgparsed::bench
