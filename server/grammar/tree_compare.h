// Whether two raw trees say the same, for the verification of printed SQL.
#pragma once

#include <optional>
#include <string>

namespace pgparsed::grammar {

// The path to the first difference between two Lists of RawStmt, in the terms of the first; nullopt
// if there is none. Not compared: locations and lengths, and what a deparser may change without
// changing the meaning (tree_compare.cc has the list). A tree that is deeper than the stack allows
// differs.
std::optional<std::string> FirstDifference(const void* statements, const void* others);

}  // namespace pgparsed::grammar
