#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

// Last: their macros would break other headers.
#include "grammar/guarded.h"
#include "grammar/plpgsql_compile.h"
#include "grammar/plpgsql_types.h"

namespace pgparsed::grammar {
namespace {

// What stands in the options of a statement.
struct Body {
  char* source = nullptr;  // NULL: there is none
  std::string_view language;
};

Body BodyIn(const Node* statement) {
  const List* options;
  Body body = {.language = "plpgsql"};
  if (IsA(statement, DoStmt)) {
    options = reinterpret_cast<const DoStmt*>(statement)->args;
  } else {
    const auto* function = reinterpret_cast<const CreateFunctionStmt*>(statement);
    options = function->options;
    // What PostgreSQL takes a function for that names no language.
    if (function->sql_body != nullptr) body.language = "sql";
  }
  const ListCell* cell;
  foreach (cell, options) {
    const auto* option = static_cast<const DefElem*>(lfirst(cell));
    const std::string_view name = option->defname;
    if (name == "language") {
      body.language = strVal(option->arg);
    } else if (name == "as") {
      body.source = IsA(option->arg, List)
                        ? strVal(llast(reinterpret_cast<const List*>(option->arg)))
                        : strVal(option->arg);
    }
  }
  return body;
}

// ---- inside RunGuarded: nothing below holds what has to be released ----

#if PGPARSED_GRAMMAR >= 18
using Scanner = yyscan_t;
#else
struct Scanner {};
#endif

// For the context of errors, as PostgreSQL's.
struct ErrorPlace {
  char* source;
  Scanner scanner;
};

extern "C" void AddErrorContext(void* argument) {
  const auto* place = static_cast<const ErrorPlace*>(argument);
  if (function_parse_error_transpose(place->source) || plpgsql_error_funcname == nullptr) return;
#if PGPARSED_GRAMMAR >= 18
  const int line = plpgsql_latest_lineno(place->scanner);
#else
  const int line = plpgsql_latest_lineno();
#endif
  errcontext("compilation of PL/pgSQL function \"%s\" near line %d", plpgsql_error_funcname, line);
}

Scanner StartScanner(const char* source) {
#if PGPARSED_GRAMMAR >= 18
  return plpgsql_scanner_init(source);
#else
  plpgsql_scanner_init(source);
  return {};
#endif
}

PLpgSQL_stmt_block* ParseBody(Scanner scanner) {
#if PGPARSED_GRAMMAR >= 18
  PLpgSQL_stmt_block* action = nullptr;
  const int failed = plpgsql_yyparse(&action, scanner);
#else
  const int failed = plpgsql_yyparse();
  PLpgSQL_stmt_block* action = plpgsql_parse_result;
#endif
  if (failed != 0) elog(ERROR, "plpgsql parser returned %d", failed);
#if PGPARSED_GRAMMAR >= 18
  plpgsql_scanner_finish(scanner);
#else
  (void)scanner;
  plpgsql_scanner_finish();
#endif
  return action;
}

template <typename T>
T* New() {
  return static_cast<T*>(palloc0(sizeof(T)));
}

bool IsOutput(FunctionParameterMode mode) {
  return mode == FUNC_PARAM_OUT || mode == FUNC_PARAM_INOUT || mode == FUNC_PARAM_TABLE;
}

PLpgSQL_type* BuiltInType(Oid oid) { return plpgsql_build_datatype(oid, -1, InvalidOid, nullptr); }

// A function may end without RETURN: PL/pgSQL adds it, outside of the block's exception handlers.
void AddReturn(PLpgSQL_function& function) {
  // From 18 on a label would make the RETURN part of the labelled block.
  const bool labelled = PGPARSED_GRAMMAR >= 18 && function.action->label != nullptr;
  if (function.action->exceptions != nullptr || labelled) {
    auto* outer = New<PLpgSQL_stmt_block>();
    outer->cmd_type = PLPGSQL_STMT_BLOCK;
    outer->body = lappend(nullptr, function.action);
    function.action = outer;
  }
  List*& body = function.action->body;
  if (body != NIL && static_cast<PLpgSQL_stmt*>(llast(body))->cmd_type == PLPGSQL_STMT_RETURN) {
    return;
  }
  auto* statement = New<PLpgSQL_stmt_return>();
  statement->cmd_type = PLPGSQL_STMT_RETURN;
  statement->retvarno = function.out_param_varno;
  body = lappend(body, statement);
}

void AddName(PLpgSQL_nsitem_type kind, int variable, const char* name) {
#if PGPARSED_GRAMMAR >= 18
  // The libraries before let the last of several count.
  if (plpgsql_ns_lookup(plpgsql_ns_top(), true, name, nullptr, nullptr, nullptr) != nullptr) {
    ereport(ERROR, (errcode(ERRCODE_INVALID_FUNCTION_DEFINITION),
                    errmsg("parameter name \"%s\" used more than once", name)));
  }
#endif
  plpgsql_ns_additem(kind, variable, name);
}

// Adds an argument's variable, under its name and as $n.
PLpgSQL_variable* AddArgument(const FunctionParameter& parameter, int number, PLpgSQL_type* type) {
  char numbered[16];
  pg_snprintf(numbered, sizeof numbered, "$%d", number);
  const bool named = parameter.name != nullptr && parameter.name[0] != '\0';
  PLpgSQL_variable* variable =
      plpgsql_build_variable(named ? parameter.name : numbered, 0, type, false);
  const PLpgSQL_nsitem_type kind =
      variable->dtype == PLPGSQL_DTYPE_VAR ? PLPGSQL_NSTYPE_VAR : PLPGSQL_NSTYPE_REC;
  AddName(kind, variable->dno, numbered);
  if (named) AddName(kind, variable->dno, parameter.name);
  return variable;
}

// Whether the function returns this pseudo-type.
bool Returns(const CreateFunctionStmt& statement, std::string_view type) {
  if (statement.returnType == nullptr) return false;
  const List* names = statement.returnType->names;
  const int count = list_length(names);
  return count > 0 && strVal(llast(names)) == type &&
         (count == 1 || std::strcmp(strVal(list_nth(names, count - 2)), "pg_catalog") == 0);
}

// NEW and OLD.
void AddTriggerRows(PLpgSQL_function& function) {
  function.new_varno = plpgsql_build_record("new", 0, nullptr, RECORDOID, true)->dno;
  function.old_varno = plpgsql_build_record("old", 0, nullptr, RECORDOID, true)->dno;
}

#if PGPARSED_GRAMMAR >= 18

// What CREATE FUNCTION says about arguments and result, with types looked up.
struct Signature {
  List* parameters;   // of FunctionParameter
  Oid* types;         // of the parameters, polymorphic ones resolved
  Oid declared_type;  // that the function returns
};

Oid TypeOf(const TypeName* name) {
  const Type type = LookupTypeName(nullptr, name, nullptr, false);
  if (type == nullptr) {
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT),
                    errmsg("type \"%s\" does not exist", TypeNameToString(name))));
  }
  return typeTypeId(type);
}

