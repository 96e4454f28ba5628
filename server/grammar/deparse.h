// Trees printed as SQL.
#pragma once

#include <string_view>
#include <vector>

#include "grammar/error.h"
#include "grammar/memory.h"
#include "grammar/options.h"

namespace pgparsed::grammar {

// A serialized pg_query.ParseResult as SQL. The view lives as long as `scope` and `results`.
// Errors: kInvalidTree, kNestingTooDeep, kParserMemoryLimit, kUnsupportedOption.
Result<std::string_view> DeparseProtobuf(LibraryScope& scope, std::string_view tree,
                                         const Layout& layout, const std::vector<Comment>& comments,
                                         std::vector<LibraryText>& results);

// A list of RawStmt as SQL. Statements stand behind each other with "; " between them, as the
// library has it; in the pretty layout with a semicolon and an empty line. A comment that runs to
// the end of its line never swallows what follows.
Result<std::string_view> DeparseStatements(LibraryScope& scope, void* statements,
                                           const Layout& layout,
                                           const std::vector<Comment>& comments,
                                           std::vector<LibraryText>& results);

}  // namespace pgparsed::grammar
