// Writes compiled PL/pgSQL functions in libpg_query's JSON. For sources of this folder.
#pragma once

#include <string>

#include "grammar/error.h"
#include "grammar/plpgsql_library.h"

namespace pgparsed::grammar {

// {"PLpgSQL_function":…}, byte for byte as the library's plpgsqlToJSON where that is right. The
// variables that triggers have (tg_name and so on), which the library leaves out and is left with
// stray brackets, are PLpgSQL_var like any other. Errors: kNestingTooDeep, kInternal.
Result<std::string> WritePlpgsqlJson(const PLpgSQL_function& function);

}  // namespace pgparsed::grammar
