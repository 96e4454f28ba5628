// A query after the raw parse: PostgreSQL's C structs, and what can be made of them without
// parsing again. The results equal those of the library's one-shot functions, byte for byte.
//
// Not thread-safe; everything on one thread. Views stay valid until the ParsedQuery goes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "grammar/error.h"
#include "grammar/memory.h"
#include "grammar/options.h"

namespace pgparsed::grammar {

// Statement boundaries as the library gives them, in bytes.
struct Pieces {
  std::vector<uint32_t> start;
  std::vector<uint32_t> length;
};

class ParsedQuery {
 public:
  // Parses. `sql` is NUL-terminated UTF-8 and must outlive the result. Errors: kSqlSyntaxError,
  // kNestingTooDeep, kParserMemoryLimit, kUnsupportedOption.
  static Result<std::unique_ptr<ParsedQuery>> Parse(const char* sql, const ParserOptions& options);

  ~ParsedQuery();

  // The tree by the library's own path: as pg_query_parse prints it, and as a serialized
  // pg_query.ParseResult. tree_writer.h writes the same directly.
  Result<std::string_view> LibraryJson();
  Result<std::string_view> LibraryProtobuf();

  // The List of RawStmt, for the writers and readers of this folder.
  const void* statements() const { return statements_; }

  // Options other than the default make the library parse once more.
  Result<uint64_t> Fingerprint(const FingerprintOptions& options);

  // The statements' boundaries.
  Pieces Split() const;

  // The statements printed again, comments kept where the grammar can and `keep_comments` is set.
  // With `verify` what was printed is parsed again and compared with the tree (kDeparseMismatch).
  Result<std::string_view> Format(const Layout& layout, bool keep_comments, bool verify);

  // The text with $n in place of its constants; with `utility_only` in utility statements only (17
  // and later). See normalize.h.
  Result<LibraryText> Normalize(bool utility_only) const;

  // A serialized pgparsed.v1.Summary; `truncate_limit` 0: no truncated text. See summary.h.
  Result<std::string> Summarize(uint32_t truncate_limit);

 private:
  ParsedQuery(const char* sql, const ParserOptions& options) : sql_(sql), options_(options) {}

  LibraryScope scope_;
  const char* const sql_;
  const ParserOptions options_;
  void* statements_ = nullptr;  // List of RawStmt
  std::vector<LibraryText> results_;
};

}  // namespace pgparsed::grammar
