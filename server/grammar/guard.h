// Runs a part of the library so that its errors, which are longjmps, come back as values.
#pragma once

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

// What PostgreSQL reported. The strings live in the memory context that the body ran in.
typedef struct PgparsedFailure {
  const char* message;
  const char* function;
  const char* file;
  const char* context;
  int line;
  int cursor;  // in characters from 1; 0: none
} PgparsedFailure;

// Makes `memory_context` (a MemoryContext) the current one and calls body(argument). Returns false,
// with `failure` filled in, if the library reported an error: then the body was left in the
// middle, and destructors of its frames have not run. The body, and what it calls, must therefore
// hold nothing that has to be released.
bool pgparsed_run_guarded(void* memory_context, void (*body)(void*), void* argument,
                          PgparsedFailure* failure);

#ifdef __cplusplus
}
#endif