// The library cannot look up %TYPE: to it such a type is "unknown".
TypeName* LookedUp(TypeName* name) {
  if (!name->pct_type) return name;
  auto* unknown = static_cast<TypeName*>(copyObjectImpl(name));
  unknown->names = NIL;
  unknown->pct_type = false;
  unknown->typeOid = UNKNOWNOID;
  return unknown;
}

// The checks of CREATE FUNCTION, in PostgreSQL's order.
Signature ReadSignature(const CreateFunctionStmt& statement, const char* name) {
  Signature signature = {};
  const ListCell* cell;
  foreach (cell, statement.parameters) {
    auto* parameter = New<FunctionParameter>();
    *parameter = *static_cast<const FunctionParameter*>(lfirst(cell));
    parameter->argType = LookedUp(parameter->argType);
    signature.parameters = lappend(signature.parameters, parameter);
  }

  oidvector* input_types;
  List* input_type_list = NIL;
  ArrayType* all_types;
  ArrayType* modes;
  ArrayType* names;
  List* input_names = NIL;
  List* defaults;
  Oid variadic_type;
  Oid required_type;
  interpret_function_parameter_list(New<ParseState>(), signature.parameters, InvalidOid,
                                    statement.is_procedure ? OBJECT_PROCEDURE : OBJECT_FUNCTION,
                                    &input_types, &input_type_list, &all_types, &modes, &names,
                                    &input_names, &defaults, &variadic_type, &required_type);

  if (statement.is_procedure) {
    signature.declared_type = OidIsValid(required_type) ? required_type : VOIDOID;
  } else if (statement.returnType != nullptr) {
    signature.declared_type = TypeOf(LookedUp(statement.returnType));
    if (OidIsValid(required_type) && signature.declared_type != required_type &&
        required_type != UNKNOWNOID && signature.declared_type != UNKNOWNOID) {
      ereport(ERROR, (errcode(ERRCODE_INVALID_FUNCTION_DEFINITION),
                      errmsg("function result type must be %s because of OUT parameters",
                             format_type_be(required_type))));
    }
  } else if (OidIsValid(required_type)) {
    signature.declared_type = required_type;
  } else {
    ereport(ERROR, (errcode(ERRCODE_INVALID_FUNCTION_DEFINITION),
                    errmsg("function result type must be specified")));
  }

  const int count = list_length(signature.parameters);
  signature.types = static_cast<Oid*>(palloc(sizeof(Oid) * static_cast<size_t>(count)));
  auto* argument_modes = static_cast<char*>(palloc(static_cast<size_t>(count)));
  for (int i = 0; i < count; ++i) {
    const auto* parameter =
        static_cast<const FunctionParameter*>(list_nth(signature.parameters, i));
    signature.types[i] = TypeOf(parameter->argType);
    argument_modes[i] =
        static_cast<char>(parameter->mode == FUNC_PARAM_DEFAULT ? FUNC_PARAM_IN : parameter->mode);
  }
  cfunc_resolve_polymorphic_argtypes(count, signature.types, argument_modes, nullptr, true, name);
  return signature;
}

