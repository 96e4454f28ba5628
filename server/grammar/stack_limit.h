// How deep the library, and what walks trees here, may go on the current thread's stack.
//
// PostgreSQL asks check_stack_depth() in its recursive functions. libpg_query 18 allows it at most
// 2 MB, whatever the thread has: there stack_limit.c takes the place of the library's object file,
// so that the real end of the stack counts.
//
// libpg_query 15 and 17 never object, and that must stay: their normalizer takes any error below it
// for the end of a branch, and would leave constants in clear. They run into the guard page behind
// the stack, which ends the process (worker/crash_handler.h).
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

// For the calling thread: a stack pointer below `lowest` is an error ("stack depth limit
// exceeded"). NULL, the default, means no limit. Leave room below it for functions that do not
// ask. The library itself heeds it from grammar 18 on.
void pgparsed_set_stack_limit(const void* lowest);

// What was set for the calling thread. The recursive writers of this folder ask in every grammar.
const void* pgparsed_stack_limit(void);

#ifdef __cplusplus
}
#endif
