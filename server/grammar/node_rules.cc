#include "grammar/node_rules.h"

#include <array>
#include <cstring>
#include <span>
#include <string_view>

// Last: its macros would break other headers.
#include "grammar/node_visitor.h"

namespace pgparsed::grammar {
namespace {

constexpr char kMissing[] = "the field is missing";
constexpr char kWrongKind[] = "no node of this kind belongs here";
constexpr char kWrongLength[] = "the list has another length than this node needs";

// What a node can stand for, of which there may be several. A mask of them says what may be
// somewhere.
enum Form : uint32_t {
  kNull = 1u << 0,
  kName = 1u << 1,       // String
  kWhole = 1u << 2,      // Integer
  kFraction = 1u << 3,   // Float
  kFlag = 1u << 4,       // Boolean
  kStar = 1u << 5,       // A_Star
  kType = 1u << 6,       // TypeName
  kSignature = 1u << 7,  // ObjectWithArgs
  kRelation = 1u << 8,   // RangeVar
  kConstant = 1u << 9,   // A_Const
  kSetting = 1u << 10,   // VariableSetStmt
  kCast = 1u << 11,      // TypeCast
  kOption = 1u << 12,    // DefElem
  kNames = 1u << 13,     // List of String
  kRoles = 1u << 14,     // List of RoleSpec
  kOptions = 1u << 15,   // List of DefElem
  kTypes = 1u << 16,     // List of TypeName
  kTypeAndName = 1u << 17,
  kLongNames = 1u << 18,  // List of two String or more
  kTypePair = 1u << 19,   // List of two TypeName
  kOtherList = 1u << 20,
  kOther = 1u << 21,
  kText = 1u << 22,  // A_Const with a string
};
constexpr uint32_t kNumber = kWhole | kFraction;
constexpr uint32_t kAny = ~0u;
// def_arg of the grammar: the value of a parameter.
constexpr uint32_t kValue = kNull | kName | kNumber | kType | kNames;
// What options of utility commands take.
constexpr uint32_t kSimpleValue = kNull | kName | kNumber;

uint32_t FormsOfList(const List* list) {
  const auto all_are = [&](NodeTag tag) {
    for (int i = 0; i < list->length; ++i) {
      const void* element = list->elements[i].ptr_value;
      if (element == nullptr || nodeTag(element) != tag) return false;
    }
    return true;
  };
  if (all_are(T_String)) return list->length > 1 ? kNames | kLongNames : kNames;
  if (all_are(T_DefElem)) return kOptions;
  if (all_are(T_RoleSpec)) return kRoles;
  if (all_are(T_TypeName)) return list->length == 2 ? kTypes | kTypePair : kTypes;
  const auto is = [&](int at, NodeTag tag) {
    const void* element = list->elements[at].ptr_value;
    return element != nullptr && nodeTag(element) == tag;
  };
  if (list->length == 2 && is(0, T_TypeName) && is(1, T_String)) return kTypeAndName;
  return kOtherList;
}

uint32_t FormsOf(const void* node) {
  if (node == nullptr) return kNull;
  switch (nodeTag(node)) {
    case T_String:
      return kName;
    case T_Integer:
      return kWhole;
    case T_Float:
      return kFraction;
    case T_Boolean:
      return kFlag;
    case T_A_Star:
      return kStar;
    case T_TypeName:
      return kType;
    case T_ObjectWithArgs:
      return kSignature;
    case T_RangeVar:
      return kRelation;
    case T_A_Const: {
      const auto& constant = *static_cast<const A_Const*>(node);
      const bool is_text = !constant.isnull && constant.val.node.type == T_String;
      return is_text ? kConstant | kText : kConstant;
    }
    case T_VariableSetStmt:
      return kSetting;
    case T_TypeCast:
      return kCast;
    case T_DefElem:
      return kOption;
    case T_List:
      return FormsOfList(static_cast<const List*>(node));
    default:
      return kOther;
  }
}

int Length(const List* list) { return list != nullptr ? list->length : 0; }

const void* Element(const List* list, int at) { return list->elements[at].ptr_value; }

// The forms of an option's value by its name. The last row, without a name, is for all others.
struct Option {
  const char* name;
  uint32_t forms;
};

constexpr Option kFunctionOptions[] = {
    {"as", kNames},      {"language", kName}, {"transform", kTypes}, {"window", kFlag},
    {"strict", kFlag},   {"security", kFlag}, {"leakproof", kFlag},  {"volatility", kName},
    {"cost", kNumber},   {"rows", kNumber},   {"support", kNames},   {"set", kSetting},
    {"parallel", kName}, {nullptr, kAny},
};
constexpr Option kSequenceOptions[] = {
    {"as", kType},
    {"cache", kNumber},
    {"cycle", kFlag},
    {"generated", kWhole},
    {"increment", kNumber},
    {"maxvalue", kNumber | kNull},
    {"minvalue", kNumber | kNull},
    {"owned_by", kNames},
    {"restart", kNumber | kNull},
    {"sequence_name", kNames},
    {"start", kNumber},
    {nullptr, kAny},
};
constexpr Option kRoleOptions[] = {
    {"password", kName | kNull}, {"validUntil", kName},   {"connectionlimit", kWhole},
    {"sysid", kWhole},           {"rolemembers", kRoles}, {"adminmembers", kRoles},
    {"addroleto", kRoles},       {nullptr, kFlag},
};
constexpr Option kDoOptions[] = {{"as", kName}, {"language", kName}, {nullptr, kAny}};
constexpr Option kCopyOptions[] = {
    {nullptr, kSimpleValue | kFlag | kStar | kNames},
};
constexpr Option kParameters[] = {{nullptr, kValue}};
constexpr Option kUtilityOptions[] = {{nullptr, kSimpleValue}};
constexpr Option kSubscriptionOptions[] = {{nullptr, kValue | kFlag}};
constexpr Option kWrapperFunctions[] = {{nullptr, kNames | kNull}};
constexpr Option kFilters[] = {{nullptr, kNames}};
constexpr Option kDefaultPrivileges[] = {
    {"schemas", kNames},
    {"roles", kRoles},
    {nullptr, kAny},
};
constexpr Option kTransactionModes[] = {
    {"transaction_isolation", kText},
    {nullptr, kConstant},
};
constexpr Option kGrantOptions[] = {{nullptr, kFlag}};

// What COMMENT, DROP and their like call an object of a kind. `type` is what stands for a type or a
// domain there.
uint32_t ObjectForms(ObjectType kind, uint32_t type) {
  switch (kind) {
    case OBJECT_TYPE:
    case OBJECT_DOMAIN:
      return type;
    case OBJECT_AGGREGATE:
    case OBJECT_FUNCTION:
    case OBJECT_OPERATOR:
    case OBJECT_PROCEDURE:
    case OBJECT_ROUTINE:
      return kSignature;
    case OBJECT_ACCESS_METHOD:
    case OBJECT_DATABASE:
    case OBJECT_EVENT_TRIGGER:
    case OBJECT_EXTENSION:
    case OBJECT_FDW:
    case OBJECT_FOREIGN_SERVER:
    case OBJECT_LANGUAGE:
    case OBJECT_PARAMETER_ACL:
    case OBJECT_PUBLICATION:
    case OBJECT_ROLE:
    case OBJECT_SCHEMA:
    case OBJECT_SUBSCRIPTION:
    case OBJECT_TABLESPACE:
      return kName;
    case OBJECT_LARGEOBJECT:
      return kNumber;
    case OBJECT_CAST:
      return kTypePair;
    case OBJECT_OPCLASS:  // with the access method in front
    case OBJECT_OPFAMILY:
    case OBJECT_POLICY:  // with the table in front
    case OBJECT_RULE:
    case OBJECT_TABCONSTRAINT:
    case OBJECT_TRIGGER:
      return kLongNames;
    case OBJECT_TRANSFORM:
    case OBJECT_DOMCONSTRAINT:
      return kTypeAndName;
    default:
      return kNames;
  }
}

#if PGPARSED_GRAMMAR >= 18
constexpr NodeTag kAlteredConstraint = T_ATAlterConstraint;
#else
constexpr NodeTag kAlteredConstraint = T_Constraint;
#endif

class Checker {
 public:
  explicit Checker(TreeFault& fault) : fault_(fault) {}