PLpgSQL_type* ArgumentType(Oid oid, TypeName* name) {
  if (name->pct_type) {
    // As declarations in the body have it.
    auto* type = New<PLpgSQL_type>();
    type->typname = psprintf("%s%%TYPE", NameListToString(name->names));
    type->ttype = PLPGSQL_TTYPE_SCALAR;
    type->atttypmod = -1;
    return type;
  }
  PLpgSQL_type* type =
      plpgsql_build_datatype(oid, -1, InvalidOid, oid == RECORDARRAYOID ? name : nullptr);
  if (type->ttype == PLPGSQL_TTYPE_PSEUDO) {
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("PL/pgSQL functions cannot accept type %s", format_type_be(oid))));
  }
  return type;
}

// Returns how many of the arguments are outputs.
int AddArguments(const CreateFunctionStmt& statement, const Signature& signature,
                 PLpgSQL_function& function) {
  const int count = list_length(statement.parameters);
  auto* row = New<PLpgSQL_row>();
  row->dtype = PLPGSQL_DTYPE_ROW;
  row->refname = pstrdup("(unnamed row)");
  row->lineno = -1;
  row->fieldnames = static_cast<char**>(palloc(sizeof(char*) * static_cast<size_t>(count)));
  row->varnos = static_cast<int*>(palloc(sizeof(int) * static_cast<size_t>(count)));
  for (int i = 0; i < count; ++i) {
    const auto* parameter =
        static_cast<const FunctionParameter*>(list_nth(statement.parameters, i));
    PLpgSQL_variable* variable =
        AddArgument(*parameter, i + 1, ArgumentType(signature.types[i], parameter->argType));
    if (!IsOutput(parameter->mode)) continue;
    row->fieldnames[row->nfields] = variable->refname;
    row->varnos[row->nfields++] = variable->dno;
  }
  // Several outputs return as a row, and so does a procedure's only one.
  if (row->nfields > 1 || (row->nfields == 1 && statement.is_procedure)) {
    plpgsql_adddatum(reinterpret_cast<PLpgSQL_datum*>(row));
    function.out_param_varno = row->dno;
  } else if (row->nfields == 1) {
    function.out_param_varno = row->varnos[0];
  }
  return row->nfields;
}

