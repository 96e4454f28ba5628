#include "grammar/stack_limit.h"

#include "grammar/library.h"
#include "miscadmin.h"

static __thread const char* stack_limit;

void pgparsed_set_stack_limit(const void* lowest) { stack_limit = (const char*)lowest; }

const void* pgparsed_stack_limit(void) { return stack_limit; }

#if PGPARSED_GRAMMAR >= 18

/*
 * Every symbol of libpg_query's stack_depth.o is defined here, so that the linker never takes that
 * one from the archive. It would say so if it did: the symbols would be there twice.
 */

extern void assign_max_stack_depth(int newval, void* extra);

__thread int max_stack_depth = 100;

/* The library sets a base and a limit on each call: here the thread's own limit stands. */
pg_stack_base_t set_stack_base(void) { return NULL; }
void restore_stack_base(pg_stack_base_t base) { (void)base; }
void assign_max_stack_depth(int newval, void* extra) {
  (void)newval;
  (void)extra;
}

bool stack_is_too_deep(void) { return (const char*)__builtin_frame_address(0) < stack_limit; }

void check_stack_depth(void) {
  if (stack_is_too_deep())
    ereport(ERROR, (errcode(ERRCODE_STATEMENT_TOO_COMPLEX), errmsg("stack depth limit exceeded")));
}

#endif
