#include "splitter/meta_command.h"

#include <algorithm>
#include <string>

#include "splitter/byte_class.h"
#include "splitter/statement_shape.h"

namespace pgparsed::splitter {
namespace {

template <size_t kCount>
bool IsOneOf(std::string_view name, const std::string_view (&names)[kCount]) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

}  // namespace

Arguments ArgumentsOf(std::string_view name) {
  static constexpr std::string_view kWholeLine[] = {"!",  "copy", "ef", "ev",
                                                    "sf", "sv",   "h",  "help"};
  static constexpr std::string_view kPipe[] = {"g", "gx", "o", "out", "w", "write"};
  if (IsOneOf(name, kWholeLine)) return Arguments::kWholeLine;
  return IsOneOf(name, kPipe) ? Arguments::kPipe : Arguments::kWords;
}

bool SendsStatements(std::string_view name) {
  static constexpr std::string_view kNames[] = {
      "g", "gx", "gset", "gexec", "gdesc", "crosstabview", "watch", "parse", "sendpipeline"};
  return IsOneOf(name, kNames);
}

bool DropsStatements(std::string_view name) { return name == "r" || name == "reset"; }

bool CopiesFromScript(std::string_view command) {
  if (!command.starts_with("\\copy")) return false;
  // Behind the backslash it reads like the statement.
  StatementShape shape;
  for (size_t at = 1; at < command.size();) {
    const char c = command[at];
    size_t end = at + 1;
    if (IsWordStart(c)) {
      while (end < command.size() && IsWordByte(command[end])) ++end;
      std::string word(command.substr(at, end - at));
      std::transform(word.begin(), word.end(), word.begin(), Lower);
      shape.Word(word);
    } else if (c == '(') {
      shape.OpenParenthesis();
    } else if (c == ')') {
      shape.CloseParenthesis();
    } else if (!IsSpace(c)) {
      if (c == '\'' || c == '"') end = std::min(command.find(c, end), command.size() - 1) + 1;
      shape.Token(c);
    }
    at = end;
  }
  return shape.copies_from_stdin();
}

}  // namespace pgparsed::splitter