// What PostgreSQL's validator takes a polymorphic result for.
Oid ResolvedResult(Oid type) {
  switch (type) {
    case ANYARRAYOID:
    case ANYCOMPATIBLEARRAYOID:
      return INT4ARRAYOID;
    case ANYRANGEOID:
    case ANYCOMPATIBLERANGEOID:
      return INT4RANGEOID;
    case ANYMULTIRANGEOID:
      return INT4MULTIRANGEOID;
    default:
      return IsPolymorphicType(type) ? INT4OID : type;
  }
}

void SetResult(const CreateFunctionStmt& statement, const Signature& signature, int outputs,
               PLpgSQL_function& function) {
  const Oid type = ResolvedResult(signature.declared_type);
  const bool known =
      type == VOIDOID || type == RECORDOID || type == RECORDARRAYOID || type == UNKNOWNOID;
  if (!known && get_typtype(type) == TYPTYPE_PSEUDO) {
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("PL/pgSQL functions cannot return type %s", format_type_be(type))));
  }
  function.fn_rettype = type;
  function.fn_retset = statement.returnType != nullptr && statement.returnType->setof;
  function.fn_retistuple = type_is_rowtype(type);
  if (IsPolymorphicType(signature.declared_type) && outputs == 0) {
    plpgsql_build_variable("$0", 0, BuiltInType(type), true);
  }
}

struct TriggerVariable {
  const char* name;
  Oid type;
  PLpgSQL_promise_type promise;
};

constexpr TriggerVariable kTriggerVariables[] = {
    {"tg_name", NAMEOID, PLPGSQL_PROMISE_TG_NAME},
    {"tg_when", TEXTOID, PLPGSQL_PROMISE_TG_WHEN},
    {"tg_level", TEXTOID, PLPGSQL_PROMISE_TG_LEVEL},
    {"tg_op", TEXTOID, PLPGSQL_PROMISE_TG_OP},
    {"tg_relid", OIDOID, PLPGSQL_PROMISE_TG_RELID},
    {"tg_relname", NAMEOID, PLPGSQL_PROMISE_TG_TABLE_NAME},
    {"tg_table_name", NAMEOID, PLPGSQL_PROMISE_TG_TABLE_NAME},
    {"tg_table_schema", NAMEOID, PLPGSQL_PROMISE_TG_TABLE_SCHEMA},
    {"tg_nargs", INT4OID, PLPGSQL_PROMISE_TG_NARGS},
    {"tg_argv", TEXTARRAYOID, PLPGSQL_PROMISE_TG_ARGV},
};

constexpr TriggerVariable kEventTriggerVariables[] = {
    {"tg_event", TEXTOID, PLPGSQL_PROMISE_TG_EVENT},
    {"tg_tag", TEXTOID, PLPGSQL_PROMISE_TG_TAG},
};

template <size_t count>
void AddTriggerVariables(const TriggerVariable (&variables)[count]) {
  for (const TriggerVariable& variable : variables) {
    auto* var = reinterpret_cast<PLpgSQL_var*>(
        plpgsql_build_variable(variable.name, 0, BuiltInType(variable.type), true));
    var->dtype = PLPGSQL_DTYPE_PROMISE;
    var->promise = variable.promise;
  }
}

