// Trees read back: protobuf and JSON straight into PostgreSQL's C structs, for the deparser.
//
// Strict: an unknown field, a wrong type, an unknown enum value, a string that is no UTF-8 is
// kInvalidTree, and the message names the path to it. A tree that says it is of another grammar is
// refused; one that does not say is taken. Nesting is bounded by the thread's stack only
// (stack_limit.h): then it is kNestingTooDeep.
#pragma once

#include <string_view>

#include "grammar/error.h"
#include "grammar/memory.h"

namespace pgparsed::grammar {

// A serialized pg_query.ParseResult as a List of RawStmt, which lives as long as `scope`. A field
// that may be there once and is there twice is a fault, where protobuf would merge.
Result<void*> ReadProtobufTree(LibraryScope& scope, std::string_view tree);

// The same from the JSON that Parse gives, or what any program made of it: white space, escapes and
// the order of keys do not matter; null is an absent field; a key that is there twice is a fault.
Result<void*> ReadJsonTree(LibraryScope& scope, std::string_view tree);

}  // namespace pgparsed::grammar
