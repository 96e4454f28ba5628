// The reader of JSON trees.
#include <cstring>

#include "grammar/json_tape.h"
#include "grammar/tree_builder.h"
#include "grammar/tree_fault.h"
#include "grammar/tree_reader.h"

// Last: its macros would break other headers.
#include "grammar/guarded.h"
#include "grammar/node_visitor.h"
#include "grammar/tree_rules.h"

namespace pgparsed::grammar {
namespace {

using Kind = JsonTape::Kind;
using Value = JsonTape::Value;

class JsonReader {
 public:
  JsonReader(const JsonTape& tape, TreeFault& fault) : tape_(tape), builder_(fault) {}

  uint64_t other_version() const { return other_version_; }

  bool Read(::List** statements) {
    if (At(0).kind != Kind::kObject) return builder_.Fail("it is no object with `stmts`");
    bool has_version = false, has_statements = false;
    for (uint32_t at = 1; at < At(0).size; at = Behind(at + 1)) {
      const std::string_view key = tape_.TextOf(At(at));
      const Value& value = At(at + 1);
      if (key == "version" && value.kind == Kind::kUnsigned && !has_version) {
        has_version = true;
        if (IsOtherGrammar(value.bits)) {
          other_version_ = value.bits;
          return builder_.Fail("another grammar");
        }
      } else if (key == "stmts" && !has_statements) {
        has_statements = true;
        if (!ReadStatements(at + 1, statements)) {
          builder_.fault().path.AddName("stmts");
          return false;
        }
      } else {
        return builder_.FailOn("it has a field that is unknown, of another type, or there twice",
                               key);
      }
    }
    return true;
  }

 private:
  const Value& At(uint32_t index) const { return tape_.values()[index]; }

  // The index behind the value at `index`.
  uint32_t Behind(uint32_t index) const {
    const Value& value = At(index);
    return value.kind == Kind::kArray || value.kind == Kind::kObject ? value.size : index + 1;
  }

  bool WrongType() { return builder_.Fail("the value is of another type"); }

  bool ReadStatements(uint32_t array, ::List** statements) {
    if (At(array).kind != Kind::kArray) return WrongType();
    const auto& row = nodes::kMessages[nodes::kMessageOf<::RawStmt>];
    for (uint32_t at = array + 1; at < At(array).size; at = Behind(at)) {
      char* base = builder_.New(row);
      if (!ReadMessage(row, at, base)) {
        builder_.fault().path.AddIndex(list_length(*statements));
        return false;
      }
      *statements = lappend(*statements, base);
    }
    return true;
  }

  bool ReadMessage(const MessageRow& row, uint32_t object, char* base) {
    if (!builder_.CheckDepth()) return false;
    if (At(object).kind != Kind::kObject) return WrongType();
    const std::span<const FieldRow> fields = FieldsOf(row);
    uint64_t seen = 0, present = 0;
    size_t field = 0;
    for (uint32_t at = object + 1; at < At(object).size; at = Behind(at + 1)) {
      const std::string_view key = tape_.TextOf(At(at));
      const size_t begin = field;
      while (field < fields.size() && fields[field].name() != key) ++field;
      if (field == fields.size()) {
        field = 0;
        while (field < begin && fields[field].name() != key) ++field;
        if (field == begin) return builder_.FailOn("there is no such field", key);
      }
      const uint64_t bit = uint64_t{1} << field;
      const bool twice = (seen & bit) != 0;
      seen |= bit;
      if (!IsAbsent(at + 1)) present |= bit;
      if (twice ? !builder_.Fail("the field is there twice")
                : !ReadField(fields[field], at + 1, base)) {
        builder_.fault().path.AddName(fields[field].name());
        return false;
      }
    }
    // libpg_query 15 prints no value for integers that are not positive: there 0 and -1 look alike.
    if (PGPARSED_GRAMMAR == 15 && row.tag == T_Integer && present == 0) {
      return builder_.Fail(
          "JSON of grammar 15 leaves out values that are not positive: write `ival`, or send "
          "protobuf");
    }
    return builder_.Complete(row, present, base);
  }

  // Whether the value says the same as no value: null, an empty string, a list without elements.
  bool IsAbsent(uint32_t at) const {
    const Kind kind = At(at).kind;
    return kind == Kind::kNull || (kind == Kind::kArray && At(at).size == at + 1) ||
           (kind == Kind::kString && tape_.TextOf(At(at)).empty());
  }

  bool ReadField(const FieldRow& field, uint32_t at, char* base) {
    const Value& value = At(at);
    if (value.kind == Kind::kNull) return true;
    switch (field.shape) {
      case Shape::kScalar:
        return ReadScalar(field, value, base);
      case Shape::kNode: {
        void* node = nullptr;
        return ReadNode(at, &node) && builder_.SetNode(field, base, node);
      }
      case Shape::kList:
        return ReadElements(&field, at, reinterpret_cast<::List**>(base + field.offset));
      case Shape::kMessage: {
        char* message = builder_.Open(field, base);
        return message != nullptr && ReadMessage(nodes::kMessages[field.reference], at, message);
      }
      case Shape::kIntegerSet:
        return builder_.FailOnSet();
    }
    return false;
  }