bool HasInputs(const CreateFunctionStmt& statement) {
  const ListCell* cell;
  foreach (cell, statement.parameters) {
    const auto mode = static_cast<const FunctionParameter*>(lfirst(cell))->mode;
    if (mode != FUNC_PARAM_OUT && mode != FUNC_PARAM_TABLE) return true;
  }
  return false;
}

// Everything that is declared before the body. Whether the body may end without RETURN.
bool Declare(const CreateFunctionStmt& statement, const Signature& signature,
             PLpgSQL_function& function) {
  int outputs = 0;
  if (Returns(statement, "trigger")) {
    function.fn_is_trigger = PLPGSQL_DML_TRIGGER;
    function.fn_rettype = InvalidOid;
    function.fn_retistuple = true;
    if (HasInputs(statement)) {
      ereport(ERROR, (errcode(ERRCODE_INVALID_FUNCTION_DEFINITION),
                      errmsg("trigger functions cannot have declared arguments")));
    }
    AddTriggerRows(function);
    AddTriggerVariables(kTriggerVariables);
  } else if (Returns(statement, "event_trigger")) {
    function.fn_is_trigger = PLPGSQL_EVENT_TRIGGER;
    function.fn_rettype = VOIDOID;
    function.fn_retistuple = true;
    if (HasInputs(statement)) {
      ereport(ERROR, (errcode(ERRCODE_INVALID_FUNCTION_DEFINITION),
                      errmsg("event trigger functions cannot have declared arguments")));
    }
    AddTriggerVariables(kEventTriggerVariables);
  } else {
    outputs = AddArguments(statement, signature, function);
    SetResult(statement, signature, outputs, function);
  }
  function.found_varno = plpgsql_build_variable("found", 0, BuiltInType(BOOLOID), true)->dno;
  return outputs > 0 || function.fn_rettype == VOIDOID || function.fn_retset;
}

#else

// These libraries look no types up: every function returns void, and takes any RETURN.
struct Signature {};

Signature ReadSignature(const CreateFunctionStmt&, const char*) { return {}; }

PLpgSQL_type* ArgumentType(TypeName* name) {
#if PGPARSED_GRAMMAR >= 17
  return plpgsql_build_datatype(UNKNOWNOID, -1, InvalidOid, name);
#else
  PLpgSQL_type* type = plpgsql_build_datatype(UNKNOWNOID, -1, InvalidOid, nullptr);
  if (name->names != NIL && std::strcmp(strVal(llast(name->names)), "refcursor") == 0) {
    type->typoid = REFCURSOROID;
  }
  return type;
#endif
}

bool Declare(const CreateFunctionStmt& statement, const Signature&, PLpgSQL_function& function) {
  for (int i = 0; i < list_length(statement.parameters); ++i) {
    const auto* parameter =
        static_cast<const FunctionParameter*>(list_nth(statement.parameters, i));
    // The library of 15 leaves arguments without a name out.
    if (PGPARSED_GRAMMAR < 17 && parameter->name == nullptr) continue;
    const PLpgSQL_variable* variable =
        AddArgument(*parameter, i + 1, ArgumentType(parameter->argType));
    if (IsOutput(parameter->mode)) function.out_param_varno = variable->dno;
  }
  function.fn_rettype = VOIDOID;
  function.fn_retset = statement.returnType != nullptr && statement.returnType->setof;
  function.fn_retbyval = true;
  function.fn_rettyplen = sizeof(int32);
  function.found_varno = plpgsql_build_variable("found", 0, BuiltInType(BOOLOID), true)->dno;
  if (Returns(statement, "trigger")) AddTriggerRows(function);
  return true;
}

#endif

