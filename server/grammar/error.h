// Errors of a grammar's operations as values. PostgreSQL's are recognised by their text: the
// library hands no SQLSTATE out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "pgparsed/errors.h"

namespace pgparsed::grammar {

struct GrammarError {
  Reason reason = Reason::kInternal;
  std::string message;
  // PostgreSQL reported it: the fields below say where.
  bool from_postgres = false;
  uint32_t cursor = 0;  // in the query, in characters from 1; 0: no place
  std::string source_function;
  std::string source_file;
  uint32_t source_line = 0;
  std::string context;
};

// A value or the error that stands in its place.
template <typename T>
class Result {
 public:
  Result(T value) : state_(std::move(value)) {}             // NOLINT: converts on purpose
  Result(GrammarError error) : state_(std::move(error)) {}  // NOLINT: converts on purpose

  bool ok() const { return state_.index() == 0; }
  const T& value() const { return std::get<0>(state_); }
  T& value() { return std::get<0>(state_); }
  const GrammarError& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, GrammarError> state_;
};

// The reason of an error that PostgreSQL reported with `message`: too deep, out of memory, or
// `otherwise`.
Reason ReasonOfPostgresError(std::string_view message, Reason otherwise);

// Errors that this project makes itself.
GrammarError MakeGrammarError(Reason reason, std::string_view message);

}  // namespace pgparsed::grammar
