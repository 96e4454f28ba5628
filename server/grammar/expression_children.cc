#include "grammar/expression_children.h"

#include <utility>

// Last: its macros would break other headers.
#include "grammar/guarded.h"

extern "C" {
#include "nodes/nodeFuncs.h"
}

namespace pgparsed::grammar {
namespace {

bool AddChild(Node* child, void* children) {
  if (child != nullptr) static_cast<std::vector<const void*>*>(children)->push_back(child);
  return false;
}

}  // namespace

std::span<const void* const> ExpressionChildren::Of(const void* node) {
  children_.clear();
  const auto tag = static_cast<size_t>(nodeTag(node));
  if (tag >= walkable_.size()) return children_;
  Walkable& walkable = walkable_[tag];
  if (walkable == Walkable::kUnknown) {
    auto error = RunGuarded(memory_context_, Reason::kInternal, [&] { Collect(node); });
    walkable = error ? Walkable::kNo : Walkable::kYes;
    if (error && !error->message.starts_with("unrecognized node type")) error_ = std::move(error);
  } else if (walkable == Walkable::kYes) {
    Collect(node);
  }
  return children_;
}

void ExpressionChildren::Collect(const void* node) {
  auto* parent = static_cast<Node*>(const_cast<void*>(node));
#if PGPARSED_GRAMMAR >= 17
  raw_expression_tree_walker_impl(parent, AddChild, &children_);
#else
  // Declared without parameters, called with these.
  const auto callback = reinterpret_cast<bool (*)()>(reinterpret_cast<void (*)()>(&AddChild));
  raw_expression_tree_walker(parent, callback, &children_);
#endif
}

}  // namespace pgparsed::grammar
