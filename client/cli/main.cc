// pgparse: the command-line client of pgparsed.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/connection.h"
#include "cli/exit_code.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/stream_commands.h"
#include "cpp/query_text.h"

namespace pgparsed::cli {
namespace {

// Where standard input, output or error is closed, a file or a socket that is opened later would
// take its place. Opened the wrong way round here: reading and writing fail as they should.
void KeepStandardDescriptors() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) < 0)
      (void)::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

int Main(int argc, char** argv) {
  KeepStandardDescriptors();
  // A reader that goes away ends the output, not the program.
  ::signal(SIGPIPE, SIG_IGN);
  Output out(STDOUT_FILENO);
  Output error(STDERR_FILENO);

  auto parsed = ParseArguments(argc, argv);
  if (const auto* notice = std::get_if<Notice>(&parsed)) {
    Output& stream = notice->exit_code == kExitOk ? out : error;
    stream.Write(notice->text);
    return stream.Finish().ok() ? notice->exit_code : kExitInternal;
  }
  const auto& arguments = std::get<Arguments>(parsed);

  Input input;
  const auto fail = [&](const absl::Status& status) {
    // With --json, errors go where answers go.
    Output& stream = arguments.json ? out : error;
    stream.Write(RenderError(status, arguments, input, stream));
    stream.Finish().IgnoreError();
    return ExitCodeOf(status);
  };

  if (NeedsInput(arguments.command)) {
    const bool binary = arguments.command == Command::kDeparse && !arguments.tree_is_json;
    absl::StatusOr<Input> read = ReadInput(
        arguments.text, arguments.file,
        binary ? "pgparse: reading a protobuf tree from the terminal; -f FILE or "
                 "`pgparse parse --format protobuf ... | pgparse deparse` is what you want"
               : "pgparse: reading from the terminal; end with Ctrl-D");
    if (!read.ok()) return fail(read.status());
    input = *std::move(read);
    if (!binary) {
      if (const absl::Status text = client::CheckQueryText(input.text); !text.ok())
        return fail(text);
    }
  }

  std::string note;
  absl::StatusOr<Connection> connection = Connection::Open(arguments, &note);
  if (!connection.ok()) return fail(connection.status());
  if (!note.empty()) {
    error.Write("pgparse: " + note + "\n");
    error.Finish().IgnoreError();
  }

  if (IsStreamCommand(arguments.command)) {
    const absl::StatusOr<ExitCode> code = RunStreamCommand(arguments, connection->client(), out);
    const absl::Status written = out.Finish();
    if (!code.ok()) return fail(code.status());
    return written.ok() ? *code : fail(written);
  }

  std::vector<absl::Status> partial;
  const absl::Status status = RunCommand(arguments, input, connection->client(), out, &partial);
  const absl::Status written = out.Finish();
  if (!status.ok()) return fail(status);
  if (!written.ok()) {
    error.Write("pgparse: " + std::string(written.message()) + "\n");
    error.Finish().IgnoreError();
    return kExitInternal;
  }
  if (partial.empty()) return kExitOk;
  if (!arguments.json) {
    for (const absl::Status& one : partial) fail(one);
  }
  return ExitCodeOf(partial.front());
}

}  // namespace
}  // namespace pgparsed::cli

int main(int argc, char** argv) { return pgparsed::cli::Main(argc, argv); }
