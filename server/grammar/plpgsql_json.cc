#include <string_view>
#include <utility>

#include "grammar/walk_guard.h"

// Last: its macros would break other headers.
#include "grammar/plpgsql_json.h"

namespace pgparsed::grammar {
namespace {

// Everything that has ended is followed by a comma, which the next bracket takes back. Fields that
// are zero or NULL are left out, enums are not.
class Writer {
 public:
  Result<std::string> Write(const PLpgSQL_function& function) {
    Function(function);
    TakeCommaBack();
    if (auto error = guard_.error()) return *std::move(error);
    if (unknown_ != nullptr) {
      return MakeGrammarError(Reason::kInternal, "the compiler made a " + std::string(unknown_) +
                                                     " that this build does not know");
    }
    return std::move(out_);
  }

 private:
  // ---- pieces ----

  void TakeCommaBack() {
    if (!out_.empty() && out_.back() == ',') out_.pop_back();
  }

  void Key(std::string_view key) {
    out_ += '"';
    out_ += key;
    out_ += "\":";
  }

  void Quoted(const char* text) {
    constexpr char kHex[] = "0123456789abcdef";
    out_ += '"';
    for (; *text != '\0'; ++text) {
      const char c = *text;
      switch (c) {
        case '\b':
          out_ += "\\b";
          break;
        case '\f':
          out_ += "\\f";
          break;
        case '\n':
          out_ += "\\n";
          break;
        case '\r':
          out_ += "\\r";
          break;
        case '\t':
          out_ += "\\t";
          break;
        case '"':
          out_ += "\\\"";
          break;
        case '\\':
          out_ += "\\\\";
          break;
        default:
          // The library escapes angle brackets too.
          if (static_cast<unsigned char>(c) < 0x20 || c == '<' || c == '>') {
            out_ += "\\u00";
            out_ += kHex[c >> 4];
            out_ += kHex[c & 15];
          } else {
            out_ += c;
          }
      }
    }
    out_ += '"';
  }

  void Enum(std::string_view key, long value) {
    Key(key);
    out_ += std::to_string(value);
    out_ += ',';
  }

  void Number(std::string_view key, long value) {
    if (value != 0) Enum(key, value);
  }

  void Bool(std::string_view key, bool value) {
    if (!value) return;
    Key(key);
    out_ += "true,";
  }

  void Text(std::string_view key, const char* value) {
    if (value == nullptr) return;
    Key(key);
    Quoted(value);
    out_ += ',';
  }

  // {"type":{fields}}
  template <typename Fields>
  void Node(std::string_view type, Fields fields) {
    out_ += '{';
    Key(type);
    out_ += '{';
    fields();
    TakeCommaBack();
    out_ += "}},";
  }

  template <typename T>
  void Child(std::string_view key, const T* child, void (Writer::*write)(const T&)) {
    if (child == nullptr) return;
    Key(key);
    (this->*write)(*child);
  }

  template <typename Elements>
  void Array(std::string_view key, Elements elements) {
    Key(key);
    out_ += '[';
    elements();
    TakeCommaBack();
    out_ += "],";
  }

  template <typename T>
  void Children(std::string_view key, const List* list, void (Writer::*write)(const T&)) {
    if (list == NIL) return;
    Array(key, [&] {
      const ListCell* cell;
      foreach (cell, list) (this->*write)(*static_cast<const T*>(lfirst(cell)));
    });
  }

  void Expression(std::string_view key, const PLpgSQL_expr* expression) {
    Child(key, expression, &Writer::Expr);
  }
  void Expressions(std::string_view key, const List* list) { Children(key, list, &Writer::Expr); }
  void Body(std::string_view key, const List* list) { Children(key, list, &Writer::Statement); }

  // ---- the function and its data ----

  void Function(const PLpgSQL_function& function) {
    Node("PLpgSQL_function", [&] {
      Number("new_varno", function.new_varno);
      Number("old_varno", function.old_varno);
      Array("datums", [&] {
        for (int i = 0; i < function.ndatums; ++i) Datum(*function.datums[i]);
      });
      Child("action", function.action, &Writer::Block);
    });
  }

