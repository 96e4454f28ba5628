// PL/pgSQL's structs and compiler, as library.h for the rest of libpg_query: for sources of this
// folder, to be included last.
#pragma once

#include "grammar/library.h"

#ifdef __cplusplus
extern "C" {
#endif

#if PGPARSED_GRAMMAR < 17
// As in library.h: thread-local in the library, plain in a server's headers.
#define plpgsql_check_syntax pgparsed_plain_plpgsql_check_syntax
#define plpgsql_compile_tmp_cxt pgparsed_plain_plpgsql_compile_tmp_cxt
#define plpgsql_curr_compile pgparsed_plain_plpgsql_curr_compile
#define plpgsql_Datums pgparsed_plain_plpgsql_Datums
#define plpgsql_DumpExecTree pgparsed_plain_plpgsql_DumpExecTree
#define plpgsql_error_funcname pgparsed_plain_plpgsql_error_funcname
#define plpgsql_IdentifierLookup pgparsed_plain_plpgsql_IdentifierLookup
#define plpgsql_parse_result pgparsed_plain_plpgsql_parse_result
#define plpgsql_print_strict_params pgparsed_plain_plpgsql_print_strict_params
#define plpgsql_variable_conflict pgparsed_plain_plpgsql_variable_conflict
#endif

#include <plpgsql.h>  // PostgreSQL's: in quotes it would be the one of this folder
#include "catalog/namespace.h"
#include "catalog/pg_namespace_d.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"

#if PGPARSED_GRAMMAR < 17
#undef plpgsql_check_syntax
#undef plpgsql_compile_tmp_cxt
#undef plpgsql_curr_compile
#undef plpgsql_Datums
#undef plpgsql_DumpExecTree
#undef plpgsql_error_funcname
#undef plpgsql_IdentifierLookup
#undef plpgsql_parse_result
#undef plpgsql_print_strict_params
#undef plpgsql_variable_conflict
extern __thread bool plpgsql_check_syntax;
extern __thread MemoryContext plpgsql_compile_tmp_cxt;
extern __thread PLpgSQL_function* plpgsql_curr_compile;
extern __thread PLpgSQL_datum** plpgsql_Datums;
extern __thread bool plpgsql_DumpExecTree;
extern __thread char* plpgsql_error_funcname;
extern __thread IdentifierLookup plpgsql_IdentifierLookup;
extern __thread PLpgSQL_stmt_block* plpgsql_parse_result;
extern __thread bool plpgsql_print_strict_params;
extern __thread int plpgsql_variable_conflict;
extern void plpgsql_start_datums(void);
extern void plpgsql_finish_datums(PLpgSQL_function* function);
#endif

#if PGPARSED_GRAMMAR >= 18
#include "access/htup_details.h"
#include "commands/defrem.h"
#include "parser/parse_node.h"
#include "parser/parse_type.h"
#include "parser/scansup.h"
#include "utils/funccache.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#endif

#undef printf
#undef snprintf
#undef strerror

#ifdef __cplusplus
}
#endif
