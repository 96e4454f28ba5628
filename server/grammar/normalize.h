// Statements with $n in place of their constants: byte for byte what the library's normalizer
// gives, where that is right, in linear time and memory and at any depth. It differs where the
// library's is wrong:
//
// - a constant is the token at its place, never what a search of the text finds: options and
//   connection strings (15, 17), signs and parentheses (- -5, -(5), SET x = +5), UESCAPE;
// - the SQL body of a function counts;
// - numbers of parameters do not overflow.
#pragma once

#include "grammar/error.h"
#include "grammar/memory.h"
#include "grammar/options.h"

namespace pgparsed::grammar {

// `statements` is the List of RawStmt that `sql` was parsed to with `options`, in `scope`. With
// `utility_only` queries stay as they are (17 and later). Errors: kUnsupportedOption,
// kParserMemoryLimit.
Result<LibraryText> NormalizeStatements(const LibraryScope& scope, const char* sql,
                                        const void* statements, const ParserOptions& options,
                                        bool utility_only);

}  // namespace pgparsed::grammar