  void Datum(const PLpgSQL_datum& datum) {
    if (datum.dtype == PLPGSQL_DTYPE_RECFIELD) {
      const auto& field = reinterpret_cast<const PLpgSQL_recfield&>(datum);
      Node("PLpgSQL_recfield", [&] {
        Text("fieldname", field.fieldname);
        Number("recparentno", field.recparentno);
      });
    } else {
      Variable(reinterpret_cast<const PLpgSQL_variable&>(datum));
    }
  }

  void Variable(const PLpgSQL_variable& variable) {
    switch (variable.dtype) {
      case PLPGSQL_DTYPE_VAR:
      case PLPGSQL_DTYPE_PROMISE:
        return Var(reinterpret_cast<const PLpgSQL_var&>(variable));
      case PLPGSQL_DTYPE_ROW:
        return Row(reinterpret_cast<const PLpgSQL_row&>(variable));
      case PLPGSQL_DTYPE_REC:
        return Node("PLpgSQL_rec", [&] {
          Text("refname", variable.refname);
          Number("dno", variable.dno);
          Number("lineno", variable.lineno);
        });
      default:
        unknown_ = "variable";
    }
  }

  void Var(const PLpgSQL_var& var) {
    Node("PLpgSQL_var", [&] {
      Text("refname", var.refname);
      Number("lineno", var.lineno);
      Child("datatype", var.datatype, &Writer::Type);
      Bool("isconst", var.isconst);
      Bool("notnull", var.notnull);
      Expression("default_val", var.default_val);
      Expression("cursor_explicit_expr", var.cursor_explicit_expr);
      Number("cursor_explicit_argrow", var.cursor_explicit_argrow);
      Number("cursor_options", var.cursor_options);
    });
  }

  void Type(const PLpgSQL_type& type) {
    Node("PLpgSQL_type", [&] { Text("typname", type.typname); });
  }

  void Row(const PLpgSQL_row& row) {
    Node("PLpgSQL_row", [&] {
      Text("refname", row.refname);
      Number("lineno", row.lineno);
      Array("fields", [&] {
        for (int i = 0; i < row.nfields; ++i) {
          if (row.fieldnames[i] == nullptr) {
            out_ += "null,";
            continue;
          }
          out_ += '{';
          Text("name", row.fieldnames[i]);
          Number("varno", row.varnos[i]);
          TakeCommaBack();
          out_ += "},";
        }
      });
    });
  }

  void Expr(const PLpgSQL_expr& expression) {
    Node("PLpgSQL_expr", [&] {
      Text("query", expression.query);
#if PGPARSED_GRAMMAR >= 17
      Enum("parseMode", expression.parseMode);
#endif
    });
  }

  // ---- statements ----

