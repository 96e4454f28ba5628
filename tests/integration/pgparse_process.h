// pgparse as a user runs it: arguments, standard input, environment, a terminal or none.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace pgparsed::test {

// A folder for one test: what the programs use as TMPDIR, and where inputs and outputs stand.
class Workplace {
 public:
  Workplace();
  ~Workplace();
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;

  const std::string& folder() const { return folder_; }
  // The TMPDIR of programs that run here.
  std::string temporary() const { return folder_ + "/tmp"; }
  // Writes a file and returns its path.
  std::string File(const std::string& name, const std::string& content) const;

  // Whether TMPDIR is empty and no process with this TMPDIR in its environment is left. Waits for
  // processes that are about to end.
  bool IsClean() const;

 private:
  std::string folder_;
};

struct PgparseRun {
  std::vector<std::string> arguments;
  std::string input;                     // standard input
  std::vector<std::string> environment;  // "NAME=value", beside TMPDIR and PATH
  bool on_a_terminal = false;            // standard output is a terminal
};

struct PgparseResult {
  int exit_code = -1;  // 128 + signal when a signal ended it
  std::string out;
  std::string err;  // empty when on_a_terminal: it is in `out`
};

std::string PgparseBinary();

// Whether programs can be run on a terminal here: a bare chroot has no /dev/pts.
bool HasPseudoTerminals();

PgparseResult RunPgparse(const Workplace& place, const PgparseRun& run);

// Starts pgparse, as the leader of a process group, with these descriptors; the caller waits for
// it. In the child everything else is as in RunPgparse.
pid_t SpawnPgparse(const Workplace& place, const PgparseRun& run, int in, int out, int err);

// Puts this thread and the processes that it starts into a network of their own, where nobody
// listens. False where the system does not permit it.
bool EnterPrivateNetwork();

}  // namespace pgparsed::test
