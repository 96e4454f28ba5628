#include <cstring>
#include <string_view>
#include <utility>

// Last: its macros would break other headers.
#include "grammar/plpgsql_types.h"

namespace pgparsed::grammar {
namespace {

thread_local RowVariables* row_variables = nullptr;

#if PGPARSED_GRAMMAR < 18

// Whether a declaration says `name`: as PostgreSQL folds it, with the space that may stand behind.
bool Names(const char* type, std::string_view name) {
  if (type == nullptr) return false;
  constexpr std::string_view kSchema = "pg_catalog.";
  if (strncasecmp(type, kSchema.data(), kSchema.size()) == 0) type += kSchema.size();
  if (strncasecmp(type, name.data(), name.size()) != 0) return false;
  type += name.size();
  return type[std::strspn(type, " \t\n\r\f\v")] == '\0';
}

#endif

// Whether the variable in first.field, or in first.second.field, has become a row. In expressions
// unknown names are no error.
bool IsNewRow(const char* first, const char* second) {
  if (row_variables == nullptr || plpgsql_IdentifierLookup != IDENTIFIER_LOOKUP_NORMAL) {
    return false;
  }
  PLpgSQL_nsitem* item =
      plpgsql_ns_lookup(plpgsql_ns_top(), false, first, second, nullptr, nullptr);
  // variable.field.field: no label.
  if (item == nullptr && second != nullptr) {
    item = plpgsql_ns_lookup(plpgsql_ns_top(), false, first, nullptr, nullptr, nullptr);
  }
  return item != nullptr && item->itemtype == PLPGSQL_NSTYPE_VAR &&
         row_variables->NoteFieldOf(item);
}

}  // namespace

RowVariables::RowVariables() { row_variables = this; }

RowVariables::~RowVariables() { row_variables = nullptr; }

bool RowVariables::Contains(const RowVariable* list, const char* name, int line) {
  for (; list != nullptr; list = list->next) {
    if (list->line == line && std::strcmp(list->name, name) == 0) return true;
  }
  return false;
}

bool RowVariables::Learn() {
  go_on_ = true;
  bool any = false;
  while (met_ != nullptr) {
    RowVariable* variable = std::exchange(met_, met_->next);
    if (Contains(rows_, variable->name, variable->line)) continue;
    variable->next = rows_;
    rows_ = variable;
    any = true;
  }
  return any;
}

bool RowVariables::NoteFieldOf(PLpgSQL_nsitem* item) {
  PLpgSQL_datum*& datum = plpgsql_Datums[item->itemno];
  if (datum->dtype == PLPGSQL_DTYPE_VAR) {
    const auto* var = reinterpret_cast<const PLpgSQL_var*>(datum);
    if (var->datatype->typoid != InvalidOid) return false;
    if (!Contains(met_, var->refname, var->lineno)) {
      auto* variable = static_cast<RowVariable*>(palloc(sizeof(RowVariable)));
      *variable = {.name = var->refname, .line = var->lineno, .next = met_};
      met_ = variable;
    }
    if (!go_on_) return false;
    auto* row = static_cast<PLpgSQL_rec*>(palloc0(sizeof(PLpgSQL_rec)));
    row->dtype = PLPGSQL_DTYPE_REC;
    row->dno = var->dno;
    row->refname = var->refname;
    row->lineno = var->lineno;
    row->datatype = var->datatype;
    row->rectypeid = RECORDOID;
    row->firstfield = -1;
    datum = reinterpret_cast<PLpgSQL_datum*>(row);
  }
  // A variable has several names ($1, aliases): the others learn of it here.
  if (datum->dtype != PLPGSQL_DTYPE_REC) return false;
  item->itemtype = PLPGSQL_NSTYPE_REC;
  return true;
}

void RowVariables::Decide(const char* name, int line, PLpgSQL_type* type) const {
  if (type->typoid != InvalidOid || !Contains(rows_, name, line)) return;
  type->ttype = PLPGSQL_TTYPE_REC;
  type->typoid = RECORDOID;
}

}  // namespace pgparsed::grammar

