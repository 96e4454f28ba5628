// What statements are about: tables, aliases, CTEs, functions, columns of filters, kinds of
// statements, and their text cut short. In all grammars what libpg_query 18 finds, and where that
// fails or misses something: RETURNING, DROP TABLE of four names, WHERE CURRENT OF to be cut.
#pragma once

#include <cstdint>
#include <string>

#include "grammar/error.h"

namespace pgparsed::grammar {

// A serialized pgparsed.v1.Summary of a List of RawStmt that lives in `memory_context` (a
// MemoryContext). `truncate_limit` 0: no truncated text. The tree is changed for a while when text
// is cut, and is as before afterwards. Depth is no limit but for the text.
Result<std::string> SummarizeStatements(void* memory_context, void* statements,
                                        uint32_t truncate_limit);

}  // namespace pgparsed::grammar