  void Statement(const PLpgSQL_stmt& statement) {
    if (guard_.TooDeep()) return;
    switch (statement.cmd_type) {
      case PLPGSQL_STMT_BLOCK:
        return Block(As<PLpgSQL_stmt_block>(statement));
      case PLPGSQL_STMT_ASSIGN:
        return Assign(As<PLpgSQL_stmt_assign>(statement));
      case PLPGSQL_STMT_IF:
        return If(As<PLpgSQL_stmt_if>(statement));
      case PLPGSQL_STMT_CASE:
        return Case(As<PLpgSQL_stmt_case>(statement));
      case PLPGSQL_STMT_LOOP:
        return Loop(As<PLpgSQL_stmt_loop>(statement));
      case PLPGSQL_STMT_WHILE:
        return While(As<PLpgSQL_stmt_while>(statement));
      case PLPGSQL_STMT_FORI:
        return ForInteger(As<PLpgSQL_stmt_fori>(statement));
      case PLPGSQL_STMT_FORS:
        return ForQuery(As<PLpgSQL_stmt_fors>(statement));
      case PLPGSQL_STMT_FORC:
        return ForCursor(As<PLpgSQL_stmt_forc>(statement));
      case PLPGSQL_STMT_DYNFORS:
        return ForExecute(As<PLpgSQL_stmt_dynfors>(statement));
      case PLPGSQL_STMT_FOREACH_A:
        return ForEach(As<PLpgSQL_stmt_foreach_a>(statement));
      case PLPGSQL_STMT_EXIT:
        return Exit(As<PLpgSQL_stmt_exit>(statement));
      case PLPGSQL_STMT_RETURN:
        return Return("PLpgSQL_stmt_return", As<PLpgSQL_stmt_return>(statement));
      case PLPGSQL_STMT_RETURN_NEXT:
        return Return("PLpgSQL_stmt_return_next", As<PLpgSQL_stmt_return_next>(statement));
      case PLPGSQL_STMT_RETURN_QUERY:
        return ReturnQuery(As<PLpgSQL_stmt_return_query>(statement));
      case PLPGSQL_STMT_RAISE:
        return Raise(As<PLpgSQL_stmt_raise>(statement));
      case PLPGSQL_STMT_ASSERT:
        return AssertThat(As<PLpgSQL_stmt_assert>(statement));
      case PLPGSQL_STMT_EXECSQL:
        return ExecuteSql(As<PLpgSQL_stmt_execsql>(statement));
      case PLPGSQL_STMT_DYNEXECUTE:
        return Execute(As<PLpgSQL_stmt_dynexecute>(statement));
      case PLPGSQL_STMT_GETDIAG:
        return GetDiagnostics(As<PLpgSQL_stmt_getdiag>(statement));
      case PLPGSQL_STMT_OPEN:
        return Open(As<PLpgSQL_stmt_open>(statement));
      case PLPGSQL_STMT_FETCH:
        return Fetch(As<PLpgSQL_stmt_fetch>(statement));
      case PLPGSQL_STMT_CLOSE:
        return Close(As<PLpgSQL_stmt_close>(statement));
      case PLPGSQL_STMT_PERFORM:
        return Perform(As<PLpgSQL_stmt_perform>(statement));
      case PLPGSQL_STMT_CALL:
        return Call(As<PLpgSQL_stmt_call>(statement));
      case PLPGSQL_STMT_COMMIT:
        return EndTransaction("PLpgSQL_stmt_commit", As<PLpgSQL_stmt_commit>(statement));
      case PLPGSQL_STMT_ROLLBACK:
        return EndTransaction("PLpgSQL_stmt_rollback", As<PLpgSQL_stmt_rollback>(statement));
    }
    unknown_ = "statement";
  }

  template <typename T>
  static const T& As(const PLpgSQL_stmt& statement) {
    return reinterpret_cast<const T&>(statement);
  }

  void Block(const PLpgSQL_stmt_block& block) {
    Node("PLpgSQL_stmt_block", [&] {
      Number("lineno", block.lineno);
      Text("label", block.label);
      Body("body", block.body);
      Child("exceptions", block.exceptions, &Writer::ExceptionBlock);
    });
  }

  void ExceptionBlock(const PLpgSQL_exception_block& block) {
    Node("PLpgSQL_exception_block",
         [&] { Children("exc_list", block.exc_list, &Writer::Exception); });
  }

  void Exception(const PLpgSQL_exception& exception) {
    Node("PLpgSQL_exception", [&] {
      Array("conditions", [&] {
        for (const PLpgSQL_condition* condition = exception.conditions; condition != nullptr;
             condition = condition->next) {
          Node("PLpgSQL_condition", [&] { Text("condname", condition->condname); });
        }
      });
      Body("action", exception.action);
    });
  }

  void Assign(const PLpgSQL_stmt_assign& statement) {
    Node("PLpgSQL_stmt_assign", [&] {
      Number("lineno", statement.lineno);
      Number("varno", statement.varno);
      Expression("expr", statement.expr);
    });
  }

  void If(const PLpgSQL_stmt_if& statement) {
    Node("PLpgSQL_stmt_if", [&] {
      Number("lineno", statement.lineno);
      Expression("cond", statement.cond);
      Body("then_body", statement.then_body);
      Children("elsif_list", statement.elsif_list, &Writer::ElsIf);
      Body("else_body", statement.else_body);
    });
  }

  void ElsIf(const PLpgSQL_if_elsif& branch) {
    Node("PLpgSQL_if_elsif", [&] {
      Number("lineno", branch.lineno);
      Expression("cond", branch.cond);
      Body("stmts", branch.stmts);
    });
  }

