// What PostgreSQL's own walker of raw expressions finds below a node, one level at a time: the
// caller's stack takes the place of the walker's recursion. For sources of this folder.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "grammar/error.h"

namespace pgparsed::grammar {

class ExpressionChildren {
 public:
  // The library allocates in `memory_context` (a MemoryContext).
  explicit ExpressionChildren(void* memory_context) : memory_context_(memory_context) {}

  // The children of a node, Lists as they are, none of them null; none if the walker does not know
  // the node. Valid until the next call. Call it inside RunGuarded.
  std::span<const void* const> Of(const void* node);

  // What went wrong, if anything did: children may be missing then.
  const std::optional<GrammarError>& error() const { return error_; }

 private:
  void Collect(const void* node);

  enum class Walkable : uint8_t { kUnknown, kYes, kNo };

  void* const memory_context_;
  std::array<Walkable, 1024> walkable_{};  // by node tag
  std::vector<const void*> children_;
  std::optional<GrammarError> error_;
};

}  // namespace pgparsed::grammar
