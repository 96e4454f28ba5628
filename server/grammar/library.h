// libpg_query and PostgreSQL's own headers, for C and C++ sources of this folder. Nothing else
// includes them, and no header of this folder that others see includes this one. Include it last:
// its macros (Min, Max and so on) would break other headers.
//
// The library reports errors with longjmp: call it only inside RunGuarded (guard.h), or through
// its public pg_query_* functions, which catch their errors themselves.
#pragma once

#ifdef __cplusplus
#include <cstdio>  // before PostgreSQL's headers, which replace printf and others by macros
#include <cstdlib>
extern "C" {
#endif

#if PGPARSED_GRAMMAR < 17
// These are a server's headers. In libpg_query the variables are thread-local: the plain
// declarations get names that nothing uses, the right ones follow below. Inline functions of the
// headers that name them (MemoryContextSwitchTo) cannot be used.
#define CurrentMemoryContext pgparsed_plain_CurrentMemoryContext
#define TopMemoryContext pgparsed_plain_TopMemoryContext
#define PG_exception_stack pgparsed_plain_PG_exception_stack
#define error_context_stack pgparsed_plain_error_context_stack
#endif

#include "postgres.h"

#include "lib/stringinfo.h"
#include "nodes/parsenodes.h"
#include "nodes/pg_list.h"
#include "parser/parser.h"
#include "pg_query.h"
#include "pg_query_internal.h"
#include "utils/elog.h"
#include "utils/memutils.h"

#if PGPARSED_GRAMMAR < 17
#undef CurrentMemoryContext
#undef TopMemoryContext
#undef PG_exception_stack
#undef error_context_stack
extern __thread MemoryContext CurrentMemoryContext;
extern __thread MemoryContext TopMemoryContext;
extern __thread sigjmp_buf* PG_exception_stack;
extern __thread ErrorContextCallback* error_context_stack;
#endif

// PostgreSQL's replacements for functions of the C library are for its own sources.
#undef printf
#undef snprintf
#undef strerror

// Exported by the archive, declared in headers that the package does not carry.
extern PgQueryProtobuf pg_query_nodes_to_protobuf(const void* nodes);
extern char* pg_query_nodes_to_json(const void* nodes);
extern uint64 pg_query_fingerprint_node(const void* node);
extern List* pg_query_protobuf_to_nodes(PgQueryProtobuf protobuf);
#if PGPARSED_GRAMMAR == 15
extern void AllocSetDeleteFreeList(MemoryContext context);
#endif
#if PGPARSED_GRAMMAR == 17
extern void deparseRawStmt(StringInfo str, RawStmt* raw_stmt);
#endif
#if PGPARSED_GRAMMAR < 18
// protobuf-c's reader of a whole tree: NULL if the bytes are malformed.
struct PgQuery__ParseResult;
extern struct PgQuery__ParseResult* pg_query__parse_result__unpack(void* allocator, size_t len,
                                                                   const uint8_t* data);
extern void pg_query__parse_result__free_unpacked(struct PgQuery__ParseResult* message,
                                                  void* allocator);
#endif

#ifdef __cplusplus
}
#endif
