// StatementShape: what the tokens of one statement say about where it ends and what follows it.
//
// It is told every token outside quotes and comments, in order, and knows parentheses, the body of
// CREATE FUNCTION … BEGIN ATOMIC … END, COPY … FROM stdin, and SET standard_conforming_strings.
// Constant memory; not thread-safe.
#pragma once

#include <cstdint>
#include <string_view>

namespace pgparsed::splitter {

class StatementShape {
 public:
  // The longest word that means anything here; longer ones may be handed over as "".
  static constexpr size_t kLongestWord = sizeof("standard_conforming_strings") - 1;

  // For the next statement.
  void Reset() { *this = StatementShape(); }

  // Whether Word and Token must be called: most statements are ordinary after their first word.
  bool follows() const { return head_ != Head::kOrdinary; }

  // An unquoted word, in lower case.
  void Word(std::string_view word);
  // Any other token but parentheses and semicolons, by its first byte.
  void Token(char first);
  // Parentheses are always told.
  void OpenParenthesis() {
    if (follows()) Token('(');
    ++parentheses_;
  }
  void CloseParenthesis() {
    if (parentheses_ > 0) --parentheses_;
    if (follows()) Token(')');
  }
  // A semicolon. Returns whether it ends the statement.
  bool Semicolon();

  // A parenthesis or a body is open.
  bool open() const { return parentheses_ > 0 || bodies_ > 0; }
  // The statement is COPY … FROM stdin: its data follows.
  bool copies_from_stdin() const { return head_ == Head::kCopyFromStdin; }
  // The statement sets or resets standard_conforming_strings.
  bool sets_strings() const { return head_ == Head::kSetStrings; }

 private:
  // How far the statement's beginning is known.
  enum class Head : uint8_t {
    kNothing,
    kCreate,
    kCreateOr,
    kCreateOrReplace,
    kRoutine,  // CREATE [OR REPLACE] {FUNCTION | PROCEDURE}
    kCopy,
    kCopyTarget,  // COPY and at least one token of its table
    kCopyFrom,
    kCopyFromStdin,
    kSet,         // SET or RESET
    kSetStrings,  // SET or RESET … standard_conforming_strings
    kOrdinary,    // none of these: nothing more to know
  };
  // The token before this one, in a routine.
  enum class Before : uint8_t { kOther, kBegin, kAs, kDot };

  void RoutineWord(std::string_view word);

  Head head_ = Head::kNothing;
  Before before_ = Before::kOther;
  uint64_t parentheses_ = 0;
  uint64_t bodies_ = 0;  // BEGIN ATOMIC without its END
  uint64_t cases_ = 0;   // CASE without its END, in the body's current statement
};

}  // namespace pgparsed::splitter
