// Statements printed short, for people: still looking like SQL.
#pragma once

#include <cstdint>
#include <string>

#include "grammar/error.h"

namespace pgparsed::grammar {

// A List of RawStmt as SQL of at most `limit` bytes, if that can be: "..." stands for target lists,
// filters, VALUES, columns and CTE queries, the deepest and longest first, until it is short
// enough. What is still too long is cut to `limit` characters. The tree, which lives in
// `memory_context` (a MemoryContext), is changed for a while, and is as before afterwards.
Result<std::string> TruncateStatements(void* memory_context, void* statements, uint32_t limit);

}  // namespace pgparsed::grammar