  void Case(const PLpgSQL_stmt_case& statement) {
    Node("PLpgSQL_stmt_case", [&] {
      Number("lineno", statement.lineno);
      Expression("t_expr", statement.t_expr);
      Number("t_varno", statement.t_varno);
      Children("case_when_list", statement.case_when_list, &Writer::When);
      Bool("have_else", statement.have_else);
      Body("else_stmts", statement.else_stmts);
    });
  }

  void When(const PLpgSQL_case_when& branch) {
    Node("PLpgSQL_case_when", [&] {
      Number("lineno", branch.lineno);
      Expression("expr", branch.expr);
      Body("stmts", branch.stmts);
    });
  }

  void Loop(const PLpgSQL_stmt_loop& statement) {
    Node("PLpgSQL_stmt_loop", [&] {
      Number("lineno", statement.lineno);
      Text("label", statement.label);
      Body("body", statement.body);
    });
  }

  void While(const PLpgSQL_stmt_while& statement) {
    Node("PLpgSQL_stmt_while", [&] {
      Number("lineno", statement.lineno);
      Text("label", statement.label);
      Expression("cond", statement.cond);
      Body("body", statement.body);
    });
  }

  void ForInteger(const PLpgSQL_stmt_fori& statement) {
    Node("PLpgSQL_stmt_fori", [&] {
      Number("lineno", statement.lineno);
      Text("label", statement.label);
      Child("var", statement.var, &Writer::Var);
      Expression("lower", statement.lower);
      Expression("upper", statement.upper);
      Expression("step", statement.step);
      Bool("reverse", statement.reverse != 0);
      Body("body", statement.body);
    });
  }

  void ForQuery(const PLpgSQL_stmt_fors& statement) {
    Node("PLpgSQL_stmt_fors", [&] {
      Number("lineno", statement.lineno);
      Text("label", statement.label);
      Child("var", statement.var, &Writer::Variable);
      Body("body", statement.body);
      Expression("query", statement.query);
    });
  }

  void ForCursor(const PLpgSQL_stmt_forc& statement) {
    Node("PLpgSQL_stmt_forc", [&] {
      Number("lineno", statement.lineno);
      Text("label", statement.label);
      Child("var", statement.var, &Writer::Variable);
      Body("body", statement.body);
      Number("curvar", statement.curvar);
      Expression("argquery", statement.argquery);
    });
  }

  void ForExecute(const PLpgSQL_stmt_dynfors& statement) {
    Node("PLpgSQL_stmt_dynfors", [&] {
      Number("lineno", statement.lineno);
      Text("label", statement.label);
      Child("var", statement.var, &Writer::Variable);
      Body("body", statement.body);
      Expression("query", statement.query);
      Expressions("params", statement.params);
    });
  }

  void ForEach(const PLpgSQL_stmt_foreach_a& statement) {
    Node("PLpgSQL_stmt_foreach_a", [&] {
      Number("lineno", statement.lineno);
      Text("label", statement.label);
      Number("varno", statement.varno);
      Number("slice", statement.slice);
      Expression("expr", statement.expr);
      Body("body", statement.body);
    });
  }

  void Exit(const PLpgSQL_stmt_exit& statement) {
    Node("PLpgSQL_stmt_exit", [&] {
      Number("lineno", statement.lineno);
      Bool("is_exit", statement.is_exit);
      Text("label", statement.label);
      Expression("cond", statement.cond);
    });
  }

  template <typename T>
  void Return(std::string_view type, const T& statement) {
    Node(type, [&] {
      Number("lineno", statement.lineno);
      Expression("expr", statement.expr);
    });
  }

  void ReturnQuery(const PLpgSQL_stmt_return_query& statement) {
    Node("PLpgSQL_stmt_return_query", [&] {
      Number("lineno", statement.lineno);
      Expression("query", statement.query);
      Expression("dynquery", statement.dynquery);
      Expressions("params", statement.params);
    });
  }

  void Raise(const PLpgSQL_stmt_raise& statement) {
    Node("PLpgSQL_stmt_raise", [&] {
      Number("lineno", statement.lineno);
      Number("elog_level", statement.elog_level);
      Text("condname", statement.condname);
      Text("message", statement.message);
      Expressions("params", statement.params);
      Children("options", statement.options, &Writer::RaiseOption);
    });
  }

