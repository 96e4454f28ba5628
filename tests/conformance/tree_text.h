// JSON trees as libpg_query prints them, as text: nothing here recurses, so depth is no limit.
#pragma once

#include <string>
#include <string_view>

namespace pgparsed::conformance {

// The tree without what depends on the place of things in the query: every field whose name ends
// in "location", stmt_len, and the list_start and list_end kin of grammar 18.
std::string WithoutLocations(std::string_view json);

// How many statements the tree holds.
size_t CountStatements(std::string_view json);

}  // namespace pgparsed::conformance
