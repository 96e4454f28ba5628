// Trees printed as SQL.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "grammar/error.h"
#include "grammar/memory.h"
#include "grammar/options.h"

namespace pgparsed::grammar {

// A List of RawStmt as SQL. Statements stand behind each other with "; " between them, as the
// library has it; in the pretty layout with a semicolon and an empty line. A comment that runs to
// the end of its line never swallows what follows. With `verify` what was printed is parsed again
// and compared. The view lives as long as `scope` and `results`, and a NUL byte stands behind it.
// Errors: kInvalidTree, kNestingTooDeep, kParserMemoryLimit, kUnsupportedOption, kDeparseMismatch.
Result<std::string_view> PrintStatements(LibraryScope& scope, void* statements,
                                         const Layout& layout, const std::vector<Comment>& comments,
                                         bool verify, std::vector<LibraryText>& results);

// The same for a serialized pg_query.ParseResult, which the library reads by its own path.
Result<std::string_view> DeparseByLibrary(LibraryScope& scope, std::string_view tree,
                                          const Layout& layout,
                                          const std::vector<Comment>& comments,
                                          std::vector<LibraryText>& results);

// The error if `printed`, behind which a NUL byte stands, is not what `statements` say:
// kDeparseMismatch with the path to the first difference.
std::optional<GrammarError> Verify(std::string_view printed, const void* statements);

}  // namespace pgparsed::grammar
