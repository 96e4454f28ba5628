// What the commands of pgparse do: a request, a call, an answer for people or programs.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cli/arguments.h"
#include "cli/input.h"
#include "cli/output.h"
#include "pgparsed/client.h"

namespace pgparsed::cli {

// Whether the command reads a text (ReadInput) before it runs.
bool NeedsInput(Command command);

// Runs a command that is not one of stream_commands.h and writes the answer to `out`; warnings and
// --timing go to standard error. Blocks for the call. Errors of the call are returned and not
// written; so are those of single operations of analyze, each different one once, in `partial` (the
// JSON holds them all the same).
absl::Status RunCommand(const Arguments& arguments, const Input& input, Client& client, Output& out,
                        std::vector<absl::Status>* partial);

// An error as its status code and --json ask for it: with a caret, or as JSON.
std::string RenderError(const absl::Status& status, const Arguments& arguments, const Input& input,
                        const Output& stream);

}  // namespace pgparsed::cli
