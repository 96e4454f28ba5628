// What the recursive writers have in common: the bound of their depth, and errors that end a walk.
// For sources of this folder.
#pragma once

#include <optional>
#include <string>

#include "grammar/error.h"
#include "grammar/stack_limit.h"

namespace pgparsed::grammar {

class WalkGuard {
 public:
  // Whether the stack is at its end: the walk must not go deeper, and its result is void.
  bool TooDeep() {
    if (static_cast<const char*>(__builtin_frame_address(0)) >= stack_limit_) [[likely]] {
      return false;
    }
    too_deep_ = true;
    return true;
  }

  // A node that pg_query.proto has no message for.
  void Unknown(int tag) { unknown_tag_ = tag; }

  std::optional<GrammarError> error() const {
    if (too_deep_) {
      return MakeGrammarError(Reason::kNestingTooDeep,
                              "the statement nests deeper than this worker's stack allows");
    }
    if (unknown_tag_ != 0) {
      return MakeGrammarError(Reason::kInternal,
                              "the parser made a node that its protobuf schema lacks: tag " +
                                  std::to_string(unknown_tag_));
    }
    return std::nullopt;
  }

 private:
  const char* const stack_limit_ = static_cast<const char*>(pgparsed_stack_limit());
  bool too_deep_ = false;
  int unknown_tag_ = 0;
};

}  // namespace pgparsed::grammar
