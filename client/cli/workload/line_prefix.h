// PostgreSQL's setting log_line_prefix: what stands before "LOG:  " on a line of its log.
// Immutable; thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace pgparsed::cli {

class LinePrefix {
 public:
  // As in postgresql.conf: "%m [%p] ". Like the server, leaves unknown escapes out.
  explicit LinePrefix(std::string_view setting);

  // Whether `text` is what the setting gives, for a session or (up to %q) for a process that is
  // none. `session` becomes the session's id (%c), else the process's (%p), else empty.
  // Time: at most the length of `text` times the number of escapes, times a small number.
  bool Matches(std::string_view text, std::string_view* session) const;

 private:
  enum class Kind { kLiteral, kProcess, kSession, kNumber, kAny, kSpaces };
  struct Item {
    Kind kind;
    std::string literal;
  };
  class Matcher;

  std::vector<Item> items_;
  std::vector<Item> short_items_;  // what a process that is no session writes
};

// What of a prefix that is not known looks like the id of a session: 8 hexadecimal digits, a point,
// more of them (%c); else digits in brackets, maybe with a line number ([%p], [%p-%l]). Else empty.
std::string_view GuessSession(std::string_view prefix);

}  // namespace pgparsed::cli
