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
  explicit TreeBuilder(TreeFault& fault) : fault_(fault) {}

  bool Fail(const char* what);
  bool FailOn(const char* what, std::string_view name);
  // Sets of column numbers are in the schema, but no raw parse has any.
  bool FailOnSet() { return Fail("the field belongs to analyzed queries, not to a raw parse"); }
  // Fails if the stack is at its end.
  bool CheckDepth();

  // A struct as PostgreSQL's makeNode gives it, with what the tree's defaults stand for.
  char* New(const MessageRow& row);
  // The struct of a kMessage field: a new one behind the pointer, or the one that lies there. Null,
  // with a fault, if the field has its value already.
  char* Open(const FieldRow& field, char* parent);

  bool SetInteger(const FieldRow& field, char* base, int64_t value);
  bool SetUnsigned(const FieldRow& field, char* base, uint64_t value);
  bool SetDouble(const FieldRow& field, char* base, double value);
  bool SetText(const FieldRow& field, char* base, std::string_view value);
  bool SetEnumNumber(const FieldRow& field, char* base, int64_t number);
  bool SetEnumName(const FieldRow& field, char* base, std::string_view name);
  bool SetPointer(const FieldRow& field, char* base, void* value);

  TreeFault& fault() { return fault_; }

 private:
  void Initialize(const MessageRow& row, char* base);

  TreeFault& fault_;
};

}  // namespace pgparsed::grammar
