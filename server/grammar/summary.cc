#include "grammar/summary.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

#include "grammar/expression_children.h"
#include "grammar/node_walk.h"
#include "grammar/truncate.h"
#include "grammar/wire.h"

// Last: its macros would break other headers.
#include "grammar/guarded.h"

extern "C" {
#include "utils/builtins.h"
}

namespace pgparsed::grammar {
namespace {

// The values of pgparsed.v1.TableContext.
enum class Context : uint64_t { kNone = 0, kSelect = 1, kDml = 2, kDdl = 3, kCall = 4 };

// Equal entries folded into one with a count, in the order of their first appearance.
class Folded {
 public:
  using Key = std::tuple<std::string_view, std::string_view, std::string_view, Context>;

  void Add(const Key& key) {
    const auto [found, is_new] = index_.emplace(key, entries_.size());
    if (is_new) entries_.push_back({key, 0});
    ++entries_[found->second].count;
  }

  struct Counted {
    Key key;
    uint64_t count;
  };
  const std::vector<Counted>& entries() const { return entries_; }

 private:
  std::map<Key, size_t> index_;
  std::vector<Counted> entries_;
};

// Tables and functions: schema = 1, name = 2, context = 3, count = 4.
void WriteNamed(uint32_t field, const Folded& folded, WireWriter& summary) {
  for (const auto& [key, count] : folded.entries()) {
    WireWriter entry;
    entry.Bytes(1, std::get<0>(key));
    entry.Bytes(2, std::get<1>(key));
    entry.Number(3, static_cast<uint64_t>(std::get<3>(key)));
    entry.Number(4, count);
    summary.Element(field, entry.message());
  }
}

// Filter columns: schema = 1, table = 2, column = 3, count = 4.
void WriteFilterColumns(uint32_t field, const Folded& folded, WireWriter& summary) {
  for (const auto& [key, count] : folded.entries()) {
    WireWriter entry;
    entry.Bytes(1, std::get<0>(key));
    entry.Bytes(2, std::get<1>(key));
    entry.Bytes(3, std::get<2>(key));
    entry.Number(4, count);
    summary.Element(field, entry.message());
  }
}

template <typename Struct>
const Struct* As(const void* node) {
  return static_cast<const Struct*>(node);
}

size_t Length(const List* list) { return list != nullptr ? static_cast<size_t>(list->length) : 0; }

const void* At(const List* list, size_t index) { return list->elements[index].ptr_value; }

std::string_view ViewOf(const char* text) {
  return text != nullptr ? std::string_view(text) : std::string_view();
}

// The string at an index; empty if there is something else, as a star.
std::string_view NameAt(const List* names, size_t index) {
  const void* name = At(names, index);
  return name != nullptr && IsA(name, String) ? ViewOf(As<String>(name)->sval) : "";
}

// Finds it all. Texts are views into the tree and into the memory context.
class ObjectFinder {
 public:
  explicit ObjectFinder(void* memory_context)
      : memory_context_(memory_context), children_(memory_context) {}

  // Walks a List of RawStmt, once.
  std::optional<GrammarError> Find(const void* statements) {
    auto error = RunGuarded(memory_context_, Reason::kInternal, [&] {
      FindObjects(statements);
      SettleReferences();
      FindStatementTypes(statements);
    });
    return error ? std::move(error) : children_.error();
  }

  void Write(WireWriter& summary) const {
    WriteNamed(1, tables_, summary);
    for (const auto& [alias, table] : aliases_) {
      WireWriter entry;
      entry.Bytes(1, alias);
      entry.Bytes(2, table);
      summary.Element(2, entry.message());
    }
    for (const std::string_view name : cte_names_) summary.Element(3, name);
    WriteNamed(4, functions_, summary);
    WriteFilterColumns(5, filter_columns_, summary);
    for (const std::string_view type : statement_types_) summary.Element(6, type);
  }

