// From a CREATE FUNCTION, CREATE PROCEDURE or DO statement to PL/pgSQL's compiled function. For
// sources of this folder.
//
// libpg_query does the same inside pg_query_parse_plpgsql, and hands out the JSON only. Here it is
// done with the functions of PL/pgSQL that it exports, for the same arguments and variables.
#pragma once

#include "grammar/error.h"
#include "grammar/plpgsql_library.h"

namespace pgparsed::grammar {

// `statement` is of one of the three kinds; the result lives in `memory_context`. A function in
// another language has no data and no action. Errors: kSqlSyntaxError, kNestingTooDeep,
// kParserMemoryLimit.
Result<const PLpgSQL_function*> CompilePlpgsql(void* memory_context, const Node* statement);

}  // namespace pgparsed::grammar
