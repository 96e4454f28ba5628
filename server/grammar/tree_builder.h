// PostgreSQL's structs made from the tables of the grammar: what the readers of protobuf and of
// JSON have in common. For sources of this folder.
//
// It takes memory by palloc: call it only inside RunGuarded.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "grammar/node_tables.h"
#include "grammar/stack_limit.h"
#include "grammar/tree_path.h"

namespace pgparsed::grammar {

// What is wrong with a tree, or nothing. Belongs to the caller of the guarded part.
struct TreeFault {
  bool failed = false;
  bool too_deep = false;
  const char* what = "";
  std::string detail;  // a name of the tree that is unknown, cut and printable
  TreePath path;
};

// Makes nodes and sets their fields. The functions that return bool record a fault and return
// false.
class TreeBuilder {
 public:
  explicit TreeBuilder(TreeFault& fault)
      : fault_(fault), stack_limit_(static_cast<const char*>(pgparsed_stack_limit())) {}

  bool Fail(const char* what);
  bool FailOn(const char* what, std::string_view name);
  // Sets of column numbers are in the schema, but no raw parse has any.
  bool FailOnSet() { return Fail("the field belongs to analyzed queries, not to a raw parse"); }
  // Fails if the stack is at its end.
  bool CheckDepth() {
    if (static_cast<const char*>(__builtin_frame_address(0)) >= stack_limit_) [[likely]]
      return true;
    return FailTooDeep();
  }
  // To be called when the fields of a message are read; `present` has a bit for each that is there.
  // Sets what absent ones stand for; fails if one is missing that the message must have.
  bool Complete(const MessageRow& row, uint64_t present, char* base);

  // A struct as PostgreSQL's makeNode gives it, with the tree's defaults of enums.
  char* New(const MessageRow& row);
  // The struct of a kMessage field: a new one behind the pointer, or the one that lies there. Null,
  // with a fault, if it is a second value of a constant.
  char* Open(const FieldRow& field, char* parent);

  bool SetInteger(const FieldRow& field, char* base, int64_t value);
  bool SetUnsigned(const FieldRow& field, char* base, uint64_t value);
  bool SetDouble(const FieldRow& field, char* base, double value);
  bool SetText(const FieldRow& field, char* base, std::string_view value);
  bool SetEnumNumber(const FieldRow& field, char* base, int64_t number);
  bool SetEnumName(const FieldRow& field, char* base, std::string_view name);
  // Of a kNode field.
  bool SetNode(const FieldRow& field, char* base, void* node);
  // Whether a kList field may have the node, which may be null, as an element.
  bool CheckElement(const FieldRow& field, const void* node);

  TreeFault& fault() { return fault_; }

 private:
  bool FailTooDeep();
  // Fails if there are bits in `required`; the other missing fields become empty strings.
  bool CompleteAbsent(const MessageRow& row, uint64_t required, uint64_t missing, char* base);
  bool CheckKind(const FieldRow& field, const void* node);
  void Initialize(const MessageRow& row, char* base);

  TreeFault& fault_;
  const char* const stack_limit_;
};

}  // namespace pgparsed::grammar
