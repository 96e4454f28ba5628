#include "grammar/tree_compare.h"

#include <cstring>

#include "grammar/tree_path.h"
#include "grammar/walk_guard.h"

// Last: its macros would break other headers.
#include "grammar/node_visitor.h"

namespace pgparsed::grammar {
namespace {

template <typename T>
const T& At(const FieldRow& field, const char* base) {
  return *reinterpret_cast<const T*>(base + field.offset);
}

class Comparison {
 public:
  bool SameLists(const ::List* a, const ::List* b) {
    const int count = std::min(list_length(a), list_length(b));
    for (int i = 0; i < count; ++i) {
      if (!SameNodes(a->elements[i].ptr_value, b->elements[i].ptr_value)) {
        path_.AddIndex(i);
        return false;
      }
    }
    if (list_length(a) == list_length(b)) return true;
    path_.AddIndex(count);
    return false;
  }

  std::string path() const { return path_.ToString(); }

 private:
  bool SameNodes(const void* a, const void* b) {
    if (a == nullptr || b == nullptr) return a == b;
    if (guard_.TooDeep()) return false;
    if (nodeTag(a) != nodeTag(b)) return false;
    if (nodeTag(a) == T_List) {
      return SameLists(static_cast<const ::List*>(a), static_cast<const ::List*>(b));
    }
    const MessageRow* row = FindMessageByTag(nodeTag(a));
    if (row == nullptr) return false;
    if (SameMessages(*row, static_cast<const char*>(a), static_cast<const char*>(b))) return true;
    path_.AddName(row->name);
    return false;
  }

  bool SameMessages(const MessageRow& row, const char* a, const char* b) {
    for (const FieldRow& field : FieldsOf(row)) {
      if (field.in_union && nodeTag(a + field.offset) != nodeTag(b + field.offset)) {
        path_.AddName("val");
        return false;
      }
      if (field.in_union &&
          nodeTag(a + field.offset) != static_cast<NodeTag>(Messages()[field.reference].tag)) {
        continue;
      }
      if (field.meaning == Meaning::kPlain && !SameFields(field, a, b)) {
        path_.AddName(field.name());
        return false;
      }
    }
    return true;
  }

  bool SameFields(const FieldRow& field, const char* a, const char* b) {
    switch (field.shape) {
      case Shape::kScalar:
        return SameScalars(field, a, b);
      case Shape::kNode:
        return SameNodes(At<void*>(field, a), At<void*>(field, b));
      case Shape::kList:
        return SameLists(At<::List*>(field, a), At<::List*>(field, b));
      case Shape::kMessage:
        if (field.type == CType::kStruct) {
          return SameMessages(Messages()[field.reference], a + field.offset, b + field.offset);
        }
        return SameNodes(At<void*>(field, a), At<void*>(field, b));
      case Shape::kIntegerSet:
        return bms_equal(At<Bitmapset*>(field, a), At<Bitmapset*>(field, b));
    }
    return false;
  }

  static bool SameScalars(const FieldRow& field, const char* a, const char* b) {
    if (field.type == CType::kString) {
      const char* text = At<char*>(field, a);
      const char* other = At<char*>(field, b);
      // Protobuf knows no difference between an empty string and none.
      return std::strcmp(text != nullptr ? text : "", other != nullptr ? other : "") == 0;
    }
    return std::memcmp(a + field.offset, b + field.offset, BytesOf(field.type)) == 0;
  }

  static size_t BytesOf(CType type) {
    switch (type) {
      case CType::kBool:
      case CType::kChar:
        return 1;
      case CType::kInt16:
      case CType::kUint16:
        return 2;
      case CType::kInt64:
      case CType::kUint64:
      case CType::kDouble:
        return 8;
      default:
        return 4;
    }
  }

  WalkGuard guard_;
  TreePath path_;
};

}  // namespace

std::optional<std::string> FirstDifference(const void* statements, const void* others) {
  Comparison comparison;
  if (comparison.SameLists(static_cast<const ::List*>(statements),
                           static_cast<const ::List*>(others))) {
    return std::nullopt;
  }
  return "stmts" + comparison.path();
}

}  // namespace pgparsed::grammar