PLpgSQL_function* CompileFunction(const CreateFunctionStmt& statement, char* source) {
  char* name = pstrdup(strVal(llast(statement.funcname)));
  const Signature signature = ReadSignature(statement, name);

  ErrorPlace place = {.source = source, .scanner = StartScanner(source)};
  plpgsql_error_funcname = name;
  ErrorContextCallback callback = {};
  callback.callback = AddErrorContext;
  callback.arg = &place;
  callback.previous = error_context_stack;
  error_context_stack = &callback;

  auto* function = New<PLpgSQL_function>();
  plpgsql_curr_compile = function;
  plpgsql_check_syntax = true;
  plpgsql_DumpExecTree = false;
  plpgsql_compile_tmp_cxt = CurrentMemoryContext;
  function->fn_cxt = CurrentMemoryContext;
  function->fn_signature = name;
  function->fn_is_trigger = PLPGSQL_NOT_TRIGGER;
  function->fn_prokind = statement.is_procedure ? PROKIND_PROCEDURE : PROKIND_FUNCTION;
  function->out_param_varno = -1;
  function->resolve_option = static_cast<PLpgSQL_resolve_option>(plpgsql_variable_conflict);
  function->print_strict_params = plpgsql_print_strict_params;

  plpgsql_ns_init();
  plpgsql_ns_push(name, PLPGSQL_LABEL_BLOCK);
  plpgsql_start_datums();
  const bool may_end = Declare(statement, signature, *function);
  function->action = ParseBody(place.scanner);
  if (may_end) AddReturn(*function);
  plpgsql_finish_datums(function);

  error_context_stack = callback.previous;
  plpgsql_error_funcname = nullptr;
  plpgsql_check_syntax = false;
  plpgsql_compile_tmp_cxt = nullptr;
  return function;
}

PLpgSQL_function* Compile(const Node* statement, char* source) {
  return IsA(statement, DoStmt)
             ? plpgsql_compile_inline(source)
             : CompileFunction(*reinterpret_cast<const CreateFunctionStmt*>(statement), source);
}

// ---- outside ----

// What is wrong with the clauses of a function in PL/pgSQL.
std::optional<std::string_view> BodyError(const Node* statement, const Body& body) {
  if (IsA(statement, DoStmt)) {
    if (body.source == nullptr) return "no inline code specified";
    return std::nullopt;
  }
  const bool has_sql_body =
      reinterpret_cast<const CreateFunctionStmt*>(statement)->sql_body != nullptr;
  if (has_sql_body && body.source != nullptr) return "duplicate function body specified";
  if (has_sql_body) return "inline SQL function body only valid for language SQL";
  if (body.source == nullptr) return "no function body specified";
  return std::nullopt;
}

}  // namespace

Result<const PLpgSQL_function*> CompilePlpgsql(void* memory_context, const Node* statement) {
  const Body body = BodyIn(statement);
  const PLpgSQL_function* function = nullptr;
  if (body.language != "plpgsql") {
    auto error = RunGuarded(memory_context, Reason::kSqlSyntaxError,
                            [&] { function = New<PLpgSQL_function>(); });
    if (error) return *std::move(error);
    return function;
  }
  if (const auto message = BodyError(statement, body)) {
    GrammarError error = MakeGrammarError(Reason::kSqlSyntaxError, *message);
    error.from_postgres = true;
    return error;
  }
  RowVariables rows;
  const auto compile = [&] {
    return RunGuarded(memory_context, Reason::kSqlSyntaxError,
                      [&] { function = Compile(statement, body.source); });
  };
  const auto is_syntax_error = [](const std::optional<GrammarError>& error) {
    return error && error->reason == Reason::kSqlSyntaxError;
  };
  // As the library takes it, if it does; then with rows.
  auto error = compile();
  if (is_syntax_error(error) && rows.Learn()) {
    auto error_with_rows = compile();
    while ((!error_with_rows || is_syntax_error(error_with_rows)) && rows.Learn()) {
      error_with_rows = compile();
    }
    // Of two syntax errors the library's own counts.
    if (!is_syntax_error(error_with_rows)) error = std::move(error_with_rows);
  }
  if (error) return *std::move(error);
  return function;
}

}  // namespace pgparsed::grammar
