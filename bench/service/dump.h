// A generated dump: what pg_dump --inserts writes for tables, sequences, functions, indexes and
// triggers, with some data as COPY. The same bytes every time.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace pgparsed::bench {

// Called for each part of the dump in order. A statement comes with neither the semicolon nor the
// line end behind it, which are parts of their own.
using DumpPart = std::function<void(std::string_view text, bool is_statement)>;

// Makes a dump of at least `bytes`.
void GenerateDump(uint64_t bytes, const DumpPart& part);

}  // namespace pgparsed::bench
