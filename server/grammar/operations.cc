#include "grammar/operations.h"

#include <cstring>
#include <optional>
#include <utility>

#include "grammar/library_options.h"
#include "grammar/schema.h"
#include "grammar/wire.h"

// Last: its macros would break other headers.
#include "grammar/guarded.h"

namespace pgparsed::grammar {
namespace {

// The error of a library result, if it has one.
std::optional<GrammarError> ErrorOf(const PgQueryError* error) {
  if (error == nullptr) return std::nullopt;
  return FromLibrary(*error, Reason::kSqlSyntaxError);
}

// Fills the columns of Tokens; names get their index in the order of appearance.
class TokenColumns {
 public:
  explicit TokenColumns(Tokens& tokens) : tokens_(tokens) {}

  void Add(uint32_t start, uint32_t end, uint32_t number, uint32_t keyword) {
    tokens_.start.push_back(start);
    tokens_.end.push_back(end);
    tokens_.number.push_back(number);
    tokens_.name.push_back(NameIndex(number));
    tokens_.keyword.push_back(keyword);
  }

 private:
  uint32_t NameIndex(uint32_t number) {
    if (number >= index_of_number_.size()) index_of_number_.resize(number + 1);
    uint32_t& index = index_of_number_[number];
    if (index == 0) {
      tokens_.names.push_back(GrammarSchema().tokens.Find(number));
      index = static_cast<uint32_t>(tokens_.names.size());
    }
    return index - 1;
  }

  Tokens& tokens_;
  std::vector<uint32_t> index_of_number_;  // from 1; 0: not seen yet
};

#if PGPARSED_GRAMMAR < 18

// The fields of pg_query.ScanResult and pg_query.ScanToken.
bool ReadScanResult(std::string_view message, TokenColumns& columns) {
  WireReader result(message);
  while (result.Next()) {
    if (result.field() != 2) continue;
    uint32_t values[6] = {};
    WireReader token(result.bytes());
    while (token.Next()) {
      if (token.field() < 6) values[token.field()] = static_cast<uint32_t>(token.number());
    }
    if (!token.ok()) return false;
    columns.Add(values[1], values[2], values[4], values[5]);
  }
  return result.ok();
}

#endif

}  // namespace

Result<LibraryText> Normalize(const char* sql, bool utility_only) {
  const auto query = ParsedQuery::Parse(sql, {});
  if (!query.ok()) return query.error();
  return query.value()->Normalize(utility_only);
}

Result<std::string> Summarize(const char* sql, const ParserOptions& options,
                              uint32_t truncate_limit) {
  const auto query = ParsedQuery::Parse(sql, options);
  if (!query.ok()) return query.error();
  return query.value()->Summarize(truncate_limit);
}

Result<Tokens> Scan(const char* sql, const ParserOptions& options) {
  if (auto error = CheckParserOptions(options)) return *error;
  SetScannerOptions(options);
  Tokens tokens;
  TokenColumns columns(tokens);
#if PGPARSED_GRAMMAR >= 18
  const PgQueryScanTokensResult result = pg_query_scan_tokens(sql);
  auto error = ErrorOf(result.error);
  for (int i = 0; i < result.n_tokens && !error; ++i) {
    const PgQueryScanToken& token = result.tokens[i];
    columns.Add(static_cast<uint32_t>(token.start), static_cast<uint32_t>(token.end),
                static_cast<uint32_t>(token.token), static_cast<uint32_t>(token.keyword_kind));
  }
  pg_query_free_scan_tokens_result(result);
#else
  const PgQueryScanResult result = pg_query_scan(sql);
  auto error = ErrorOf(result.error);
  if (!error && !ReadScanResult({result.pbuf.data, result.pbuf.len}, columns)) {
    error = MakeGrammarError(Reason::kInternal, "the library's tokens are malformed");
  }
  pg_query_free_scan_result(result);
#endif
  SetScannerOptions({});
  if (error) return *std::move(error);
  return tokens;
}

Result<Pieces> SplitWithScanner(const char* sql, const ParserOptions& options) {
  if (auto error = CheckParserOptions(options)) return *error;
  SetScannerOptions(options);
  const PgQuerySplitResult result = pg_query_split_with_scanner(sql);
  SetScannerOptions({});
  auto error = ErrorOf(result.error);
  Pieces pieces;
  for (int i = 0; i < result.n_stmts && !error; ++i) {
    pieces.start.push_back(static_cast<uint32_t>(result.stmts[i]->stmt_location));
    pieces.length.push_back(static_cast<uint32_t>(result.stmts[i]->stmt_len));
  }
  pg_query_free_split_result(result);
  if (error) return *std::move(error);
  return pieces;
}

#if PGPARSED_GRAMMAR >= 18

Result<ExtractedComments> ExtractComments(const char* sql, const ParserOptions& options) {
  SetScannerOptions(options);
  const PgQueryDeparseCommentsResult result = pg_query_deparse_comments_for_query(sql);
  SetScannerOptions({});
  auto error = ErrorOf(result.error);
  ExtractedComments extracted;
  for (size_t i = 0; i < result.comment_count && !error; ++i) {
    PostgresDeparseComment& comment = *result.comments[i];
    char* text = std::exchange(comment.str, nullptr);
    extracted.texts_.emplace_back(text, std::strlen(text));
    extracted.comments_.push_back(
        {.match_location = comment.match_location,
         .newlines_before = static_cast<uint32_t>(comment.newlines_before_comment),
         .newlines_after = static_cast<uint32_t>(comment.newlines_after_comment),
         .text = extracted.texts_.back().view()});
  }
  pg_query_free_deparse_comments_result(result);
  if (error) return *std::move(error);
  return extracted;
}

#else

Result<ExtractedComments> ExtractComments(const char*, const ParserOptions&) {
  return MakeGrammarError(Reason::kUnsupportedOption,
                          "this grammar cannot extract comments; grammar 18 can");
}

#endif

}  // namespace pgparsed::grammar
