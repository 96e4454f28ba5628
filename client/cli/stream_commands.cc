#include "cli/stream_commands.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "pgparsed/errors.h"

namespace pgparsed::cli {

bool IsStreamCommand(Command command) {
  return command == Command::kBatch || command == Command::kScript || command == Command::kWorkload;
}

absl::StatusOr<ExitCode> RunStreamCommand(const Arguments& arguments, Client& client, Output& out) {
  switch (arguments.command) {
    case Command::kBatch:
      return RunBatch(arguments, client, out);
    case Command::kScript:
      return RunScript(arguments, client, out);
    case Command::kWorkload:
      return RunWorkload(arguments, client, out);
    default:
      return MakeError(Reason::kInternal, "not a stream command");
  }
}

v1::StreamOptions StreamOptionsOf(const Arguments& arguments) {
  v1::StreamOptions options;
  options.set_grammar(arguments.grammar);
  if (arguments.parser_options.ByteSizeLong() > 0) {
    *options.mutable_parser_options() = arguments.parser_options;
  }
  options.set_position_encoding(arguments.positions);
  for (const v1::Operation operation : arguments.operations) options.add_operations(operation);
  options.set_format(v1::TREE_FORMAT_JSON);
  options.set_conversion(arguments.conversion);
  *options.mutable_fingerprint_options() = arguments.fingerprint_options;
  options.set_utility_only(arguments.utility_only);
  options.set_split_method(arguments.split_method);
  *options.mutable_layout() = arguments.layout;
  options.set_drop_comments(arguments.drop_comments);
  return options;
}

absl::Status OutputGone() {
  return MakeError(Reason::kCancelled, "nobody reads the output any more");
}

std::string Throughput(uint64_t count, std::string_view what, double seconds) {
  std::string text =
      absl::StrCat(count, " ", std::string(what), absl::StrFormat(" in %.2f s", seconds));
  if (seconds > 0) {
    absl::StrAppendFormat(&text, " (%.0f/s)", static_cast<double>(count) / seconds);
  }
  return text;
}

}  // namespace pgparsed::cli