  void RaiseOption(const PLpgSQL_raise_option& option) {
    Node("PLpgSQL_raise_option", [&] {
      Enum("opt_type", option.opt_type);
      Expression("expr", option.expr);
    });
  }

  void AssertThat(const PLpgSQL_stmt_assert& statement) {
    Node("PLpgSQL_stmt_assert", [&] {
      Number("lineno", statement.lineno);
      Expression("cond", statement.cond);
      Expression("message", statement.message);
    });
  }

  void ExecuteSql(const PLpgSQL_stmt_execsql& statement) {
    Node("PLpgSQL_stmt_execsql", [&] {
      Number("lineno", statement.lineno);
      Expression("sqlstmt", statement.sqlstmt);
      Bool("into", statement.into);
      Bool("strict", statement.strict);
      Child("target", statement.target, &Writer::Variable);
    });
  }

  void Execute(const PLpgSQL_stmt_dynexecute& statement) {
    Node("PLpgSQL_stmt_dynexecute", [&] {
      Number("lineno", statement.lineno);
      Expression("query", statement.query);
      Bool("into", statement.into);
      Bool("strict", statement.strict);
      Child("target", statement.target, &Writer::Variable);
      Expressions("params", statement.params);
    });
  }

  void GetDiagnostics(const PLpgSQL_stmt_getdiag& statement) {
    Node("PLpgSQL_stmt_getdiag", [&] {
      Number("lineno", statement.lineno);
      Bool("is_stacked", statement.is_stacked);
      Children("diag_items", statement.diag_items, &Writer::DiagnosticsItem);
    });
  }

  void DiagnosticsItem(const PLpgSQL_diag_item& item) {
    Node("PLpgSQL_diag_item", [&] {
      Text("kind", plpgsql_getdiag_kindname(item.kind));
      Number("target", item.target);
    });
  }

  void Open(const PLpgSQL_stmt_open& statement) {
    Node("PLpgSQL_stmt_open", [&] {
      Number("lineno", statement.lineno);
      Number("curvar", statement.curvar);
      Number("cursor_options", statement.cursor_options);
      Expression("argquery", statement.argquery);
      Expression("query", statement.query);
      Expression("dynquery", statement.dynquery);
      Expressions("params", statement.params);
    });
  }

  void Fetch(const PLpgSQL_stmt_fetch& statement) {
    Node("PLpgSQL_stmt_fetch", [&] {
      Number("lineno", statement.lineno);
      Child("target", statement.target, &Writer::Variable);
      Number("curvar", statement.curvar);
      Enum("direction", statement.direction);
      Number("how_many", statement.how_many);
      Expression("expr", statement.expr);
      Bool("is_move", statement.is_move);
      Bool("returns_multiple_rows", statement.returns_multiple_rows);
    });
  }

  void Close(const PLpgSQL_stmt_close& statement) {
    Node("PLpgSQL_stmt_close", [&] {
      Number("lineno", statement.lineno);
      Number("curvar", statement.curvar);
    });
  }

  void Perform(const PLpgSQL_stmt_perform& statement) {
    Node("PLpgSQL_stmt_perform", [&] {
      Number("lineno", statement.lineno);
      Expression("expr", statement.expr);
    });
  }

  void Call(const PLpgSQL_stmt_call& statement) {
    Node("PLpgSQL_stmt_call", [&] {
      Number("lineno", statement.lineno);
      Expression("expr", statement.expr);
      Bool("is_call", statement.is_call);
      Child("target", statement.target, &Writer::Variable);
    });
  }

  template <typename T>
  void EndTransaction(std::string_view type, const T& statement) {
    Node(type, [&] {
      Number("lineno", statement.lineno);
      Bool("chain", statement.chain);
    });
  }

  std::string out_;
  WalkGuard guard_;
  const char* unknown_ = nullptr;
};

}  // namespace

Result<std::string> WritePlpgsqlJson(const PLpgSQL_function& function) {
  return Writer().Write(function);
}

}  // namespace pgparsed::grammar