  bool Check(const A_Expr& node);
  bool Check(const SubLink& node);
  bool Check(const FuncCall& node);
  bool Check(const XmlExpr& node);
  bool Check(const SelectStmt& node);
  bool Check(const OnConflictClause& node);
  bool Check(const CreateOpClassItem& node);
  bool Check(const RangeFunction& node);
  bool Check(const Constraint& node);
  bool Check(const AlterTableCmd& node);
  bool Check(const DefineStmt& node);
  bool Check(const CreateFunctionStmt& node);
  bool Check(const GrantStmt& node);
  bool Check(const RenameStmt& node);
  bool Check(const AlterObjectSchemaStmt& node);
  bool Check(TransactionStmt& node);
  bool Check(const VariableSetStmt& node);

  bool Has(const void* part, const char* field) { return part != nullptr || Fail(kMissing, field); }
  bool Has(const char* name, const char* field) {
    return (name != nullptr && *name != '\0') || Fail(kMissing, field);
  }
  bool Kind(const void* node, NodeTag tag, const char* field) {
    return Has(node, field) && (nodeTag(node) == tag || Fail(kWrongKind, field));
  }
  bool Is(const void* node, uint32_t forms, const char* field) {
    if (node == nullptr && (forms & kNull) == 0) return Fail(kMissing, field);
    return (FormsOf(node) & forms) != 0 || Fail(kWrongKind, field);
  }
  bool Each(const List* list, uint32_t forms, const char* field) {
    for (int i = 0; i < Length(list); ++i) {
      if ((FormsOf(Element(list, i)) & forms) == 0) return FailAt(kWrongKind, i, field);
    }
    return true;
  }
  bool HasLength(const void* list, int least, int most, const char* field) {
    const int length = Length(static_cast<const List*>(list));
    return (length >= least && length <= most) || Fail(kWrongLength, field);
  }
  bool Options(const List* list, std::span<const Option> rules, const char* field);
  // OPTIONS (…): strings, but nothing for one that is dropped.
  bool ForeignOptions(const List* list, const char* field);
  // An object of a kind. `type` is what stands for a type or a domain.
  bool Object(const void* object, ObjectType kind, uint32_t type, const char* field);
  bool Objects(const List* objects, ObjectType kind, uint32_t type, const char* field);
  // Of operator classes and families. Those that are dropped have no names.
  bool Items(const List* items, bool dropped, const char* field);
  // The columns of INSERT; with `set` the assignments of UPDATE.
  bool Targets(const List* targets, bool set, const char* field);

