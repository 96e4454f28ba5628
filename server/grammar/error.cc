#include "grammar/error.h"

namespace pgparsed::grammar {

Reason ReasonOfPostgresError(std::string_view message, Reason otherwise) {
  // check_stack_depth(), Bison's parser stack ("memory exhausted at or near …"), and the limit of
  // libpg_query 18's protobuf writer.
  for (const std::string_view too_deep :
       {"stack depth limit exceeded", "memory exhausted", "parse tree is nested too deeply"}) {
    if (message.starts_with(too_deep)) return Reason::kNestingTooDeep;
  }
  // Of memory contexts and of StringInfo, whose texts end at 1 GB.
  for (const std::string_view no_memory :
       {"out of memory", "invalid memory alloc request size", "string buffer exceeds maximum"}) {
    if (message.starts_with(no_memory)) return Reason::kParserMemoryLimit;
  }
  return otherwise;
}

GrammarError MakeGrammarError(Reason reason, std::string_view message) {
  GrammarError error;
  error.reason = reason;
  error.message = message;
  return error;
}

}  // namespace pgparsed::grammar