 private:
  struct Reference {
    const char* schema;
    const char* name;
    const char* alias;  // nullptr: none
    Context context;
    bool may_be_cte;
  };

  // The mark of the walk behind a CTE whose name is hidden in it.
  static constexpr uint32_t kHiddenEnd = 1;

  void FindObjects(const void* statements) {
    walk_.Add(statements);
    NodeVisit visit;
    while (walk_.Next(visit)) {
      if (visit.mark == kHiddenEnd) {
        hidden_.erase(hidden_stack_.back());
        hidden_stack_.pop_back();
      } else {
        VisitNode(visit.node);
      }
    }
  }

  void VisitNode(const void* node) {
    AddCteNames(WithClauseOf(node));
    if (IsA(node, SelectStmt)) {
      VisitSelect(As<SelectStmt>(node));
      AddChildren(node, walk_);
    } else {
      Visit(node, walk_);
    }
    if (hiding_.contains(node)) {
      hidden_stack_.push_back(ViewOf(As<CommonTableExpr>(node)->ctename));
      hidden_.insert(hidden_stack_.back());
      walk_.AddMark(kHiddenEnd);
    }
  }

  static const WithClause* WithClauseOf(const void* node) {
    switch (nodeTag(node)) {
      case T_SelectStmt:
        return As<SelectStmt>(node)->withClause;
      case T_InsertStmt:
        return As<InsertStmt>(node)->withClause;
      case T_UpdateStmt:
        return As<UpdateStmt>(node)->withClause;
      case T_DeleteStmt:
        return As<DeleteStmt>(node)->withClause;
      case T_MergeStmt:
        return As<MergeStmt>(node)->withClause;
      default:
        return nullptr;
    }
  }

  void AddCteNames(const WithClause* with) {
    if (with == nullptr) return;
    for (size_t i = 0; i < Length(with->ctes); ++i) {
      const auto* cte = As<CommonTableExpr>(At(with->ctes, i));
      cte_names_.push_back(ViewOf(cte->ctename));
      // Without RECURSIVE a CTE does not see itself. As in the library, it sees all before it.
      if (ctes_.insert(cte_names_.back()).second && !with->recursive) hiding_.insert(cte);
    }
  }

  void AddChildren(const void* node, NodeWalk& walk) {
    for (const void* child : children_.Of(node)) walk.Add(child);
  }

  void VisitSelect(const SelectStmt* select) {
    if (select->op == SETOP_NONE) AddTables(select->fromClause, Context::kSelect);
    if (select->intoClause != nullptr) AddTables(select->intoClause->rel, Context::kDdl);
    if (select->whereClause != nullptr) FindFilterColumns(select->whereClause);
  }

  // The columns up to the first sub-select. As in the library, the functions that are found on the
  // way count once more.
  void FindFilterColumns(const void* filter) {
    filter_walk_ = {};
    filter_walk_.Add(filter);
    NodeVisit visit;
    while (filter_walk_.Next(visit) && !IsA(visit.node, SelectStmt)) {
      if (IsA(visit.node, ColumnRef)) AddFilterColumn(As<ColumnRef>(visit.node)->fields);
      Visit(visit.node, filter_walk_);
    }
  }

  void AddFilterColumn(const List* fields) {
    const size_t count = Length(fields);
    if (count == 0 || !IsA(At(fields, count - 1), String)) return;
    const std::string_view schema = count == 3 ? NameAt(fields, 0) : "";
    const std::string_view table = count == 2 || count == 3 ? NameAt(fields, count - 2) : "";
    filter_columns_.Add({schema, table, NameAt(fields, count - 1), Context::kNone});
  }

