// What every raw parse has: fields that are never absent, kinds of nodes where one is the only one,
// and the few lists with null elements. The deparsers follow pointers and cast nodes without a
// look, so that a tree that breaks these rules is a fault of the tree, found before it can crash
// anything or pass a number for a pointer. Only what PostgreSQL's grammar (gram.y) always does
// stands here.
//
// For sources of this folder; include it last, as node_visitor.h.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "grammar/node_visitor.h"

namespace pgparsed::grammar {

// By bit: the fields of a message in the order of its rows.
struct MessageRules {
  uint64_t required;
  uint64_t empty_if_absent;  // strings that are never null
};

struct FieldRules {
  uint16_t kind = T_Invalid;   // NodeTag of the node or of the elements; T_Invalid: any
  uint16_t other = T_Invalid;  // a second one that may be
  bool null_elements = false;
};

namespace rules {

struct Name {
  std::string_view message;
  std::string_view field;
};

inline constexpr Name kRequired[] = {
    {"RawStmt", "stmt"},
    {"A_Expr", "name"},
    {"A_Expr", "rexpr"},
    {"A_Indirection", "arg"},
    {"A_Indirection", "indirection"},
    {"Alias", "aliasname"},
    {"BoolExpr", "args"},
    {"BooleanTest", "arg"},
    {"CTECycleClause", "cycle_col_list"},
    {"CTECycleClause", "cycle_mark_column"},
    {"CTECycleClause", "cycle_path_column"},
    {"CTESearchClause", "search_col_list"},
    {"CTESearchClause", "search_seq_column"},
    {"CaseExpr", "args"},
    {"CaseWhen", "expr"},
    {"CaseWhen", "result"},
    {"CoalesceExpr", "args"},
    {"CollateClause", "collname"},
    {"ColumnRef", "fields"},
    {"CommonTableExpr", "ctename"},
    {"CommonTableExpr", "ctequery"},
    {"CurrentOfExpr", "cursor_name"},
    {"DefElem", "defname"},
    {"FuncCall", "funcname"},
    {"FunctionParameter", "argType"},
    {"IntoClause", "rel"},
    {"JoinExpr", "larg"},
    {"JoinExpr", "rarg"},
    {"MinMaxExpr", "args"},
    {"MultiAssignRef", "source"},
    {"NamedArgExpr", "arg"},
    {"NamedArgExpr", "name"},
    {"NullTest", "arg"},
    {"ObjectWithArgs", "objname"},
    {"PartitionCmd", "name"},
    {"PartitionSpec", "partParams"},
    {"PublicationTable", "relation"},
    {"RangeFunction", "functions"},
    {"RangeSubselect", "subquery"},
    {"RangeTableFunc", "columns"},
    {"RangeTableFunc", "docexpr"},
    {"RangeTableFunc", "rowexpr"},
    {"RangeTableFuncCol", "colname"},
    {"RangeTableSample", "args"},
    {"RangeTableSample", "method"},
    {"RangeTableSample", "relation"},
    {"RangeVar", "relname"},
    {"SortBy", "node"},
    {"SubLink", "subselect"},
    {"TableLikeClause", "relation"},
    {"TriggerTransition", "name"},
    {"TypeCast", "arg"},
    {"TypeCast", "typeName"},
    {"TypeName", "names"},
    {"VacuumRelation", "relation"},
    {"WithClause", "ctes"},
    {"XmlSerialize", "expr"},
    {"XmlSerialize", "typeName"},
    // Statements.
    {"AlterCollationStmt", "collname"},
    {"AlterDatabaseSetStmt", "dbname"},
    {"AlterDatabaseSetStmt", "setstmt"},
    {"AlterDatabaseStmt", "dbname"},
    {"AlterDefaultPrivilegesStmt", "action"},
    {"AlterDomainStmt", "typeName"},
    {"AlterEnumStmt", "typeName"},
    {"AlterEventTrigStmt", "trigname"},
    {"AlterExtensionContentsStmt", "extname"},
    {"AlterExtensionContentsStmt", "object"},
    {"AlterExtensionStmt", "extname"},
    {"AlterFdwStmt", "fdwname"},
    {"AlterForeignServerStmt", "servername"},
    {"AlterFunctionStmt", "actions"},
    {"AlterFunctionStmt", "func"},
    {"AlterObjectDependsStmt", "extname"},
    {"AlterObjectSchemaStmt", "newschema"},
    {"AlterOpFamilyStmt", "amname"},
    {"AlterOpFamilyStmt", "items"},
    {"AlterOpFamilyStmt", "opfamilyname"},
    {"AlterOperatorStmt", "opername"},
    {"AlterOperatorStmt", "options"},
    {"AlterOwnerStmt", "newowner"},
    {"AlterOwnerStmt", "object"},
    {"AlterPolicyStmt", "policy_name"},
    {"AlterPolicyStmt", "table"},
    {"AlterPublicationStmt", "pubname"},
    {"AlterRoleSetStmt", "setstmt"},
    {"AlterRoleStmt", "role"},
    {"AlterSeqStmt", "sequence"},
    {"AlterStatsStmt", "defnames"},
    {"AlterSubscriptionStmt", "subname"},
    {"AlterSystemStmt", "setstmt"},
    {"AlterTSConfigurationStmt", "cfgname"},
    {"AlterTSDictionaryStmt", "dictname"},
    {"AlterTSDictionaryStmt", "options"},
    {"AlterTableMoveAllStmt", "new_tablespacename"},
    {"AlterTableMoveAllStmt", "orig_tablespacename"},
    {"AlterTableSpaceOptionsStmt", "options"},
    {"AlterTableSpaceOptionsStmt", "tablespacename"},
    {"AlterTableStmt", "cmds"},
    {"AlterTableStmt", "relation"},
    {"AlterTypeStmt", "options"},
    {"AlterTypeStmt", "typeName"},
    {"AlterUserMappingStmt", "options"},
    {"AlterUserMappingStmt", "servername"},
    {"AlterUserMappingStmt", "user"},
    {"CallStmt", "funccall"},
    {"CommentStmt", "object"},
    {"CompositeTypeStmt", "typevar"},
    {"CreateAmStmt", "amname"},
    {"CreateAmStmt", "handler_name"},
    {"CreateCastStmt", "sourcetype"},
    {"CreateCastStmt", "targettype"},
    {"CreateConversionStmt", "conversion_name"},
    {"CreateConversionStmt", "func_name"},
    {"CreateDomainStmt", "domainname"},
    {"CreateDomainStmt", "typeName"},
    {"CreateEnumStmt", "typeName"},
    {"CreateEventTrigStmt", "eventname"},
    {"CreateEventTrigStmt", "funcname"},
    {"CreateEventTrigStmt", "trigname"},
    {"CreateExtensionStmt", "extname"},
    {"CreateFdwStmt", "fdwname"},
    {"CreateForeignServerStmt", "fdwname"},
    {"CreateForeignServerStmt", "servername"},
    {"CreateForeignTableStmt", "base"},
    {"CreateForeignTableStmt", "servername"},
    {"CreateFunctionStmt", "funcname"},
    {"CreateOpClassStmt", "amname"},
    {"CreateOpClassStmt", "datatype"},
    {"CreateOpClassStmt", "items"},
    {"CreateOpClassStmt", "opclassname"},
    {"CreateOpFamilyStmt", "amname"},
    {"CreateOpFamilyStmt", "opfamilyname"},
    {"CreatePLangStmt", "plhandler"},
    {"CreatePLangStmt", "plname"},
    {"CreatePolicyStmt", "cmd_name"},
    {"CreatePolicyStmt", "policy_name"},
    {"CreatePolicyStmt", "table"},
    {"CreatePublicationStmt", "pubname"},
    {"CreateRangeStmt", "typeName"},
    {"CreateRoleStmt", "role"},
    {"CreateSeqStmt", "sequence"},
    {"CreateStatsStmt", "exprs"},
    {"CreateStatsStmt", "relations"},
    {"CreateStmt", "relation"},
    {"CreateSubscriptionStmt", "publication"},
    {"CreateSubscriptionStmt", "subname"},
    {"CreateTableAsStmt", "into"},
    {"CreateTableAsStmt", "query"},
    {"CreateTableSpaceStmt", "tablespacename"},
    {"CreateTransformStmt", "lang"},
    {"CreateTransformStmt", "type_name"},
    {"CreateTrigStmt", "funcname"},
    {"CreateTrigStmt", "relation"},
    {"CreateTrigStmt", "trigname"},
    {"CreateUserMappingStmt", "servername"},
    {"CreateUserMappingStmt", "user"},
    {"CreatedbStmt", "dbname"},
    {"DeclareCursorStmt", "portalname"},
    {"DeclareCursorStmt", "query"},
    {"DefineStmt", "defnames"},
    {"DeleteStmt", "relation"},
    {"DoStmt", "args"},
    {"DropOwnedStmt", "roles"},
    {"DropRoleStmt", "roles"},
    {"DropStmt", "objects"},
    {"DropSubscriptionStmt", "subname"},
    {"DropTableSpaceStmt", "tablespacename"},
    {"DropUserMappingStmt", "servername"},
    {"DropUserMappingStmt", "user"},
    {"DropdbStmt", "dbname"},
    {"ExecuteStmt", "name"},
    {"ExplainStmt", "query"},
    {"FetchStmt", "portalname"},
    {"GrantRoleStmt", "granted_roles"},
    {"GrantRoleStmt", "grantee_roles"},
    {"GrantStmt", "grantees"},
    {"ImportForeignSchemaStmt", "local_schema"},
    {"ImportForeignSchemaStmt", "remote_schema"},
    {"ImportForeignSchemaStmt", "server_name"},
    {"IndexStmt", "indexParams"},
    {"IndexStmt", "relation"},
    {"InsertStmt", "relation"},
    {"ListenStmt", "conditionname"},
    {"LockStmt", "relations"},
    {"MergeStmt", "joinCondition"},
    {"MergeStmt", "relation"},
    {"MergeStmt", "sourceRelation"},
    {"NotifyStmt", "conditionname"},
    {"PLAssignStmt", "name"},
    {"PLAssignStmt", "val"},
    {"PrepareStmt", "name"},
    {"PrepareStmt", "query"},
    {"ReassignOwnedStmt", "newrole"},
    {"ReassignOwnedStmt", "roles"},
    {"RefreshMatViewStmt", "relation"},
    {"RenameStmt", "newname"},
    {"ReturnStmt", "returnval"},
    {"RuleStmt", "relation"},
    {"RuleStmt", "rulename"},
    {"SecLabelStmt", "object"},
    {"TruncateStmt", "relations"},
    {"UpdateStmt", "relation"},
    {"UpdateStmt", "targetList"},
    {"VariableShowStmt", "name"},
    {"ViewStmt", "query"},
    {"ViewStmt", "view"},
#if PGPARSED_GRAMMAR >= 17
    {"JsonArrayAgg", "arg"},
    {"JsonArrayAgg", "constructor"},
    {"JsonArrayQueryConstructor", "query"},
    {"JsonArgument", "name"},
    {"JsonArgument", "val"},
    {"JsonFuncExpr", "context_item"},
    {"JsonFuncExpr", "pathspec"},
    {"JsonIsPredicate", "expr"},
    {"JsonKeyValue", "key"},
    {"JsonKeyValue", "value"},
    {"JsonObjectAgg", "arg"},
    {"JsonObjectAgg", "constructor"},
    {"JsonOutput", "typeName"},
    {"JsonParseExpr", "expr"},
    {"JsonScalarExpr", "expr"},
    {"JsonSerializeExpr", "expr"},
    {"JsonTable", "columns"},
    {"JsonTable", "context_item"},
    {"JsonTable", "pathspec"},
    {"JsonTablePathSpec", "string"},
    {"JsonValueExpr", "raw_expr"},
#endif
};

// String literals, which may be empty: protobuf and JSON have no empty strings.
inline constexpr Name kEmptyIfAbsent[] = {
    {"AlterEnumStmt", "newVal"},
    {"BitString", "bsval"},
    {"CreateConversionStmt", "for_encoding_name"},
    {"CreateConversionStmt", "to_encoding_name"},
    {"CreateSubscriptionStmt", "conninfo"},
    {"CreateTableSpaceStmt", "location"},
    {"Float", "fval"},
    {"LoadStmt", "filename"},
    {"String", "sval"},
};

// A List that stands for a node may have null elements anywhere.
inline constexpr Name kWithNullElements[] = {
    {"DefineStmt", "args"},            // of an aggregate: (*)
    {"ObjectWithArgs", "objargs"},     // of an operator: (NONE, int)
    {"SelectStmt", "distinctClause"},  // DISTINCT without ON
};

struct Kind {
  std::string_view message;
  std::string_view field;
  NodeTag kind;
  NodeTag other = T_Invalid;
};

// What the node, or each element of the list, is.
inline constexpr Kind kKinds[] = {
    {"A_Expr", "name", T_String},
    {"AccessPriv", "cols", T_String},
    {"Alias", "colnames", T_String},
    {"AlterCollationStmt", "collname", T_String},
    {"AlterDatabaseStmt", "options", T_DefElem},
    {"AlterDefaultPrivilegesStmt", "options", T_DefElem},
    {"AlterDomainStmt", "typeName", T_String},
    {"AlterEnumStmt", "typeName", T_String},
    {"AlterExtensionStmt", "options", T_DefElem},
    {"AlterFdwStmt", "func_options", T_DefElem},
    {"AlterFdwStmt", "options", T_DefElem},
    {"AlterForeignServerStmt", "options", T_DefElem},
    {"AlterFunctionStmt", "actions", T_DefElem},
    {"AlterOpFamilyStmt", "items", T_CreateOpClassItem},
    {"AlterOpFamilyStmt", "opfamilyname", T_String},
    {"AlterOperatorStmt", "options", T_DefElem},
    {"AlterPolicyStmt", "roles", T_RoleSpec},
    {"AlterPublicationStmt", "options", T_DefElem},
    {"AlterPublicationStmt", "pubobjects", T_PublicationObjSpec},
    {"AlterRoleStmt", "options", T_DefElem},
    {"AlterSeqStmt", "options", T_DefElem},
    {"AlterStatsStmt", "defnames", T_String},
    {"AlterSubscriptionStmt", "options", T_DefElem},
    {"AlterSubscriptionStmt", "publication", T_String},
    {"AlterTSConfigurationStmt", "cfgname", T_String},
    {"AlterTSConfigurationStmt", "dicts", T_List},
    {"AlterTSConfigurationStmt", "tokentype", T_String},
    {"AlterTSDictionaryStmt", "dictname", T_String},
    {"AlterTSDictionaryStmt", "options", T_DefElem},
    {"AlterTableMoveAllStmt", "roles", T_RoleSpec},
    {"AlterTableSpaceOptionsStmt", "options", T_DefElem},
    {"AlterTableStmt", "cmds", T_AlterTableCmd},
    {"AlterTypeStmt", "options", T_DefElem},
    {"AlterTypeStmt", "typeName", T_String},
    {"AlterUserMappingStmt", "options", T_DefElem},
    {"CTECycleClause", "cycle_col_list", T_String},
    {"CTESearchClause", "search_col_list", T_String},
    {"CaseExpr", "args", T_CaseWhen},
    {"ClusterStmt", "params", T_DefElem},
    {"CollateClause", "collname", T_String},
    {"ColumnDef", "constraints", T_Constraint},
    {"ColumnDef", "fdwoptions", T_DefElem},
    {"ColumnRef", "fields", T_String, T_A_Star},
    {"CommonTableExpr", "aliascolnames", T_String},
    {"CompositeTypeStmt", "coldeflist", T_ColumnDef},
    {"Constraint", "exclusions", T_List},
    {"Constraint", "fk_attrs", T_String},
    {"Constraint", "fk_del_set_cols", T_String},
    {"Constraint", "including", T_String},
    {"Constraint", "keys", T_String},
    {"Constraint", "options", T_DefElem},
    {"Constraint", "pk_attrs", T_String},
    {"ConstraintsSetStmt", "constraints", T_RangeVar},
    {"CopyStmt", "attlist", T_String},
    {"CopyStmt", "options", T_DefElem},
    {"CreateAmStmt", "handler_name", T_String},
    {"CreateConversionStmt", "conversion_name", T_String},
    {"CreateConversionStmt", "func_name", T_String},
    {"CreateDomainStmt", "constraints", T_Constraint},
    {"CreateDomainStmt", "domainname", T_String},
    {"CreateEnumStmt", "typeName", T_String},
    {"CreateEnumStmt", "vals", T_String},
    {"CreateEventTrigStmt", "funcname", T_String},
    {"CreateEventTrigStmt", "whenclause", T_DefElem},
    {"CreateExtensionStmt", "options", T_DefElem},
    {"CreateFdwStmt", "func_options", T_DefElem},
    {"CreateFdwStmt", "options", T_DefElem},
    {"CreateForeignServerStmt", "options", T_DefElem},
    {"CreateForeignTableStmt", "options", T_DefElem},
    {"CreateFunctionStmt", "funcname", T_String},
    {"CreateFunctionStmt", "options", T_DefElem},
    {"CreateFunctionStmt", "parameters", T_FunctionParameter},
    {"CreateOpClassItem", "class_args", T_TypeName},
    {"CreateOpClassItem", "order_family", T_String},
    {"CreateOpClassStmt", "items", T_CreateOpClassItem},
    {"CreateOpClassStmt", "opclassname", T_String},
    {"CreateOpClassStmt", "opfamilyname", T_String},
    {"CreateOpFamilyStmt", "opfamilyname", T_String},
    {"CreatePLangStmt", "plhandler", T_String},
    {"CreatePLangStmt", "plinline", T_String},
    {"CreatePLangStmt", "plvalidator", T_String},
    {"CreatePolicyStmt", "roles", T_RoleSpec},
    {"CreatePublicationStmt", "options", T_DefElem},
    {"CreatePublicationStmt", "pubobjects", T_PublicationObjSpec},
    {"CreateRangeStmt", "params", T_DefElem},
    {"CreateRangeStmt", "typeName", T_String},
    {"CreateRoleStmt", "options", T_DefElem},
    {"CreateSeqStmt", "options", T_DefElem},
    {"CreateStatsStmt", "defnames", T_String},
    {"CreateStatsStmt", "exprs", T_StatsElem},
    {"CreateStatsStmt", "stat_types", T_String},
    {"CreateStmt", "inhRelations", T_RangeVar},
    {"CreateStmt", "options", T_DefElem},
    {"CreateSubscriptionStmt", "options", T_DefElem},
    {"CreateSubscriptionStmt", "publication", T_String},
    {"CreateTableAsStmt", "query", T_SelectStmt, T_ExecuteStmt},
    {"CreateTableSpaceStmt", "options", T_DefElem},
    {"CreateTrigStmt", "args", T_String},
    {"CreateTrigStmt", "columns", T_String},
    {"CreateTrigStmt", "funcname", T_String},
    {"CreateTrigStmt", "transitionRels", T_TriggerTransition},
    {"CreateUserMappingStmt", "options", T_DefElem},
    {"CreatedbStmt", "options", T_DefElem},
    {"DeclareCursorStmt", "query", T_SelectStmt},
    {"DefineStmt", "definition", T_DefElem},
    {"DefineStmt", "defnames", T_String},
    {"DoStmt", "args", T_DefElem},
    {"DropOwnedStmt", "roles", T_RoleSpec},
    {"DropRoleStmt", "roles", T_RoleSpec},
    {"DropdbStmt", "options", T_DefElem},
    {"ExplainStmt", "options", T_DefElem},
    {"FuncCall", "agg_order", T_SortBy},
    {"FuncCall", "funcname", T_String},
    {"GrantRoleStmt", "granted_roles", T_AccessPriv},
    {"GrantRoleStmt", "grantee_roles", T_RoleSpec},
    {"GrantStmt", "grantees", T_RoleSpec},
    {"GrantStmt", "privileges", T_AccessPriv},
    {"ImportForeignSchemaStmt", "options", T_DefElem},
    {"ImportForeignSchemaStmt", "table_list", T_RangeVar},
    {"IndexElem", "collation", T_String},
    {"IndexElem", "opclass", T_String},
    {"IndexElem", "opclassopts", T_DefElem},
    {"IndexStmt", "indexIncludingParams", T_IndexElem},
    {"IndexStmt", "indexParams", T_IndexElem},
    {"IndexStmt", "options", T_DefElem},
    {"InferClause", "indexElems", T_IndexElem},
    {"InsertStmt", "cols", T_ResTarget},
    {"InsertStmt", "selectStmt", T_SelectStmt},
    {"IntoClause", "colNames", T_String},
    {"IntoClause", "options", T_DefElem},
    {"JoinExpr", "usingClause", T_String},
    {"LockStmt", "relations", T_RangeVar},
    {"LockingClause", "lockedRels", T_RangeVar},
    {"MergeStmt", "mergeWhenClauses", T_MergeWhenClause},
    {"MergeWhenClause", "targetList", T_ResTarget},
    {"ObjectWithArgs", "objargs", T_TypeName},
    {"ObjectWithArgs", "objfuncargs", T_FunctionParameter},
    {"ObjectWithArgs", "objname", T_String},
    {"OnConflictClause", "targetList", T_ResTarget},
    {"PartitionElem", "collation", T_String},
    {"PartitionElem", "opclass", T_String},
    {"PartitionSpec", "partParams", T_PartitionElem},
    {"PrepareStmt", "argtypes", T_TypeName},
    {"PublicationTable", "columns", T_String},
    {"RangeFunction", "coldeflist", T_ColumnDef},
    {"RangeFunction", "functions", T_List},
    {"RangeSubselect", "subquery", T_SelectStmt},
    {"RangeTableFunc", "columns", T_RangeTableFuncCol},
    {"RangeTableFunc", "namespaces", T_ResTarget},
    {"RangeTableSample", "method", T_String},
    {"RangeTableSample", "relation", T_RangeVar},
    {"ReassignOwnedStmt", "roles", T_RoleSpec},
    {"ReindexStmt", "params", T_DefElem},
    {"ResTarget", "indirection", T_String, T_A_Indices},
    {"SelectStmt", "lockingClause", T_LockingClause},
    {"SelectStmt", "sortClause", T_SortBy},
    {"SelectStmt", "targetList", T_ResTarget},
    {"SelectStmt", "valuesLists", T_List},
    {"SelectStmt", "windowClause", T_WindowDef},
    {"SortBy", "useOp", T_String},
    {"SubLink", "operName", T_String},
    {"SubLink", "subselect", T_SelectStmt},
    {"TransactionStmt", "options", T_DefElem},
    {"TruncateStmt", "relations", T_RangeVar},
    {"TypeName", "arrayBounds", T_Integer},
    {"TypeName", "names", T_String},
    {"UpdateStmt", "targetList", T_ResTarget},
    {"VacuumRelation", "va_cols", T_String},
    {"VacuumStmt", "options", T_DefElem},
    {"VacuumStmt", "rels", T_VacuumRelation},
    {"ViewStmt", "aliases", T_String},
    {"ViewStmt", "options", T_DefElem},
    {"ViewStmt", "query", T_SelectStmt},
    {"WindowDef", "orderClause", T_SortBy},
    {"WithClause", "ctes", T_CommonTableExpr},
    {"XmlExpr", "named_args", T_ResTarget},
#if PGPARSED_GRAMMAR >= 17
    {"GrantRoleStmt", "opt", T_DefElem},
    {"JsonAggConstructor", "agg_order", T_SortBy},
    {"JsonArrayConstructor", "exprs", T_JsonValueExpr},
    {"JsonArrayQueryConstructor", "query", T_SelectStmt},
    {"JsonFuncExpr", "passing", T_JsonArgument},
    {"JsonObjectConstructor", "exprs", T_JsonKeyValue},
    {"JsonTable", "columns", T_JsonTableColumn},
    {"JsonTable", "passing", T_JsonArgument},
    {"JsonTableColumn", "columns", T_JsonTableColumn},
    {"JsonTablePathSpec", "string", T_A_Const},
#endif
#if PGPARSED_GRAMMAR == 17
    {"MergeStmt", "returningList", T_ResTarget},
#endif
#if PGPARSED_GRAMMAR >= 18
    {"ReturningClause", "exprs", T_ResTarget},
#else
    {"DeleteStmt", "returningList", T_ResTarget},
    {"InsertStmt", "returningList", T_ResTarget},
    {"UpdateStmt", "returningList", T_ResTarget},
#endif
};

constexpr size_t MessageNamed(std::string_view name) {
  for (size_t i = 0; i < std::size(nodes::kMessages); ++i) {
    if (nodes::kMessages[i].name == name) return i;
  }
  throw "a rule names a message that the grammar does not have";
}

// Index into the message's fields.
constexpr size_t FieldNamed(const MessageRow& row, std::string_view name) {
  for (size_t k = 0; k < row.field_count; ++k) {
    if (nodes::kFields[row.first_field + k].name() == name) return k;
  }
  throw "a rule names a field that the grammar does not have";
}

template <size_t count>
constexpr auto BitsByMessage(const Name (&names)[count]) {
  std::array<uint64_t, std::size(nodes::kMessages)> bits{};
  for (const MessageRow& row : nodes::kMessages) {
    if (row.field_count > 64) throw "a message has more fields than a rule has bits";
  }
  for (const Name& name : names) {
    const size_t i = MessageNamed(name.message);
    bits[i] |= uint64_t{1} << FieldNamed(nodes::kMessages[i], name.field);
  }
  return bits;
}

inline constexpr auto kRequiredBits = BitsByMessage(kRequired);
inline constexpr auto kEmptyBits = BitsByMessage(kEmptyIfAbsent);

inline constexpr auto kByField = [] {
  std::array<FieldRules, std::size(nodes::kFields)> all{};
  const auto of = [&](std::string_view message, std::string_view field) -> FieldRules& {
    const MessageRow& row = nodes::kMessages[MessageNamed(message)];
    return all[row.first_field + FieldNamed(row, field)];
  };
  for (const Name& name : kWithNullElements) of(name.message, name.field).null_elements = true;
  for (const Kind& kind : kKinds) {
    FieldRules& rules = of(kind.message, kind.field);
    rules.kind = static_cast<uint16_t>(kind.kind);
    rules.other = static_cast<uint16_t>(kind.other);
  }
  return all;
}();

}  // namespace rules

constexpr MessageRules RulesOf(const MessageRow& row) {
  const auto i = static_cast<size_t>(&row - nodes::kMessages);
  return {rules::kRequiredBits[i], rules::kEmptyBits[i]};
}

constexpr const FieldRules& RulesOf(const FieldRow& field) {
  return rules::kByField[static_cast<size_t>(&field - nodes::kFields)];
}

}  // namespace pgparsed::grammar
