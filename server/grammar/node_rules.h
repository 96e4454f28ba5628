// What PostgreSQL's grammar (gram.y) makes of a node whose parts depend on each other: BETWEEN has
// a list of two at its right, DROP TYPE names types and DROP TABLE lists of names, a function's
// `as` is a list of strings. The deparsers rely on it without a look. What needs no second field is
// in tree_rules.h. For sources of this folder.
#pragma once

#include "grammar/tree_builder.h"

namespace pgparsed::grammar {

// Checks a struct that is complete, parts included, and those of its parts that only it can judge.
// Sets what depends and is absent. Records a fault with the path below the struct and returns
// false. Where the grammar leaves a choice, or the deparsers look for themselves, everything
// passes.
using NodeRule = bool (*)(TreeFault& fault, void* node);

// By message; nullptr: nothing depends on anything.
extern const NodeRule* const kNodeRules;

}  // namespace pgparsed::grammar
