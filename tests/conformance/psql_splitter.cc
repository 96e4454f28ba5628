#include "tests/conformance/psql_splitter.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace pgparsed::conformance {
namespace {

// Only ASCII letters have cases here, whatever the locale, as in psql.
char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = Lower(c);
  return lower;
}

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool IsSpace(char c) { return std::string_view(" \t\n\r\f\v").find(c) != std::string_view::npos; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsHighBit(char c) { return (static_cast<unsigned char>(c) & 0x80) != 0; }
// ident_start and ident_cont of the lexer; dolq_start equals ident_start.
bool IsIdentStart(char c) {
  return (Lower(c) >= 'a' && Lower(c) <= 'z') || c == '_' || IsHighBit(c);
}
bool IsIdentCont(char c) { return IsIdentStart(c) || IsDigit(c) || c == '$'; }
// dolq_cont and variable_char of the lexer.
bool IsTagCont(char c) { return IsIdentStart(c) || IsDigit(c); }

// The backslash commands that send what stands in the query buffer.
bool SendsBuffer(std::string_view command) {
  static constexpr std::string_view kCommands[] = {
      "g", "gx", "gset", "gexec", "gdesc", "crosstabview", "watch", "parse", "sendpipeline"};
  return std::find(std::begin(kCommands), std::end(kCommands), command) != std::end(kCommands);
}

// The backslash commands whose argument is the rest of the line, whatever it holds.
bool TakesWholeLine(std::string_view command) {
  static constexpr std::string_view kCommands[] = {"!",  "copy", "ef", "ev",
                                                   "sf", "sv",   "h",  "help"};
  return std::find(std::begin(kCommands), std::end(kCommands), command) != std::end(kCommands);
}

class Splitter {
 public:
  explicit Splitter(std::string_view script) : script_(script) {}

  std::vector<PsqlPiece> Run() {
    while (at_ < script_.size()) {
      if (at_ == hole_begin_ && hole_end_ > hole_begin_) {
        at_ = std::exchange(hole_end_, hole_begin_);
      } else {
        Step();
      }
    }
    if (!buffer_.empty()) FinishStatement(script_.size(), /*complete=*/false);
    return std::move(pieces_);
  }

 private:
  char Peek(size_t ahead = 0) const {
    return at_ + ahead < script_.size() ? script_[at_ + ahead] : '\0';
  }
  bool LooksAt(std::string_view text) const { return script_.substr(at_, text.size()) == text; }

  // Takes `count` bytes into the statement (ECHO in the lexer).
  void Echo(size_t count) {
    count = std::min(count, script_.size() - at_);
    if (buffer_.empty() && count > 0) start_ = at_;
    buffer_.append(script_.substr(at_, count));
    at_ += count;
  }

  // Takes everything up to and with the next `end` after `from`, or to the end of the script.
  void EchoThrough(std::string_view end, size_t from) {
    const size_t found = script_.find(end, from);
    Echo(found == std::string_view::npos ? script_.size() - at_ : found + end.size() - at_);
  }

  // One token of the lexer in its INITIAL state.
  void Step() {
    const char c = Peek();
    if (IsSpace(c)) {
      Whitespace(1);
    } else if (LooksAt("--")) {
      const size_t end = std::min(script_.find_first_of("\n\r", at_), script_.size());
      Whitespace(end - at_);
    } else if (LooksAt("/*")) {
      BlockComment();
    } else if (c == '\'') {
      OtherToken();
      std_strings_ ? PlainQuote() : EscapeQuote();
    } else if (c == '"') {
      OtherToken();
      Echo(1);
      EchoThrough("\"", at_);  // A doubled quote is one quoted piece after another.
    } else if (c == '$') {
      OtherToken();
      Dollar();
    } else if (IsDigit(c)) {
      OtherToken();
      Number();
    } else if (IsIdentStart(c)) {
      Word();
    } else if (c == ':') {
      OtherToken();
      Colon();
    } else if (c == '(') {
      OtherToken();
      ++paren_depth_;
      Echo(1);
    } else if (c == ')') {
      OtherToken();
      if (paren_depth_ > 0) --paren_depth_;
      Echo(1);
    } else if (c == ';') {
      Echo(1);
      if (paren_depth_ == 0 && begin_depth_ == 0) {
        FinishStatement(at_, /*complete=*/true);
        Send();
      }
    } else if (c == '\\') {
      Backslash();
    } else {
      OtherToken();
      Echo(1);
    }
  }

  // psql collects white space and -- comments only once the statement has begun.
  void Whitespace(size_t count) {
    if (buffer_.empty()) {
      at_ += count;
    } else {
      Echo(count);
    }
  }

  void BlockComment() {
    Echo(2);
    for (int depth = 1; depth > 0 && at_ < script_.size();) {
      if (LooksAt("/*")) {
        ++depth;
        Echo(2);
      } else if (LooksAt("*/")) {
        --depth;
        Echo(2);
      } else {
        Echo(1);
      }
    }
  }

  // '…': a doubled quote is one quoted piece after another. psql reads line by line, so it knows no
  // continuation of a string on the next line: that is a string of its own, by the rules for '…'.
  void PlainQuote() {
    Echo(1);
    EchoThrough("'", at_);
  }

  // E'…' (at_ is at the quote), or '…' with standard_conforming_strings off.
  void EscapeQuote() {
    Echo(1);
    while (at_ < script_.size()) {
      if (LooksAt("''") || Peek() == '\\') {
        Echo(2);
      } else if (Peek() == '\'') {
        Echo(1);
        return;
      } else {
        Echo(1);
      }
    }
  }

  // A dollar quote, a parameter ($1, and $1abc, which is junk but one token), or a lone $.
  void Dollar() {
    size_t end = 1;
    if (IsDigit(Peek(1))) {
      Echo(1);
      Number();
      return;
    }
    if (IsIdentStart(Peek(1))) {
      while (IsTagCont(Peek(end))) ++end;
    }
    if (Peek(end) != '$') {
      Echo(1);  // dolqfailed: the rest is read again.
      return;
    }
    const std::string delimiter(script_.substr(at_, end + 1));
    EchoThrough(delimiter, at_ + delimiter.size());
  }

  // A number with what sticks to it: 1e'x' is the junk token 1e and then '…', not an E'…'.
  void Number() {
    do {
      Echo(1);
      while (IsDigit(Peek()) || Peek() == '_') Echo(1);
    } while (Peek() == '.');
    if (IsIdentStart(Peek())) {
      while (IsIdentCont(Peek())) Echo(1);
    }
  }

  void Word() {
    const char c = Lower(Peek());
    if (c == 'e' && Peek(1) == '\'') {
      OtherToken();
      Echo(1);
      EscapeQuote();
      return;
    }
    if ((c == 'b' || c == 'x') && Peek(1) == '\'') {
      OtherToken();
      Echo(1);
      PlainQuote();
      return;
    }
    if (c == 'n' && Peek(1) == '\'') {  // N'…': the quote is read as one without the N.
      OtherToken();
      Echo(1);
      return;
    }
    if (c == 'u' && Peek(1) == '&' && (Peek(2) == '\'' || Peek(2) == '"')) {
      OtherToken();
      const char quote = Peek(2);
      Echo(3);
      EchoThrough(std::string_view(&quote, 1), at_);
      return;
    }
    size_t length = 1;
    while (IsIdentCont(Peek(length))) ++length;
    CountIdentifier(Lower(script_.substr(at_, length)));
    Echo(length);
  }

  // psql's way to know that it stands in a BEGIN … END body of CREATE [OR REPLACE] FUNCTION or
  // PROCEDURE: it looks at the first four unquoted words of the statement, and then counts BEGIN,
  // CASE (only inside) and END outside parentheses.
  void CountIdentifier(const std::string& word) {
    if (identifier_count_ == 0) std::fill(std::begin(identifiers_), std::end(identifiers_), '\0');
    const bool counts = word == "create" || word == "function" || word == "procedure" ||
                        word == "or" || word == "replace";
    if (counts && identifier_count_ < std::size(identifiers_)) {
      identifiers_[identifier_count_] = word[0];
    }
    ++identifier_count_;
    const auto is_routine = [](char c) { return c == 'f' || c == 'p'; };
    const bool creates_routine =
        identifiers_[0] == 'c' &&
        (is_routine(identifiers_[1]) ||
         (identifiers_[1] == 'o' && identifiers_[2] == 'r' && is_routine(identifiers_[3])));
    if (creates_routine && paren_depth_ == 0) {
      if (word == "begin" || (word == "case" && begin_depth_ > 0)) {
        ++begin_depth_;
      } else if (word == "end" && begin_depth_ > 0) {
        --begin_depth_;
      }
    }
    if (paren_depth_ == 0) words_.push_back(word);
  }

  // Anything that is no word, for the two places where this code looks at words that follow each
  // other (COPY … FROM stdin, SET standard_conforming_strings).
  void OtherToken() {
    if (paren_depth_ == 0 && Peek() != '(') words_.push_back(std::string(1, Peek()));
  }

  // :: and :=, a variable (:name, :'name', :"name", :{?name}), or a lone colon.
  void Colon() {
    if (Peek(1) == ':' || Peek(1) == '=') {
      Echo(2);
      return;
    }
    size_t end = 1;
    if (IsTagCont(Peek(1))) {
      while (IsTagCont(Peek(end))) ++end;
    } else if (Peek(1) == '\'' || Peek(1) == '"') {
      end = 2;
      while (IsTagCont(Peek(end))) ++end;
      end = end > 2 && Peek(end) == Peek(1) ? end + 1 : 1;  // Else the colon stands alone.
    }
    Echo(end);
  }

  void Backslash() {
    if (Peek(1) == ';' || Peek(1) == ':') {
      // \; and \: put the bare character into the query buffer. psql sends what \; joins in one
      // message; here each is a statement.
      const bool ends = Peek(1) == ';' && paren_depth_ == 0 && begin_depth_ == 0;
      ++at_;
      Echo(1);
      if (ends) FinishStatement(at_, /*complete=*/true);
      return;
    }
    MetaCommand();
  }

  // A backslash command: the name runs to white space or a backslash, the arguments to the end of
  // the line or to a backslash outside quotes; `\\` ends the command and SQL follows on the line.
  void MetaCommand() {
    const size_t begin = at_;
    const size_t line_end = std::min(script_.find('\n', at_), script_.size());
    size_t end = begin + 1;
    while (end < line_end && !IsSpace(script_[end]) && script_[end] != '\\') ++end;
    const std::string command(script_.substr(begin + 1, end - begin - 1));
    const size_t arguments = end;
    if (TakesWholeLine(command)) {
      end = line_end;
    } else {
      end = ArgumentsEnd(command, end, line_end);
    }
    if (SendsBuffer(command)) {
      if (!buffer_.empty()) FinishStatement(begin, /*complete=*/true);
    } else if (command == "r" || command == "reset") {
      buffer_.clear();
      ResetLexer();
    }
    AddPiece(PsqlPiece::Kind::kMetaCommand, begin, end);
    at_ = end;
    if (LooksAt("\\\\")) at_ += 2;
    if (command == "copy") {
      const std::string text = Lower(script_.substr(arguments, end - arguments));
      if (Contains(text, "from stdin")) ++copies_pending_;
    }
    if (SendsBuffer(command) || command == "copy") Send();
  }

  size_t ArgumentsEnd(std::string_view command, size_t end, size_t line_end) const {
    // \g and its kin write to a file, or to a shell command that takes the rest of the line.
    const size_t first = script_.find_first_not_of(" \t", end);
    if (first < line_end && script_[first] == '|' &&
        (command == "g" || command == "gx" || command == "o" || command == "w")) {
      return line_end;
    }
    char quote = '\0';
    for (; end < line_end; ++end) {
      const char c = script_[end];
      if (quote != '\0') {
        if (c == '\\' && quote == '\'') {
          ++end;  // Only '…' knows escapes.
        } else if (c == quote) {
          quote = '\0';
        }
      } else if (c == '\'' || c == '"' || c == '`') {
        quote = c;
      } else if (c == '\\') {
        break;
      }
    }
    return std::min(end, line_end);
  }

  void AddPiece(PsqlPiece::Kind kind, size_t begin, size_t end) {
    PsqlPiece piece;
    piece.kind = kind;
    piece.text = std::string(script_.substr(begin, end - begin));
    piece.offset = begin;
    piece.length = end - begin;
    piece.line = LineOf(begin);
    pieces_.push_back(std::move(piece));
  }

  // The query buffer becomes a statement that ends at `end` in the script.
  void FinishStatement(size_t end, bool complete) {
    PsqlPiece piece;
    piece.text = std::move(buffer_);
    piece.offset = start_;
    piece.length = end - start_;
    piece.line = LineOf(start_);
    piece.complete = complete;
    pieces_.push_back(std::move(piece));
    buffer_.clear();
    FollowStatement();
    ResetLexer();
  }

  void ResetLexer() {
    paren_depth_ = 0;
    begin_depth_ = 0;
    identifier_count_ = 0;
    words_.clear();
  }

  // What the statement just finished means for what comes: data, or another kind of quotes.
  void FollowStatement() {
    if (IsCopyFromStdin(words_)) ++copies_pending_;
    if (words_.empty() || (words_[0] != "set" && words_[0] != "reset")) return;
    for (size_t i = 1; i < words_.size(); ++i) {
      if (words_[i] != "standard_conforming_strings") continue;
      // SET … = off | TO off | TO 'off': the last word, or a quote, which only the text can tell.
      const std::string text = Lower(pieces_.back().text);
      std_strings_ = !Contains(text.substr(text.find("strings")), "off");
    }
  }

  // COPY table … FROM stdin. PostgreSQL takes FROM stdout for the same. COPY (query) can only be
  // TO: its FROM would be the second word here.
  static bool IsCopyFromStdin(const std::vector<std::string>& words) {
    if (words.empty() || words[0] != "copy") return false;
    for (size_t i = 2; i + 1 < words.size(); ++i) {
      if (words[i] == "from") return words[i + 1] == "stdin" || words[i + 1] == "stdout";
    }
    return false;
  }

  // psql sends the buffer. What COPY … FROM stdin asks for is read from the next line on, while the
  // rest of this line is still to be lexed: the data becomes a hole that Run jumps over. (A quote
  // or comment that begins on this line and goes on past the data is not handled.)
  void Send() {
    size_t begin = script_.find('\n', at_);
    if (begin != std::string_view::npos && copies_pending_ > 0) {
      ++begin;
      hole_begin_ = begin;
      hole_end_ = begin;
      while (copies_pending_ > 0 && TakeCopyData()) --copies_pending_;
    }
    copies_pending_ = 0;
  }

  // Takes the lines from hole_end_ to `\.`. False, and nothing taken, when they are no data.
  bool TakeCopyData() {
    size_t rows = 0;
    for (size_t line = hole_end_; line < script_.size(); ++rows) {
      const size_t end = std::min(script_.find('\n', line), script_.size());
      std::string_view text = script_.substr(line, end - line);
      if (text.ends_with('\r')) text.remove_suffix(1);
      const size_t next = std::min(end + 1, script_.size());
      if (text == "\\.") {
        AddPiece(PsqlPiece::Kind::kCopyData, hole_end_, next);
        pieces_.back().copy_rows = rows;
        hole_end_ = next;
        return true;
      }
      const std::string lower = Lower(text);
      if (lower.starts_with("copy ") && Contains(lower, "from stdin")) return false;
      line = end + 1;
    }
    return false;
  }

  // Lines are asked for in ascending order but for the start of a statement, which lies before
  // commands inside it: then the count goes back.
  size_t LineOf(size_t offset) {
    if (offset < counted_to_) {
      line_ -= static_cast<size_t>(
          std::count(script_.begin() + offset, script_.begin() + counted_to_, '\n'));
    } else {
      line_ += static_cast<size_t>(
          std::count(script_.begin() + counted_to_, script_.begin() + offset, '\n'));
    }
    counted_to_ = offset;
    return line_;
  }

  const std::string_view script_;
  std::vector<PsqlPiece> pieces_;
  size_t at_ = 0;  // The next byte to read.

  // The statement being collected: psql's query buffer, and where it began in the script.
  std::string buffer_;
  size_t start_ = 0;

  // The lexer's state.
  bool std_strings_ = true;
  int paren_depth_ = 0;
  int begin_depth_ = 0;
  size_t identifier_count_ = 0;
  char identifiers_[4] = {};

  // The words of the statement outside parentheses, in lower case; other tokens by their first
  // byte.
  std::vector<std::string> words_;
  // COPY … FROM stdin statements in what psql sends next.
  int copies_pending_ = 0;
  // COPY data between the line being lexed and the next line of SQL; empty when both are equal.
  size_t hole_begin_ = 0;
  size_t hole_end_ = 0;

  // LineOf's memory: line_ is the line of counted_to_.
  size_t line_ = 1;
  size_t counted_to_ = 0;
};

}  // namespace

std::vector<PsqlPiece> SplitPsqlScript(std::string_view script) { return Splitter(script).Run(); }

std::vector<std::string> PsqlStatements(std::string_view script) {
  std::vector<std::string> statements;
  for (PsqlPiece& piece : SplitPsqlScript(script)) {
    if (piece.kind == PsqlPiece::Kind::kStatement) statements.push_back(std::move(piece.text));
  }
  return statements;
}

}  // namespace pgparsed::conformance
