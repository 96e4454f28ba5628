#include "grammar/parsed_query.h"

#include <cstring>

#include "grammar/deparse.h"
#include "grammar/library_options.h"
#include "grammar/normalize.h"
#include "grammar/operations.h"
#include "grammar/summary.h"

// Last: its macros would break other headers.
#include "grammar/guarded.h"

namespace pgparsed::grammar {
namespace {

PgQueryInternalParsetreeAndError RawParse(const char* sql, int options) {
#if PGPARSED_GRAMMAR >= 17
  return pg_query_raw_parse(sql, options);
#else
  (void)options;
  return pg_query_raw_parse(sql);
#endif
}

// In the mode for a type name the parser gives a TypeName where it gives a RawStmt in all others.
// Whoever reads the list takes its members for RawStmts, the library included.
void WrapTypeName(List* statements) {
  const ListCell* cell;
  foreach (cell, statements) {
    auto* node = static_cast<Node*>(lfirst(cell));
    if (!IsA(node, TypeName)) continue;
    RawStmt* statement = makeNode(RawStmt);
    statement->stmt = node;
    lfirst(const_cast<ListCell*>(cell)) = statement;
  }
}

}  // namespace

Result<std::unique_ptr<ParsedQuery>> ParsedQuery::Parse(const char* sql,
                                                        const ParserOptions& options) {
  if (auto error = CheckParserOptions(options)) return *error;
  std::unique_ptr<ParsedQuery> query(new ParsedQuery(sql, options));
  CurrentMemoryContext = static_cast<MemoryContext>(query->scope_.memory_context());
  const PgQueryInternalParsetreeAndError parsed = RawParse(sql, ParserFlags(options));
  std::free(parsed.stderr_buffer);  // always empty: the library is built without that capture
  if (parsed.error != nullptr) {
    GrammarError error = FromLibrary(*parsed.error, Reason::kSqlSyntaxError);
    pg_query_free_error(parsed.error);
    return error;
  }
  query->statements_ = parsed.tree;
  if (options.mode == ParseMode::kTypeName) {
    auto error = RunGuarded(query->scope_.memory_context(), Reason::kInternal,
                            [&] { WrapTypeName(parsed.tree); });
    if (error) return *std::move(error);
  }
  return query;
}

ParsedQuery::~ParsedQuery() = default;

Result<std::string_view> ParsedQuery::LibraryJson() {
  char* json = nullptr;
  auto error = RunGuarded(scope_.memory_context(), Reason::kSqlSyntaxError,
                          [&] { json = pg_query_nodes_to_json(statements_); });
  if (error) return *std::move(error);
  return std::string_view(json);
}

Result<std::string_view> ParsedQuery::LibraryProtobuf() {
  PgQueryProtobuf protobuf = {};
  auto error = RunGuarded(scope_.memory_context(), Reason::kSqlSyntaxError,
                          [&] { protobuf = pg_query_nodes_to_protobuf(statements_); });
  if (error) return *std::move(error);
  results_.emplace_back(protobuf.data, protobuf.len);
  return results_.back().view();
}

Result<uint64_t> ParsedQuery::Fingerprint(const FingerprintOptions& options) {
  if (auto error = CheckFingerprintOptions(options)) return *error;
#if PGPARSED_GRAMMAR >= 18
  if (options != FingerprintOptions{}) {
    const PgQueryFingerprintResult result =
        pg_query_fingerprint_opts(sql_, ParserFlags(options_), FingerprintFlags(options));
    std::optional<GrammarError> error;
    if (result.error != nullptr) error = FromLibrary(*result.error, Reason::kSqlSyntaxError);
    const uint64_t fingerprint = result.fingerprint;
    pg_query_free_fingerprint_result(result);
    if (error) return *std::move(error);
    return fingerprint;
  }
#endif
  uint64_t fingerprint = 0;
  auto error = RunGuarded(scope_.memory_context(), Reason::kSqlSyntaxError,
                          [&] { fingerprint = pg_query_fingerprint_node(statements_); });
  if (error) return *std::move(error);
  return fingerprint;
}

Pieces ParsedQuery::Split() const {
  const auto* statements = static_cast<const List*>(statements_);
  Pieces pieces;
  const ListCell* cell;
  foreach (cell, statements) {
    const auto* statement = static_cast<const RawStmt*>(lfirst(cell));
    // A length of 0 stands for "to the end of the text".
    const size_t length = statement->stmt_len > 0
                              ? static_cast<size_t>(statement->stmt_len)
                              : std::strlen(sql_) - static_cast<size_t>(statement->stmt_location);
    pieces.start.push_back(static_cast<uint32_t>(statement->stmt_location));
    pieces.length.push_back(static_cast<uint32_t>(length));
  }
  return pieces;
}

Result<std::string_view> ParsedQuery::Format(const Layout& layout, bool keep_comments,
                                             bool verify) {
  if (auto error = CheckLayout(layout)) return *error;
  std::vector<Comment> comments;
  ExtractedComments extracted;
  if (kFeatures.comments && keep_comments) {
    auto result = ExtractComments(sql_, options_);
    if (!result.ok()) return result.error();
    extracted = std::move(result.value());
    comments = extracted.comments();
  }
  return PrintStatements(scope_, statements_, layout, comments, verify, results_);
}

Result<LibraryText> ParsedQuery::Normalize(bool utility_only) const {
  return NormalizeStatements(scope_, sql_, statements_, options_, utility_only);
}

Result<std::string> ParsedQuery::Summarize(uint32_t truncate_limit) {
  return SummarizeStatements(scope_.memory_context(), statements_, truncate_limit);
}

}  // namespace pgparsed::grammar