 private:
  bool Fail(const char* what, const char* field) {
    fault_.failed = true;
    fault_.what = what;
    fault_.path.AddName(field);
    return false;
  }
  bool Signature(const ObjectWithArgs& object, bool is_operator, bool is_bare = false);
  bool Value(const DefElem& option, uint32_t forms, int index, const char* field);
  bool FailAt(const char* what, int index, const char* field) {
    fault_.path.AddIndex(index);
    return Fail(what, field);
  }

  TreeFault& fault_;
};

bool Checker::Options(const List* list, std::span<const Option> rules, const char* field) {
  for (int i = 0; i < Length(list); ++i) {
    const auto& option = *static_cast<const DefElem*>(Element(list, i));
    const Option* rule = rules.data();
    while (rule->name != nullptr && std::strcmp(rule->name, option.defname) != 0) ++rule;
    if (!Value(option, rule->forms, i, field)) return false;
  }
  return true;
}

bool Checker::ForeignOptions(const List* list, const char* field) {
  for (int i = 0; i < Length(list); ++i) {
    const auto& option = *static_cast<const DefElem*>(Element(list, i));
    if (!Value(option, option.defaction == DEFELEM_DROP ? kNull : kName, i, field)) return false;
  }
  return true;
}

bool Checker::Value(const DefElem& option, uint32_t forms, int index, const char* field) {
  if ((FormsOf(option.arg) & forms) != 0) return true;
  fault_.path.AddName("arg");
  fault_.path.AddName("DefElem");
  return FailAt(option.arg == nullptr ? kMissing : kWrongKind, index, field);
}

// An operator has two arguments, of which one may be null; a bare one none.
bool Checker::Signature(const ObjectWithArgs& object, bool is_operator, bool is_bare) {
  const int length = Length(object.objargs);
  int nulls = 0;
  for (int i = 0; i < length; ++i) nulls += Element(object.objargs, i) == nullptr ? 1 : 0;
  const bool fits =
      is_operator ? (length == 2 && nulls < 2) || (is_bare && length == 0) : nulls == 0;
  if (fits) return true;
  Fail("the arguments are not those of such an object", "objargs");
  fault_.path.AddName("ObjectWithArgs");
  return false;
}

bool Checker::Object(const void* object, ObjectType kind, uint32_t type, const char* field) {
  const uint32_t forms = ObjectForms(kind, type);
  if (!Is(object, forms, field)) return false;
  if (forms != kSignature) return true;
  if (Signature(*static_cast<const ObjectWithArgs*>(object), kind == OBJECT_OPERATOR)) return true;
  fault_.path.AddName(field);
  return false;
}

bool Checker::Objects(const List* objects, ObjectType kind, uint32_t type, const char* field) {
  const uint32_t forms = ObjectForms(kind, type);
  if (!Each(objects, forms, field)) return false;
  if (forms != kSignature) return true;
  for (int i = 0; i < Length(objects); ++i) {
    const auto& object = *static_cast<const ObjectWithArgs*>(Element(objects, i));
    if (Signature(object, kind == OBJECT_OPERATOR)) continue;
    fault_.path.AddIndex(i);
    fault_.path.AddName(field);
    return false;
  }
  return true;
}

bool Checker::Targets(const List* targets, bool set, const char* field) {
  for (int i = 0; i < Length(targets); ++i) {
    const auto& target = *static_cast<const ResTarget*>(Element(targets, i));
    const bool has_name = target.name != nullptr && *target.name != '\0';
    if (has_name && (!set || target.val != nullptr)) continue;
    fault_.path.AddName(has_name ? "val" : "name");
    fault_.path.AddName("ResTarget");
    return FailAt(kMissing, i, field);
  }
  return true;
}

bool Checker::Check(const A_Expr& node) {
  const bool prefix = node.kind == AEXPR_OP;
  if (!prefix && !Has(node.lexpr, "lexpr")) return false;
  const bool is_list = IsA(node.rexpr, List);
  switch (node.kind) {
    case AEXPR_IN:
      return is_list || Fail(kWrongKind, "rexpr");
    case AEXPR_BETWEEN:
    case AEXPR_NOT_BETWEEN:
    case AEXPR_BETWEEN_SYM:
    case AEXPR_NOT_BETWEEN_SYM:
      if (!is_list) return Fail(kWrongKind, "rexpr");
      return HasLength(node.rexpr, 2, 2, "rexpr");
    case AEXPR_SIMILAR: {
      if (!IsA(node.rexpr, FuncCall)) return Fail(kWrongKind, "rexpr");
      const auto* escape = reinterpret_cast<const FuncCall*>(node.rexpr);
      if (Length(escape->args) == 1 || Length(escape->args) == 2) return true;
      fault_.path.AddName("args");
      fault_.path.AddName("FuncCall");
      return Fail(kWrongLength, "rexpr");
    }
    default:
      return !is_list || Fail(kWrongKind, "rexpr");
  }
}

bool Checker::Check(const SubLink& node) {
  const bool compares = node.subLinkType == ANY_SUBLINK || node.subLinkType == ALL_SUBLINK;
  return !compares || Has(node.testexpr, "testexpr");
}

// SQL's own syntax for functions: how many arguments it has.
bool Checker::Check(const FuncCall& node) {
  if (node.funcformat != COERCE_SQL_SYNTAX || Length(node.funcname) != 2) return true;
  struct Syntax {
    std::string_view name;
    int least;
    int most;
  };
  static constexpr Syntax kSyntax[] = {
      {"timezone", PGPARSED_GRAMMAR >= 17 ? 1 : 2, 2},
      {"overlaps", 4, 4},
      {"is_normalized", 1, 2},
      {"pg_collation_for", 1, 1},
      {"extract", 2, 2},
      {"normalize", 1, 2},
      {"overlay", 3, 4},
      {"position", 2, 2},
      {"substring", 1, 3},
      {"btrim", 1, INT32_MAX},
      {"ltrim", 1, INT32_MAX},
      {"rtrim", 1, INT32_MAX},
      {"xmlexists", 2, 2},
  };
  const std::string_view name = strVal(Element(node.funcname, 1));
  for (const Syntax& syntax : kSyntax) {
    if (syntax.name == name) return HasLength(node.args, syntax.least, syntax.most, "args");
  }
  return true;
}

bool Checker::Check(const XmlExpr& node) {
  switch (node.op) {
    case IS_XMLELEMENT:
    case IS_XMLPI:
      return Has(node.name, "name");
    case IS_XMLPARSE:
      return HasLength(node.args, 2, 2, "args") && Each(node.args, kAny & ~kNull, "args");
    case IS_XMLROOT:
      return HasLength(node.args, 3, 3, "args");
    case IS_DOCUMENT:
      return HasLength(node.args, 1, 1, "args");
    default:
      return true;
  }
}

bool Checker::Check(const SelectStmt& node) {
  if (node.op != SETOP_NONE && !(Has(node.larg, "larg") && Has(node.rarg, "rarg"))) return false;
  for (int i = 0; i < Length(node.valuesLists); ++i) {
    const auto* row = static_cast<const List*>(Element(node.valuesLists, i));
    if (row == nullptr || !IsA(row, List)) return FailAt(kWrongKind, i, "valuesLists");
  }
  for (int i = 0; i < Length(node.windowClause); ++i) {
    const auto& window = *static_cast<const WindowDef*>(Element(node.windowClause, i));
    if (window.name != nullptr && *window.name != '\0') continue;
    fault_.path.AddName("name");
    fault_.path.AddName("WindowDef");
    return FailAt(kMissing, i, "windowClause");
  }
  return true;
}

bool Checker::Check(const OnConflictClause& node) {
  return node.action != ONCONFLICT_UPDATE ||
         (Has(node.targetList, "targetList") && Targets(node.targetList, true, "targetList"));
}

bool Checker::Check(const CreateOpClassItem& node) {
  if (node.itemtype == OPCLASS_ITEM_STORAGETYPE) return Has(node.storedtype, "storedtype");
  if (node.name == nullptr) return true;
  if (Signature(*node.name, node.itemtype == OPCLASS_ITEM_OPERATOR, true)) return true;
  fault_.path.AddName("name");
  return false;
}

bool Checker::Items(const List* items, bool dropped, const char* field) {
  for (int i = 0; i < Length(items); ++i) {
    const auto& item = *static_cast<const CreateOpClassItem*>(Element(items, i));
    if (dropped || item.itemtype == OPCLASS_ITEM_STORAGETYPE || item.name != nullptr) continue;
    fault_.path.AddName("name");
    fault_.path.AddName("CreateOpClassItem");
    return FailAt(kMissing, i, field);
  }
  return true;
}

// Each function has a list of its call and of its columns, which may be null.
bool Checker::Check(const RangeFunction& node) {
  for (int i = 0; i < Length(node.functions); ++i) {
    const auto* pair = static_cast<const List*>(Element(node.functions, i));
    if (!IsA(pair, List) || pair->length != 2 || Element(pair, 0) == nullptr) {
      return FailAt(kWrongKind, i, "functions");
    }
    const auto* columns = static_cast<const List*>(Element(pair, 1));
    if (columns == nullptr) continue;
    bool fits = IsA(columns, List);
    for (int k = 0; fits && k < columns->length; ++k) {
      const void* column = Element(columns, k);
      fits = column != nullptr && nodeTag(column) == T_ColumnDef;
    }
    if (!fits) return FailAt(kWrongKind, i, "functions");
  }
  return true;
}

bool Checker::Check(const Constraint& node) {
  switch (node.contype) {
    case CONSTR_DEFAULT:
    case CONSTR_CHECK:
    case CONSTR_GENERATED:
      return Has(node.raw_expr, "raw_expr");
    case CONSTR_IDENTITY:
      return Options(node.options, kSequenceOptions, "options");
    case CONSTR_PRIMARY:
    case CONSTR_UNIQUE:
      return Options(node.options, kParameters, "options");
    case CONSTR_EXCLUSION:
      if (!Has(node.access_method, "access_method") || !Has(node.exclusions, "exclusions")) {
        return false;
      }
      for (int i = 0; i < Length(node.exclusions); ++i) {
        const auto* pair = static_cast<const List*>(Element(node.exclusions, i));
        const bool fits = IsA(pair, List) && pair->length == 2 && Element(pair, 0) != nullptr &&
                          nodeTag(Element(pair, 0)) == T_IndexElem &&
                          (FormsOf(Element(pair, 1)) & kNames) != 0;
        if (!fits) return FailAt(kWrongKind, i, "exclusions");
      }
      return Options(node.options, kParameters, "options");
    default:
      return true;
  }
}

bool Checker::Check(const AlterTableCmd& node) {
  const auto has_kind = [&](NodeTag tag) { return Kind(node.def, tag, "def"); };
  const auto has_options = [&](std::span<const Option> rules) {
    return Is(node.def, kOptions, "def") &&
           Options(reinterpret_cast<const List*>(node.def), rules, "def");
  };
  switch (node.subtype) {
    case AT_AddColumn:
    case AT_AlterColumnType:
      return has_kind(T_ColumnDef);
    case AT_AddConstraint:
    case AT_AddIdentity:
      return has_kind(T_Constraint);
    case AT_AlterConstraint:
      return has_kind(kAlteredConstraint);
    case AT_AddInherit:
    case AT_DropInherit:
      return has_kind(T_RangeVar);
    case AT_AddOf:
      return has_kind(T_TypeName);
    case AT_AttachPartition:
    case AT_DetachPartition:
    case AT_DetachPartitionFinalize:
      return has_kind(T_PartitionCmd);
    case AT_ReplicaIdentity:
      return has_kind(T_ReplicaIdentityStmt);
    case AT_SetStorage:
    case AT_SetCompression:
      return has_kind(T_String);
    case AT_SetStatistics:
      return Is(node.def, kWhole | (PGPARSED_GRAMMAR >= 17 ? kNull : 0u), "def");
    case AT_SetIdentity:
      return has_options(kSequenceOptions);
    case AT_SetOptions:
    case AT_ResetOptions:
    case AT_SetRelOptions:
    case AT_ResetRelOptions:
      return has_options(kParameters);
    case AT_GenericOptions:
    case AT_AlterColumnGenericOptions:
      return Is(node.def, kOptions, "def") &&
             ForeignOptions(reinterpret_cast<const List*>(node.def), "def");
    case AT_ChangeOwner:
      return Has(node.newowner, "newowner");
    default:
      return true;
  }
}

bool Checker::Check(const DefineStmt& node) {
  if (node.kind == OBJECT_AGGREGATE && !node.oldstyle) {
    // The arguments, which are null for (*), and how many of them are direct.
    if (!HasLength(node.args, 2, 2, "args")) return false;
    const auto* arguments = static_cast<const List*>(Element(node.args, 0));
    bool fits = arguments == nullptr || IsA(arguments, List);
    for (int i = 0; fits && i < Length(arguments); ++i) {
      const void* argument = Element(arguments, i);
      fits = argument != nullptr && nodeTag(argument) == T_FunctionParameter;
    }
    if (!fits) return FailAt(kWrongKind, 0, "args");
    if ((FormsOf(Element(node.args, 1)) & kWhole) == 0) return FailAt(kWrongKind, 1, "args");
  } else if (node.args != nullptr) {
    return Fail(kWrongKind, "args");
  }
  return Options(node.definition, kParameters, "definition");
}

// The body is RETURN … or a list of one list of statements, which may be empty.
bool Checker::Check(const CreateFunctionStmt& node) {
  if (!Options(node.options, kFunctionOptions, "options")) return false;
  if (node.sql_body == nullptr || IsA(node.sql_body, ReturnStmt)) return true;
  const auto* body = reinterpret_cast<const List*>(node.sql_body);
  if (!IsA(body, List) || body->length != 1) return Fail(kWrongKind, "sql_body");
  const auto* statements = static_cast<const List*>(Element(body, 0));
  if (statements == nullptr) return true;
  if (!IsA(statements, List)) return Fail(kWrongKind, "sql_body");
  for (int i = 0; i < statements->length; ++i) {
    if (Element(statements, i) == nullptr) return Fail(kWrongKind, "sql_body");
  }
  return true;
}

bool Checker::Check(const GrantStmt& node) {
  if (node.targtype == ACL_TARGET_DEFAULTS) return true;
  if (!Has(node.objects, "objects")) return false;
  if (node.targtype == ACL_TARGET_ALL_IN_SCHEMA) return Each(node.objects, kName, "objects");
  const bool relation = node.objtype == OBJECT_TABLE || node.objtype == OBJECT_SEQUENCE;
  return relation ? Each(node.objects, kRelation, "objects")
                  : Objects(node.objects, node.objtype, kNames, "objects");
}

bool Checker::Check(const RenameStmt& node) {
  switch (node.renameType) {
    case OBJECT_TABLE:
    case OBJECT_SEQUENCE:
    case OBJECT_VIEW:
    case OBJECT_MATVIEW:
    case OBJECT_INDEX:
    case OBJECT_FOREIGN_TABLE:
      return Has(node.relation, "relation");
    case OBJECT_COLUMN:
    case OBJECT_ATTRIBUTE:
    case OBJECT_POLICY:
    case OBJECT_RULE:
    case OBJECT_TRIGGER:
    case OBJECT_TABCONSTRAINT:
      return Has(node.relation, "relation") && Has(node.subname, "subname");
    case OBJECT_DATABASE:
    case OBJECT_ROLE:
    case OBJECT_SCHEMA:
    case OBJECT_TABLESPACE:
      return Has(node.subname, "subname");
    case OBJECT_DOMCONSTRAINT:
      return Is(node.object, kNames, "object") && Has(node.subname, "subname");
    default:
      return Object(node.object, node.renameType, kNames, "object");
  }
}

bool Checker::Check(const AlterObjectSchemaStmt& node) {
  switch (node.objectType) {
    case OBJECT_TABLE:
    case OBJECT_SEQUENCE:
    case OBJECT_VIEW:
    case OBJECT_MATVIEW:
    case OBJECT_FOREIGN_TABLE:
      return Has(node.relation, "relation");
    default:
      return Object(node.object, node.objectType, kNames, "object");
  }
}

bool Checker::Check(TransactionStmt& node) {
  switch (node.kind) {
    case TRANS_STMT_SAVEPOINT:
    case TRANS_STMT_RELEASE:
    case TRANS_STMT_ROLLBACK_TO:
      return Has(node.savepoint_name, "savepoint_name");
    case TRANS_STMT_PREPARE:
    case TRANS_STMT_COMMIT_PREPARED:
    case TRANS_STMT_ROLLBACK_PREPARED:
      // A string literal: an empty one is absent.
      static char empty[] = "";
      if (node.gid == nullptr) node.gid = empty;
      return true;
    default:
      return Options(node.options, kTransactionModes, "options");
  }
}

bool Checker::Check(const VariableSetStmt& node) {
  if (node.kind == VAR_RESET_ALL) return true;
  if (!Has(node.name, "name")) return false;
  switch (node.kind) {
    case VAR_SET_VALUE:
      return Has(node.args, "args") && Each(node.args, kConstant | kCast, "args");
    case VAR_SET_MULTI:
      if (!Has(node.args, "args")) return false;
      if (std::strcmp(node.name, "TRANSACTION SNAPSHOT") == 0) {
        return Each(node.args, kConstant, "args");
      }
      return Each(node.args, kOption, "args") && Options(node.args, kTransactionModes, "args");
    default:
      return true;
  }
}

// Those that a line says.

bool Check(Checker& check, const A_Indices& node) {
  return node.is_slice || check.Has(node.uidx, "uidx");
}
bool Check(Checker& check, const AlterDatabaseStmt& node) {
  return check.Options(node.options, kUtilityOptions, "options");
}
bool Check(Checker& check, const AlterDefaultPrivilegesStmt& node) {
  return check.Options(node.options, kDefaultPrivileges, "options");
}
bool Check(Checker& check, const AlterFdwStmt& node) {
  return check.Options(node.func_options, kWrapperFunctions, "func_options") &&
         check.ForeignOptions(node.options, "options");
}
bool Check(Checker& check, const AlterForeignServerStmt& node) {
  return check.ForeignOptions(node.options, "options");
}
bool Check(Checker& check, const AlterUserMappingStmt& node) {
  return check.ForeignOptions(node.options, "options");
}
bool Check(Checker& check, const AlterFunctionStmt& node) {
  return check.Object(node.func, node.objtype, kNames, "func") &&
         check.Options(node.actions, kFunctionOptions, "actions");
}
bool Check(Checker& check, const AlterOperatorStmt& node) {
  return check.Options(node.options, kParameters, "options") &&
         check.Object(node.opername, OBJECT_OPERATOR, kNames, "opername");
}
bool Check(Checker& check, const AlterOwnerStmt& node) {
  return check.Object(node.object, node.objectType, kNames, "object");
}
bool Check(Checker& check, const AlterPublicationStmt& node) {
  return check.Options(node.options, kParameters, "options");
}
bool Check(Checker& check, const AlterRoleStmt& node) {
  return check.Options(node.options, kRoleOptions, "options");
}
bool Check(Checker& check, const AlterSeqStmt& node) {
  return check.Options(node.options, kSequenceOptions, "options");
}
bool Check(Checker& check, const AlterSubscriptionStmt& node) {
  switch (node.kind) {
    case ALTER_SUBSCRIPTION_CONNECTION:
      if (!check.Has(node.conninfo, "conninfo")) return false;
      break;
    case ALTER_SUBSCRIPTION_SET_PUBLICATION:
    case ALTER_SUBSCRIPTION_ADD_PUBLICATION:
    case ALTER_SUBSCRIPTION_DROP_PUBLICATION:
      if (!check.Has(node.publication, "publication")) return false;
      break;
    case ALTER_SUBSCRIPTION_ENABLED:
      if (!check.HasLength(node.options, 1, 1, "options")) return false;
      break;
    case ALTER_SUBSCRIPTION_OPTIONS:
    case ALTER_SUBSCRIPTION_SKIP:
      if (!check.Has(node.options, "options")) return false;
      break;
    case ALTER_SUBSCRIPTION_REFRESH:
      break;
  }
  return check.Options(node.options, kSubscriptionOptions, "options");
}
bool Check(Checker& check, const AlterTSConfigurationStmt& node) {
  switch (node.kind) {
    case ALTER_TSCONFIG_REPLACE_DICT:
    case ALTER_TSCONFIG_REPLACE_DICT_FOR_TOKEN:
      if (!check.HasLength(node.dicts, 2, 2, "dicts")) return false;
      break;
    case ALTER_TSCONFIG_ADD_MAPPING:
    case ALTER_TSCONFIG_ALTER_MAPPING_FOR_TOKEN:
      if (!check.Has(node.dicts, "dicts")) return false;
      break;
    case ALTER_TSCONFIG_DROP_MAPPING:
      break;
  }
  const bool has_tokens =
      node.kind == ALTER_TSCONFIG_REPLACE_DICT || check.Has(node.tokentype, "tokentype");
  return has_tokens && check.Each(node.dicts, kNames, "dicts");
}
bool Check(Checker& check, const AlterTSDictionaryStmt& node) {
  return check.Options(node.options, kParameters, "options");
}
bool Check(Checker& check, const AlterTableSpaceOptionsStmt& node) {
  return check.Options(node.options, kParameters, "options");
}
bool Check(Checker& check, const AlterTypeStmt& node) {
  return check.Options(node.options, kParameters, "options");
}
bool Check(Checker& check, const AlterExtensionContentsStmt& node) {
  return check.Object(node.object, static_cast<ObjectType>(node.objtype), kType, "object");
}
bool Check(Checker& check, const ColumnDef& node) {
  return check.ForeignOptions(node.fdwoptions, "fdwoptions");
}
bool Check(Checker& check, const CommentStmt& node) {
  return check.Object(node.object, node.objtype, kType, "object");
}
bool Check(Checker& check, const CopyStmt& node) {
  return check.Options(node.options, kCopyOptions, "options");
}
bool Check(Checker& check, const CreateEventTrigStmt& node) {
  return check.Options(node.whenclause, kFilters, "whenclause");
}
bool Check(Checker& check, const CreateFdwStmt& node) {
  return check.Options(node.func_options, kWrapperFunctions, "func_options") &&
         check.ForeignOptions(node.options, "options");
}
bool Check(Checker& check, const CreateForeignServerStmt& node) {
  return check.ForeignOptions(node.options, "options");
}
bool Check(Checker& check, const CreateForeignTableStmt& node) {
  return check.ForeignOptions(node.options, "options");
}
bool Check(Checker& check, const CreateUserMappingStmt& node) {
  return check.ForeignOptions(node.options, "options");
}
bool Check(Checker& check, const ImportForeignSchemaStmt& node) {
  return check.ForeignOptions(node.options, "options");
}
bool Check(Checker& check, const CreatePublicationStmt& node) {
  return check.Options(node.options, kParameters, "options");
}
bool Check(Checker& check, const CreateRangeStmt& node) {
  return check.Options(node.params, kParameters, "params");
}
bool Check(Checker& check, const CreateRoleStmt& node) {
  return check.Options(node.options, kRoleOptions, "options");
}
bool Check(Checker& check, const CreateSeqStmt& node) {
  return check.Options(node.options, kSequenceOptions, "options");
}
bool Check(Checker& check, const AlterDomainStmt& node) {
  switch (node.subtype) {
    case 'C':
      return check.Kind(node.def, T_Constraint, "def");
    case 'X':
    case 'V':
      return check.Has(node.name, "name");
    default:
      return true;
  }
}
bool Check(Checker& check, const CreateOpClassStmt& node) {
  return check.Items(node.items, false, "items");
}
bool Check(Checker& check, const AlterOpFamilyStmt& node) {
  return check.Items(node.items, node.isDrop, "items");
}
bool Check(Checker& check, const CreateStmt& node) {
  if (node.partbound != nullptr && !check.Has(node.inhRelations, "inhRelations")) return false;
  return check.Options(node.options, kParameters, "options");
}
bool Check(Checker& check, const CreateSubscriptionStmt& node) {
  return check.Options(node.options, kParameters, "options");
}
bool Check(Checker& check, const CreateTableSpaceStmt& node) {
  return check.Options(node.options, kParameters, "options");
}
bool Check(Checker& check, const CreatedbStmt& node) {
  return check.Options(node.options, kUtilityOptions, "options");
}
bool Check(Checker& check, const DoStmt& node) {
  return check.Options(node.args, kDoOptions, "args");
}
bool Check(Checker& check, const DropStmt& node) {
  return check.Objects(node.objects, node.removeType, kType, "objects");
}
bool Check(Checker& check, const ExplainStmt& node) {
  return check.Options(node.options, kUtilityOptions, "options");
}
bool Check(Checker& check, const IndexElem& node) {
  return check.Options(node.opclassopts, kParameters, "opclassopts");
}
bool Check(Checker& check, const IndexStmt& node) {
  return check.Options(node.options, kParameters, "options");
}
bool Check(Checker& check, const IntoClause& node) {
  return check.Options(node.options, kParameters, "options");
}
bool Check(Checker& check, const InsertStmt& node) {
  return check.Targets(node.cols, false, "cols");
}
bool Check(Checker& check, const UpdateStmt& node) {
  return check.Targets(node.targetList, true, "targetList");
}
bool Check(Checker& check, const MergeWhenClause& node) {
  return check.Targets(node.targetList, node.commandType == CMD_UPDATE, "targetList");
}
bool Check(Checker& check, const PublicationObjSpec& node) {
  if (node.pubobjtype == PUBLICATIONOBJ_TABLE) return check.Has(node.pubtable, "pubtable");
  return node.pubobjtype != PUBLICATIONOBJ_TABLES_IN_SCHEMA || check.Has(node.name, "name");
}
bool Check(Checker& check, const RangeTableFuncCol& node) {
  return node.for_ordinality || check.Has(node.typeName, "typeName");
}
bool Check(Checker& check, const ReindexStmt& node) {
  return check.Options(node.params, kUtilityOptions, "params");
}
bool Check(Checker& check, const ReplicaIdentityStmt& node) {
  return node.identity_type != 'i' || check.Has(node.name, "name");
}
bool Check(Checker& check, const RoleSpec& node) {
  return node.roletype != ROLESPEC_CSTRING || check.Has(node.rolename, "rolename");
}
bool Check(Checker& check, const SecLabelStmt& node) {
  return check.Object(node.object, node.objtype, kType, "object");
}
bool Check(Checker& check, const VacuumStmt& node) {
  return check.Options(node.options, kUtilityOptions, "options");
}
bool Check(Checker& check, const ViewStmt& node) {
  return check.Options(node.options, kParameters, "options");
}
#if PGPARSED_GRAMMAR >= 17
bool Check(Checker& check, const GrantRoleStmt& node) {
  return check.Options(node.opt, kGrantOptions, "opt");
}
bool Check(Checker& check, const JsonTableColumn& node) {
  if (node.coltype == JTC_NESTED) return check.Has(node.pathspec, "pathspec");
  return check.Has(node.name, "name") &&
         (node.coltype == JTC_FOR_ORDINALITY || check.Has(node.typeName, "typeName"));
}
#endif

template <typename Struct>
bool CheckAs(TreeFault& fault, void* node) {
  Checker check(fault);
  auto& typed = *static_cast<Struct*>(node);
  if constexpr (requires { check.Check(typed); }) {
    return check.Check(typed);
  } else {
    return Check(check, typed);
  }
}

using Rules = std::array<NodeRule, std::size(nodes::kMessages)>;

template <typename... Structs>
constexpr Rules RulesOf() {
  Rules rules{};
  ((rules[nodes::kMessageOf<Structs>] = CheckAs<Structs>), ...);
  return rules;
}

constexpr Rules kRules = RulesOf<
#if PGPARSED_GRAMMAR >= 17
    GrantRoleStmt, JsonTableColumn,
#endif
    A_Expr, AlterDomainStmt, CreateOpClassItem, CreateOpClassStmt, AlterOpFamilyStmt, A_Indices,
    AlterDatabaseStmt, AlterDefaultPrivilegesStmt, AlterExtensionContentsStmt, AlterFdwStmt,
    AlterForeignServerStmt, AlterFunctionStmt, AlterObjectSchemaStmt, AlterOperatorStmt,
    AlterOwnerStmt, AlterPublicationStmt, AlterRoleStmt, AlterSeqStmt, AlterSubscriptionStmt,
    AlterTSConfigurationStmt, AlterTSDictionaryStmt, AlterTableCmd, AlterTableSpaceOptionsStmt,
    AlterTypeStmt, AlterUserMappingStmt, ColumnDef, CommentStmt, Constraint, CopyStmt,
    CreateEventTrigStmt, CreateFdwStmt, CreateForeignServerStmt, CreateForeignTableStmt,
    CreateFunctionStmt, CreatePublicationStmt, CreateRangeStmt, CreateRoleStmt, CreateSeqStmt,
    CreateStmt, CreateSubscriptionStmt, CreateTableSpaceStmt, CreateUserMappingStmt, CreatedbStmt,
    DefineStmt, DoStmt, DropStmt, ExplainStmt, FuncCall, GrantStmt, ImportForeignSchemaStmt,
    IndexElem, IndexStmt, InsertStmt, IntoClause, MergeWhenClause, OnConflictClause,
    PublicationObjSpec, RangeFunction, RangeTableFuncCol, ReindexStmt, RenameStmt,
    ReplicaIdentityStmt, RoleSpec, SecLabelStmt, SelectStmt, SubLink, TransactionStmt, UpdateStmt,
    VacuumStmt, VariableSetStmt, ViewStmt, XmlExpr>();

}  // namespace

const NodeRule* const kNodeRules = kRules.data();

}  // namespace pgparsed::grammar
