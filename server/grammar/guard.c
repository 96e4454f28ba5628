#include "grammar/guard.h"

#include "grammar/library.h"

static const char* or_empty(const char* text) { return text != NULL ? text : ""; }

bool pgparsed_run_guarded(void* memory_context, void (*body)(void*), void* argument,
                          PgparsedFailure* failure) {
  volatile bool done = false;
  CurrentMemoryContext = (MemoryContext)memory_context;
  PG_TRY();
  {
    body(argument);
    done = true;
  }
  PG_CATCH();
  {
    ErrorData* data;
    // Errors leave the error context current, which FlushErrorState empties.
    CurrentMemoryContext = (MemoryContext)memory_context;
    data = CopyErrorData();
    FlushErrorState();
    failure->message = or_empty(data->message);
    failure->function = or_empty(data->funcname);
    failure->file = or_empty(data->filename);
    failure->context = or_empty(data->context);
    failure->line = data->lineno;
    failure->cursor = data->cursorpos;
  }
  PG_END_TRY();
  return done;
}