  // Adds what a node that is no SELECT names, and the children that are of interest.
  void Visit(const void* node, NodeWalk& walk) {
    switch (nodeTag(node)) {
      case T_RawStmt:
        return walk.Add(As<RawStmt>(node)->stmt);
      case T_FuncCall:
        AddFunction(As<FuncCall>(node)->funcname, Context::kCall);
        break;
      case T_InsertStmt:
        AddTables(As<InsertStmt>(node)->relation, Context::kDml);
        break;
      case T_UpdateStmt:
        AddTables(As<UpdateStmt>(node)->relation, Context::kDml);
        AddTables(As<UpdateStmt>(node)->fromClause, Context::kSelect);
        break;
      case T_DeleteStmt:
        AddTables(As<DeleteStmt>(node)->relation, Context::kDml);
        AddTables(As<DeleteStmt>(node)->usingClause, Context::kSelect);
        break;
      case T_MergeStmt:
        AddTables(As<MergeStmt>(node)->relation, Context::kDml);
        break;
      default:
        if (VisitQueryHolder(node, walk)) return;
        VisitDefinition(node);
    }
    AddChildren(node, walk);
  }

  // Utility statements with expressions or a statement inside. False: none of these.
  bool VisitQueryHolder(const void* node, NodeWalk& walk) {
    switch (nodeTag(node)) {
      case T_CallStmt:
        walk.Add(As<CallStmt>(node)->funccall);
        return true;
      case T_ExplainStmt:
        walk.Add(As<ExplainStmt>(node)->query);
        return true;
      case T_PrepareStmt:
        walk.Add(As<PrepareStmt>(node)->query);
        return true;
      case T_CopyStmt:
        AddTables(As<CopyStmt>(node)->relation, Context::kSelect);
        walk.Add(As<CopyStmt>(node)->query);
        return true;
      case T_CreateTableAsStmt:
        if (const IntoClause* into = As<CreateTableAsStmt>(node)->into; into != nullptr) {
          AddTables(into->rel, Context::kDdl);
        }
        walk.Add(As<CreateTableAsStmt>(node)->query);
        return true;
      case T_ViewStmt:
        AddTables(As<ViewStmt>(node)->view, Context::kDdl);
        walk.Add(As<ViewStmt>(node)->query);
        return true;
      case T_IndexStmt: {
        const auto* index = As<IndexStmt>(node);
        AddTables(index->relation, Context::kDdl);
        for (size_t i = 0; i < Length(index->indexParams); ++i) {
          walk.Add(As<IndexElem>(At(index->indexParams, i))->expr);
        }
        walk.Add(index->whereClause);
        return true;
      }
      default:
        return false;
    }
  }

  // Utility statements that name objects.
  void VisitDefinition(const void* node) {
    switch (nodeTag(node)) {
      case T_AlterTableStmt:
        if (As<AlterTableStmt>(node)->objtype != OBJECT_INDEX) {
          AddTables(As<AlterTableStmt>(node)->relation, Context::kDdl);
        }
        return;
      case T_CreateStmt:
        return AddTables(As<CreateStmt>(node)->relation, Context::kDdl);
      case T_TruncateStmt:
        return AddTables(As<TruncateStmt>(node)->relations, Context::kDdl);
      case T_CreateTrigStmt:
        return AddTables(As<CreateTrigStmt>(node)->relation, Context::kDdl);
      case T_RuleStmt:
        return AddTables(As<RuleStmt>(node)->relation, Context::kDdl);
      case T_RefreshMatViewStmt:
        return AddTables(As<RefreshMatViewStmt>(node)->relation, Context::kDdl);
      case T_LockStmt:
        return AddTables(As<LockStmt>(node)->relations, Context::kDdl);
      case T_VacuumStmt: {
        const List* relations = As<VacuumStmt>(node)->rels;
        for (size_t i = 0; i < Length(relations); ++i) {
          AddTables(As<VacuumRelation>(At(relations, i))->relation, Context::kDdl);
        }
        return;
      }
      case T_CreateFunctionStmt:
        return AddFunction(As<CreateFunctionStmt>(node)->funcname, Context::kDdl);
      case T_DropStmt:
        return VisitDrop(As<DropStmt>(node));
      case T_GrantStmt:
        return VisitGrant(As<GrantStmt>(node));
      case T_RenameStmt:
        return VisitRename(As<RenameStmt>(node));
      default:
        return;
    }
  }