  bool ReadScalar(const FieldRow& field, const Value& value, char* base) {
    switch (value.kind) {
      case Kind::kBool:
        return field.type == CType::kBool
                   ? builder_.SetInteger(field, base, static_cast<int64_t>(value.bits))
                   : WrongType();
      case Kind::kInteger:
        return IsNumber(field) ? builder_.SetInteger(field, base, static_cast<int64_t>(value.bits))
                               : WrongType();
      case Kind::kUnsigned:
        return IsNumber(field) ? builder_.SetUnsigned(field, base, value.bits) : WrongType();
      case Kind::kDouble: {
        double number;
        std::memcpy(&number, &value.bits, sizeof(number));
        return IsNumber(field) ? builder_.SetDouble(field, base, number) : WrongType();
      }
      case Kind::kString:
        return field.type == CType::kEnum ? builder_.SetEnumName(field, base, tape_.TextOf(value))
                                          : builder_.SetText(field, base, tape_.TextOf(value));
      default:
        return WrongType();
    }
  }

  static bool IsNumber(const FieldRow& field) {
    switch (field.type) {
      case CType::kInt16:
      case CType::kUint16:
      case CType::kInt32:
      case CType::kUint32:
      case CType::kInt64:
      case CType::kUint64:
      case CType::kDouble:
        return true;
      default:
        return false;
    }
  }

  // The elements of a list: that of a field, or (null) one that stands for a node.
  bool ReadElements(const FieldRow* field, uint32_t array, ::List** list) {
    if (At(array).kind != Kind::kArray) return WrongType();
    for (uint32_t at = array + 1; at < At(array).size; at = Behind(at)) {
      void* element = nullptr;
      // An empty object is a null element.
      const bool null = At(at).kind == Kind::kObject && At(at).size == at + 1;
      const bool read = null || ReadNode(at, &element);
      if (!read || (field != nullptr && !builder_.CheckElement(*field, element))) {
        builder_.fault().path.AddIndex(list_length(*list));
        return false;
      }
      *list = lappend(*list, element);
    }
    return true;
  }

  // {"SelectStmt":{…}}: one key, the node's tag.
  bool ReadNode(uint32_t object, void** node) {
    if (At(object).kind != Kind::kObject) return WrongType();
    if (At(object).size == object + 1) return builder_.Fail("the node is empty");
    const std::string_view tag = tape_.TextOf(At(object + 1));
    if (Behind(object + 2) != At(object).size) return builder_.Fail("the node is of two kinds");
    if (tag == "List") return ReadListNode(object + 2, node);
    const MessageRow* row = FindMessageByName(tag);
    if (row == nullptr || row->node_number == 0) {
      return builder_.FailOn("there is no such kind of node", tag);
    }
    char* base = builder_.New(*row);
    *node = base;
    if (ReadMessage(*row, object + 2, base)) return true;
    builder_.fault().path.AddName(row->name);
    return false;
  }

  bool ReadListNode(uint32_t object, void** node) {
    if (!builder_.CheckDepth()) return false;
    if (At(object).kind != Kind::kObject) return WrongType();
    ::List* list = nullptr;
    if (At(object).size > object + 1) {
      const bool items_only =
          tape_.TextOf(At(object + 1)) == "items" && Behind(object + 2) == At(object).size;
      if (!items_only || !ReadElements(nullptr, object + 2, &list)) {
        if (!items_only) builder_.FailOn("there is no such field", tape_.TextOf(At(object + 1)));
        builder_.fault().path.AddName("items");
        builder_.fault().path.AddName("List");
        return false;
      }
    }
    *node = list;
    return true;
  }

  const JsonTape& tape_;
  TreeBuilder builder_;
  uint64_t other_version_ = 0;
};

}  // namespace

Result<void*> ReadJsonTree(LibraryScope& scope, std::string_view tree) {
  JsonTape tape;
  if (!tape.Read(tree)) {
    return MakeGrammarError(Reason::kInvalidTree,
                            "the tree is no JSON: the text stops making sense at byte " +
                                std::to_string(tape.error_byte()));
  }
  TreeFault fault;
  JsonReader reader(tape, fault);
  ::List* statements = nullptr;
  auto error =
      RunGuarded(scope.memory_context(), Reason::kInvalidTree, [&] { reader.Read(&statements); });
  if (error) return *std::move(error);
  if (reader.other_version() != 0) return OtherGrammar(reader.other_version());
  if (fault.failed) return FaultError(fault);
  return static_cast<void*>(statements);
}

}  // namespace pgparsed::grammar
