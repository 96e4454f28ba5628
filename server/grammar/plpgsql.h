// PL/pgSQL trees of the functions in a query text.
//
// The text is parsed, each body is compiled (plpgsql_compile.h) and the result is written in
// libpg_query's JSON (plpgsql_json.h): byte for byte what pg_query_parse_plpgsql answers where that
// is right. Not thread-safe; everything on one thread.
#pragma once

#include "grammar/error.h"
#include "grammar/memory.h"

namespace pgparsed::grammar {

// A JSON array with one tree for each CREATE FUNCTION, CREATE PROCEDURE and DO, in their order; of
// functions in other languages an empty one. `sql` is NUL-terminated UTF-8. Errors:
// kSqlSyntaxError, of the text or of a body, kNestingTooDeep, kParserMemoryLimit.
Result<LibraryText> ParsePlpgsql(const char* sql);

}  // namespace pgparsed::grammar
