#include "grammar/memory.h"

// Last: its macros would break other headers.
#include "grammar/library.h"

namespace pgparsed::grammar {

LibraryScope::LibraryScope() : context_(pg_query_enter_memory_context()) {}

LibraryScope::~LibraryScope() {
  pg_query_exit_memory_context(static_cast<MemoryContext>(context_));
}

void ReleaseLibraryMemory() {
  // Not pg_query_exit(): PL/pgSQL keeps contexts below the top one that it would leave dangling.
  pg_query_init();
#if PGPARSED_GRAMMAR >= 18
  AllocSetDeleteFreeList();
#else
  AllocSetDeleteFreeList(TopMemoryContext);
#endif
}

}  // namespace pgparsed::grammar
