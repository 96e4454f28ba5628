// A walk over PostgreSQL's nodes in pre-order, for what looks at some kinds of nodes and passes by
// the others: normalizing, summaries. Depth is no limit, and a list of any length costs one entry
// of the walk's stack.
//
// The caller says where the walk goes: each node that comes is either left alone, or its children
// are added, all of them or those that the caller wants, in the order that it wants. Marks come
// back in their turn and tell the caller that what was added before them is done.
//
// Not thread-safe. The tree must outlive the walk and stay as it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "grammar/node_tables.h"

namespace pgparsed::grammar {

struct NodeVisit {
  const void* node = nullptr;       // nullptr: a mark
  const MessageRow* row = nullptr;  // of the node; nullptr if its tag has none
  uint32_t mark = 0;
};

class NodeWalk {
 public:
  // Adds a node, or a List of nodes, whose elements come in its place. Null is nothing. What is
  // added between two calls of Next comes in the order of the calls, before all that was added
  // earlier.
  void Add(const void* node) {
    if (node != nullptr) stack_.push_back({node, 0});
  }

  void AddMark(uint32_t mark) { stack_.push_back({nullptr, mark}); }

  // Adds the children of a node, in the order of the proto.
  void AddChildren(const NodeVisit& visit);

  // The next node or mark; false at the end. Null elements of lists are passed by.
  bool Next(NodeVisit& visit);

 private:
  struct Entry {
    const void* node;  // nullptr: a mark
    uint32_t next;     // of a List: the element to come; else the mark
  };

  std::vector<Entry> stack_;
  size_t settled_ = 0;  // entries above it were added since the last Next, in the order of adding
};

}  // namespace pgparsed::grammar
