#include "grammar/plpgsql.h"

#include <cstring>
#include <string>

#include "grammar/json_check.h"
#include "grammar/parsed_query.h"

// Last: their macros would break other headers.
#include "grammar/plpgsql_compile.h"
#include "grammar/plpgsql_json.h"

namespace pgparsed::grammar {
namespace {

Result<std::string> Tree(const Node* statement) {
  LibraryScope scope;
  const auto function = CompilePlpgsql(scope.memory_context(), statement);
  if (!function.ok()) return function.error();
  return WritePlpgsqlJson(*function.value());
}

// For what takes over memory from malloc.
Result<LibraryText> Copied(const std::string& text) {
  auto* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) return MakeGrammarError(Reason::kParserMemoryLimit, "out of memory");
  std::memcpy(copy, text.c_str(), text.size() + 1);
  return LibraryText(copy, text.size());
}

}  // namespace

Result<LibraryText> ParsePlpgsql(const char* sql) {
  const auto query = ParsedQuery::Parse(sql, {});
  if (!query.ok()) return query.error();
  std::string json = "[";
  const ListCell* cell;
  foreach (cell, static_cast<const List*>(query.value()->statements())) {
    const Node* statement = static_cast<const RawStmt*>(lfirst(cell))->stmt;
    if (!IsA(statement, CreateFunctionStmt) && !IsA(statement, DoStmt)) continue;
    const auto tree = Tree(statement);
    if (!tree.ok()) return tree.error();
    json += json.size() > 1 ? ",\n" : "\n";
    json += tree.value();
  }
  json += json.size() > 1 ? "\n]" : "]";
  // Names and texts come from the library: whatever it did to them, an answer can be read.
  if (!IsJson(json)) {
    return MakeGrammarError(Reason::kInternal, "the PL/pgSQL tree cannot be written as JSON");
  }
  return Copied(json);
}

}  // namespace pgparsed::grammar