// The linker's names: callers of f in other object files reach __wrap_f, and __real_f is the
// library's f.
extern "C" {

PLpgSQL_variable* __real_plpgsql_build_variable(const char* refname, int lineno,
                                                PLpgSQL_type* dtype, bool add2namespace);

PLpgSQL_variable* __wrap_plpgsql_build_variable(const char* refname, int lineno,
                                                PLpgSQL_type* dtype, bool add2namespace) {
#if PGPARSED_GRAMMAR < 18
  if (pgparsed::grammar::Names(dtype->typname, "refcursor")) dtype->typoid = REFCURSOROID;
  // The library of 17 takes each beginning of "text" for it.
  if (dtype->typoid == TEXTOID && !pgparsed::grammar::Names(dtype->typname, "text")) {
    dtype->typoid = InvalidOid;
  }
#endif
  if (pgparsed::grammar::row_variables != nullptr) {
    pgparsed::grammar::row_variables->Decide(refname, lineno, dtype);
  }
  return __real_plpgsql_build_variable(refname, lineno, dtype, add2namespace);
}

bool __real_plpgsql_parse_dblword(char* word1, char* word2, PLwdatum* wdatum, PLcword* cword);

bool __wrap_plpgsql_parse_dblword(char* word1, char* word2, PLwdatum* wdatum, PLcword* cword) {
  if (__real_plpgsql_parse_dblword(word1, word2, wdatum, cword)) return true;
  return pgparsed::grammar::IsNewRow(word1, nullptr) &&
         __real_plpgsql_parse_dblword(word1, word2, wdatum, cword);
}

bool __real_plpgsql_parse_tripword(char* word1, char* word2, char* word3, PLwdatum* wdatum,
                                   PLcword* cword);

bool __wrap_plpgsql_parse_tripword(char* word1, char* word2, char* word3, PLwdatum* wdatum,
                                   PLcword* cword) {
  if (__real_plpgsql_parse_tripword(word1, word2, word3, wdatum, cword)) return true;
  return pgparsed::grammar::IsNewRow(word1, word2) &&
         __real_plpgsql_parse_tripword(word1, word2, word3, wdatum, cword);
}

#if PGPARSED_GRAMMAR < 17

PLpgSQL_type* __real_plpgsql_build_datatype(Oid typeOid, int32 typmod, Oid collation,
                                            TypeName* origtypname);

PLpgSQL_type* __wrap_plpgsql_build_datatype(Oid typeOid, int32 typmod, Oid collation,
                                            TypeName* origtypname) {
  PLpgSQL_type* type = __real_plpgsql_build_datatype(typeOid, typmod, collation, origtypname);
  // For cursors, which are declared without a type's name.
  if (typeOid == REFCURSOROID) type->typoid = REFCURSOROID;
  return type;
}

#endif

#if PGPARSED_GRAMMAR >= 18

// Called for qualified types. What is not in pg_catalog counts as a row.
Oid __wrap_LookupExplicitNamespace(const char* nspname, bool missing_ok);

Oid __wrap_LookupExplicitNamespace(const char* nspname, bool missing_ok) {
  (void)missing_ok;
  return std::strcmp(nspname, "pg_catalog") == 0 ? PG_CATALOG_NAMESPACE : PG_PUBLIC_NAMESPACE;
}

// Called for VARIADIC arguments. The library's types have no element types.
Oid __wrap_get_element_type(Oid typid);

Oid __wrap_get_element_type(Oid typid) {
  if (typid == RECORDARRAYOID) return RECORDOID;
  if (typid == UNKNOWNOID) return UNKNOWNOID;  // %TYPE, which may be an array
  HeapTuple tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(typid));
  const auto* type = reinterpret_cast<const FormData_pg_type*>(GETSTRUCT(tuple));
  // The name is all that tells an array there (makeArrayTypeName), and whether it is one is all
  // that the caller asks.
  const bool is_array = type->typlen == -1 && NameStr(type->typname)[0] == '_';
  return is_array ? UNKNOWNOID : InvalidOid;
}

PLpgSQL_type* __real_plpgsql_build_datatype(Oid typeOid, int32 typmod, Oid collation,
                                            TypeName* origtypname);

PLpgSQL_type* __wrap_plpgsql_build_datatype(Oid typeOid, int32 typmod, Oid collation,
                                            TypeName* origtypname) {
  PLpgSQL_type* type = __real_plpgsql_build_datatype(typeOid, typmod, collation, origtypname);
  if (typeOid == RECORDARRAYOID && origtypname != nullptr) {
    type->ttype = PLPGSQL_TTYPE_SCALAR;
    type->typisarray = true;
    // As PostgreSQL names array types.
    type->typname = psprintf("_%s", strVal(llast(origtypname->names)));
    truncate_identifier(type->typname, static_cast<int>(std::strlen(type->typname)), false);
  }
  return type;
}

PLpgSQL_type* __real_plpgsql_build_datatype_arrayof(PLpgSQL_type* dtype);

PLpgSQL_type* __wrap_plpgsql_build_datatype_arrayof(PLpgSQL_type* dtype) {
  if (dtype->typoid != InvalidOid) return __real_plpgsql_build_datatype_arrayof(dtype);
  auto* type = static_cast<PLpgSQL_type*>(palloc0(sizeof(PLpgSQL_type)));
  type->typname = psprintf("%s[]", dtype->typname);
  type->ttype = PLPGSQL_TTYPE_SCALAR;
  type->typlen = -1;
  type->typtype = TYPTYPE_BASE;
  type->typisarray = true;
  type->atttypmod = -1;
  return type;
}

// Called for "#option dump": it would print the function where the process writes its log.
void __wrap_plpgsql_dumptree(PLpgSQL_function* function);

void __wrap_plpgsql_dumptree(PLpgSQL_function* function) { (void)function; }

#endif

}  // extern "C"
