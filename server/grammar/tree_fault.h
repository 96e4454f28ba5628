// Faults of trees as errors. For the readers.
#pragma once

#include <string>

#include "grammar/error.h"
#include "grammar/tree_builder.h"

namespace pgparsed::grammar {

inline GrammarError FaultError(const TreeFault& fault) {
  if (fault.too_deep) return MakeGrammarError(Reason::kNestingTooDeep, fault.what);
  const std::string path = fault.path.ToString();
  std::string message = path.empty() ? std::string("the tree") : path;
  message += ": ";
  message += fault.what;
  if (!fault.detail.empty()) message += " (\"" + fault.detail + "\")";
  return MakeGrammarError(Reason::kInvalidTree, message);
}

// The fault of a tree whose version is that of another grammar. `version` is PostgreSQL's number.
inline GrammarError OtherGrammar(uint64_t version) {
  return MakeGrammarError(Reason::kInvalidTree,
                          "the tree is of grammar " + std::to_string(version / 10000) +
                              " and was given to grammar " + std::to_string(PGPARSED_GRAMMAR) +
                              ": ask for the grammar that made it");
}

inline bool IsOtherGrammar(uint64_t version) {
  return version != 0 && version / 10000 != PGPARSED_GRAMMAR;
}

}  // namespace pgparsed::grammar
