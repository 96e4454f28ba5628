#include "grammar/node_walk.h"

#include <algorithm>
#include <cstring>

// Last: its macros would break other headers.
#include "grammar/library.h"

namespace pgparsed::grammar {

void NodeWalk::AddChildren(const NodeVisit& visit) {
  if (visit.row == nullptr) return;
  const auto* bytes = static_cast<const char*>(visit.node);
  for (const FieldRow& field : FieldsOf(*visit.row)) {
    if (field.shape == Shape::kScalar || field.shape == Shape::kIntegerSet) continue;
    if (field.type == CType::kPointer) {
      const void* child;
      std::memcpy(&child, bytes + field.offset, sizeof(child));
      Add(child);
    } else if (field.type == CType::kStruct && !field.in_union) {
      Add(bytes + field.offset);
    }
  }
}

bool NodeWalk::Next(NodeVisit& visit) {
  std::reverse(stack_.begin() + static_cast<std::ptrdiff_t>(settled_), stack_.end());
  while (!stack_.empty()) {
    Entry& top = stack_.back();
    const void* node = top.node;
    if (node == nullptr) {
      visit = {.mark = top.next};
      stack_.pop_back();
      settled_ = stack_.size();
      return true;
    }
    const auto* list = static_cast<const List*>(node);
    if (list->type == T_List) {
      if (top.next == static_cast<uint32_t>(list->length)) {
        stack_.pop_back();
      } else if (const void* element = list->elements[top.next++].ptr_value; element != nullptr) {
        stack_.push_back({element, 0});
      }
      continue;
    }
    stack_.pop_back();
    settled_ = stack_.size();
    visit = {.node = node, .row = FindMessageByTag(list->type)};
    return true;
  }
  settled_ = 0;
  return false;
}

}  // namespace pgparsed::grammar