  void VisitDrop(const DropStmt* drop) {
    switch (drop->removeType) {
      case OBJECT_TABLE:
        return AddTableNames(drop->objects, 0);
      case OBJECT_RULE:
      case OBJECT_TRIGGER:
        return AddTableNames(drop->objects, 1);
      case OBJECT_FUNCTION:
        // As the library: the first one only.
        if (Length(drop->objects) > 0) AddRoutine(At(drop->objects, 0));
        return;
      default:
        return;
    }
  }

  // Tables as lists of names, of which the last `others` name something else.
  void AddTableNames(const List* objects, size_t others) {
    for (size_t i = 0; i < Length(objects); ++i) {
      const void* object = At(objects, i);
      if (object == nullptr || !IsA(object, List)) continue;
      const auto* names = As<List>(object);
      if (Length(names) <= others) continue;
      const size_t count = Length(names) - others;
      AddTable(count > 1 ? NameAt(names, count - 2).data() : nullptr,
               NameAt(names, count - 1).data(), nullptr, Context::kDdl);
    }
  }

  void VisitGrant(const GrantStmt* grant) {
    for (size_t i = 0; i < Length(grant->objects); ++i) {
      const void* object = At(grant->objects, i);
      switch (grant->objtype) {
        case OBJECT_TABLE:
          if (IsA(object, RangeVar)) AddTables(object, Context::kDdl);
          break;
        case OBJECT_FUNCTION:
        case OBJECT_PROCEDURE:
        case OBJECT_ROUTINE:
          AddRoutine(object);
          break;
        default:
          break;
      }
    }
  }

  void VisitRename(const RenameStmt* rename) {
    switch (rename->renameType) {
      case OBJECT_TABLE:
        AddTables(rename->relation, Context::kDdl);
        return AddTable(rename->relation->schemaname, rename->newname, nullptr, Context::kDdl);
      case OBJECT_FUNCTION:
      case OBJECT_PROCEDURE:
      case OBJECT_ROUTINE:
        AddRoutine(rename->object);
        functions_.Add({"", ViewOf(rename->newname), "", Context::kDdl});
        return;
      default:
        return;
    }
  }

  void AddRoutine(const void* object) {
    if (object == nullptr || !IsA(object, ObjectWithArgs)) return;
    AddFunction(As<ObjectWithArgs>(object)->objname, Context::kDdl);
  }

  void AddFunction(const List* names, Context context) {
    const size_t count = Length(names);
    if (count == 0) return;
    const std::string_view schema = count == 2 || count == 3 ? NameAt(names, count - 2) : "";
    functions_.Add({schema, NameAt(names, count - 1), "", context});
  }

  // The tables of a FROM clause, or of one of its items.
  void AddTables(const void* from, Context context) {
    from_items_.assign(1, from);
    while (!from_items_.empty()) {
      const void* item = from_items_.back();
      from_items_.pop_back();
      if (item == nullptr) continue;
      switch (nodeTag(item)) {
        case T_List:
          for (size_t i = Length(As<List>(item)); i > 0; --i) {
            from_items_.push_back(At(As<List>(item), i - 1));
          }
          break;
        case T_JoinExpr:
          from_items_.push_back(As<JoinExpr>(item)->rarg);
          from_items_.push_back(As<JoinExpr>(item)->larg);
          break;
        case T_RangeTableSample:
          from_items_.push_back(As<RangeTableSample>(item)->relation);
          break;
        case T_RangeVar: {
          const auto* table = As<RangeVar>(item);
          AddTable(table->schemaname, table->relname,
                   table->alias != nullptr ? table->alias->aliasname : nullptr, context);
          break;
        }
        default:  // sub-selects and functions: the walk comes to them
          break;
      }
    }
  }

