// RunGuarded for C++, and errors of the library as GrammarErrors. For sources of this folder.
#pragma once

#include <optional>
#include <type_traits>

#include "grammar/error.h"
#include "grammar/guard.h"
#include "grammar/library.h"

namespace pgparsed::grammar {

// Runs body() in a memory context of the library. Its rules are those of pgparsed_run_guarded.
// `otherwise` is the reason of an error that is neither too deep nor out of memory.
template <typename Body>
std::optional<GrammarError> RunGuarded(void* memory_context, Reason otherwise, Body body) {
  static_assert(std::is_trivially_destructible_v<Body>);
  PgparsedFailure failure = {};
  const auto call = [](void* argument) { (*static_cast<Body*>(argument))(); };
  if (pgparsed_run_guarded(memory_context, call, &body, &failure)) return std::nullopt;
  GrammarError error;
  error.message = failure.message;
  error.reason = ReasonOfPostgresError(error.message, otherwise);
  error.from_postgres = true;
  error.cursor = failure.cursor > 0 ? static_cast<uint32_t>(failure.cursor) : 0;
  error.source_function = failure.function;
  error.source_file = failure.file;
  error.source_line = failure.line > 0 ? static_cast<uint32_t>(failure.line) : 0;
  error.context = failure.context;
  return error;
}

// The error of a public function of the library; `error` stays the caller's.
inline GrammarError FromLibrary(const PgQueryError& error, Reason otherwise) {
  const auto text = [](const char* value) { return std::string(value != nullptr ? value : ""); };
  GrammarError result;
  result.message = text(error.message);
  result.reason = ReasonOfPostgresError(result.message, otherwise);
  result.from_postgres = true;
  result.cursor = error.cursorpos > 0 ? static_cast<uint32_t>(error.cursorpos) : 0;
  result.source_function = text(error.funcname);
  result.source_file = text(error.filename);
  result.source_line = error.lineno > 0 ? static_cast<uint32_t>(error.lineno) : 0;
  result.context = text(error.context);
  return result;
}

}  // namespace pgparsed::grammar
