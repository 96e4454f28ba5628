#include "splitter/statement_shape.h"

namespace pgparsed::splitter {

void StatementShape::Word(std::string_view word) {
  switch (head_) {
    case Head::kNothing:
      head_ = word == "create"                   ? Head::kCreate
              : word == "copy"                   ? Head::kCopy
              : word == "set" || word == "reset" ? Head::kSet
                                                 : Head::kOrdinary;
      break;
    case Head::kCreate:
    case Head::kCreateOrReplace:
      head_ = word == "function" || word == "procedure" ? Head::kRoutine
              : word == "or" && head_ == Head::kCreate  ? Head::kCreateOr
                                                        : Head::kOrdinary;
      break;
    case Head::kCreateOr:
      head_ = word == "replace" ? Head::kCreateOrReplace : Head::kOrdinary;
      break;
    case Head::kRoutine:
      RoutineWord(word);
      break;
    case Head::kCopy:
      head_ = Head::kCopyTarget;
      break;
    case Head::kCopyTarget:
      if (parentheses_ == 0 && word == "from") head_ = Head::kCopyFrom;
      break;
    case Head::kCopyFrom:
      // PostgreSQL's grammar takes either name for either direction.
      head_ = word == "stdin" || word == "stdout" ? Head::kCopyFromStdin : Head::kOrdinary;
      break;
    case Head::kSet:
      if (word == "standard_conforming_strings") head_ = Head::kSetStrings;
      break;
    case Head::kCopyFromStdin:
    case Head::kSetStrings:
    case Head::kOrdinary:
      break;
  }
}

void StatementShape::Token(char first) {
  switch (head_) {
    case Head::kRoutine:
      before_ = first == '.' ? Before::kDot : Before::kOther;
      break;
    case Head::kCopy:
      // COPY (query) only writes.
      head_ = first == '(' ? Head::kOrdinary : Head::kCopyTarget;
      break;
    case Head::kCopyTarget:
    case Head::kCopyFromStdin:
    case Head::kSet:
    case Head::kSetStrings:
      break;
    default:
      head_ = Head::kOrdinary;
      break;
  }
}

bool StatementShape::Semicolon() {
  if (parentheses_ > 0) return false;
  if (bodies_ == 0) return true;
  before_ = Before::kOther;
  cases_ = 0;  // no expression goes on behind it
  return false;
}

// BEGIN alone may be a name, here as anywhere; only BEGIN ATOMIC opens a body. An END closes a CASE
// of its statement, or is a label (`AS end`, `t.end`); where it can be neither it closes the body,
// even if the semicolon before it was forgotten.
void StatementShape::RoutineWord(std::string_view word) {
  const Before before = before_;
  before_ = word == "begin" ? Before::kBegin : word == "as" ? Before::kAs : Before::kOther;
  if (parentheses_ > 0) return;
  if (word == "atomic" && before == Before::kBegin) ++bodies_;
  if (bodies_ == 0 || before == Before::kAs || before == Before::kDot) return;
  if (word == "case") {
    ++cases_;
  } else if (word == "end") {
    --(cases_ > 0 ? cases_ : bodies_);
  }
}

}  // namespace pgparsed::splitter