  void AddTable(const char* schema, const char* name, const char* alias, Context context) {
    const bool may_be_cte =
        context == Context::kSelect && schema == nullptr && !hidden_.contains(ViewOf(name));
    references_.push_back({schema, name, alias, context, may_be_cte});
  }

  // A CTE may be defined behind its uses, and as in the library its name is no table anywhere else.
  void SettleReferences() {
    for (const Reference& reference : references_) {
      const std::string_view name = ViewOf(reference.name);
      if (!reference.may_be_cte || !ctes_.contains(name)) {
        tables_.Add({ViewOf(reference.schema), name, "", reference.context});
      }
      if (reference.alias != nullptr) aliases_[reference.alias] = QuotedName(reference);
    }
  }

  std::string_view QuotedName(const Reference& reference) {
    StringInfoData name;
    initStringInfo(&name);
    if (reference.schema != nullptr) {
      appendStringInfoString(&name, quote_identifier(reference.schema));
      appendStringInfoChar(&name, '.');
    }
    appendStringInfoString(&name, quote_identifier(reference.name));
    return {name.data, static_cast<size_t>(name.len)};
  }

  // The kinds of the statements, and of those inside that the library looks at.
  void FindStatementTypes(const void* statements) {
    walk_.Add(statements);
    NodeVisit visit;
    while (walk_.Next(visit)) {
      const void* query = nullptr;
      switch (nodeTag(visit.node)) {
        case T_RawStmt:
          walk_.Add(As<RawStmt>(visit.node)->stmt);
          continue;
        case T_ReturnStmt:
        case T_PLAssignStmt:
        case T_AlterDatabaseRefreshCollStmt:
          AddChildren(visit.node, walk_);
          continue;
        case T_CreateTableAsStmt:
          query = As<CreateTableAsStmt>(visit.node)->query;
          break;
        case T_ExplainStmt:
          query = As<ExplainStmt>(visit.node)->query;
          break;
        case T_PrepareStmt:
          query = As<PrepareStmt>(visit.node)->query;
          break;
        case T_ViewStmt:
          query = As<ViewStmt>(visit.node)->query;
          break;
        default:
          break;
      }
      if (visit.row != nullptr && visit.row->name.ends_with("Stmt")) {
        AddStatementType(visit.row->name);
      }
      walk_.Add(query);
      AddChildren(visit.node, walk_);
    }
  }

  void AddStatementType(std::string_view name) {
    if (std::find(statement_types_.begin(), statement_types_.end(), name) ==
        statement_types_.end()) {
      statement_types_.push_back(name);
    }
  }

  void* const memory_context_;
  ExpressionChildren children_;
  NodeWalk walk_;
  NodeWalk filter_walk_;
  std::vector<const void*> from_items_;
  std::vector<Reference> references_;
  std::unordered_set<std::string_view> ctes_;
  std::unordered_set<const void*> hiding_;  // CTEs in whose queries their names mean tables
  // The names of those in which the walk is.
  std::unordered_set<std::string_view> hidden_;
  std::vector<std::string_view> hidden_stack_;
  Folded tables_;
  // Sorted; of several tables with one alias, the last counts.
  std::map<std::string_view, std::string_view> aliases_;
  std::vector<std::string_view> cte_names_;
  Folded functions_;
  Folded filter_columns_;
  std::vector<std::string_view> statement_types_;
};

}  // namespace

Result<std::string> SummarizeStatements(void* memory_context, void* statements,
                                        uint32_t truncate_limit) {
  ObjectFinder finder(memory_context);
  if (auto error = finder.Find(statements)) return *std::move(error);
  WireWriter summary;
  finder.Write(summary);
  if (truncate_limit > 0) {
    const auto text = TruncateStatements(memory_context, statements, truncate_limit);
    if (!text.ok()) return text.error();
    summary.Bytes(7, text.value());
  }
  return summary.message();
}

}  // namespace pgparsed::grammar
