// What the library does with a query text in one step of its own, and the columns that come of it.
//
// All texts are NUL-terminated UTF-8. All positions are bytes from 0. Not thread-safe.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "grammar/error.h"
#include "grammar/memory.h"
#include "grammar/options.h"
#include "grammar/parsed_query.h"

namespace pgparsed::grammar {

// Tokens as columns, one entry a token.
struct Tokens {
  std::vector<uint32_t> start;
  std::vector<uint32_t> end;
  std::vector<uint32_t> number;         // in this grammar
  std::vector<uint32_t> name;           // index into `names`
  std::vector<uint32_t> keyword;        // values of pgparsed.v1.KeywordKind
  std::vector<std::string_view> names;  // of the tokens that occur, in the order of appearance
};

// Constants replaced by $n; with `utility_only` in utility statements only (17 and later). Parses:
// ParsedQuery::Normalize shares a parse.
Result<LibraryText> Normalize(const char* sql, bool utility_only);

Result<Tokens> Scan(const char* sql, const ParserOptions& options);

// Statement boundaries as the scanner sees them: takes statements with errors, drops some.
Result<Pieces> SplitWithScanner(const char* sql, const ParserOptions& options);

// Comments that the library allocated.
class ExtractedComments {
 public:
  ExtractedComments() = default;

  // Views live as long as this.
  const std::vector<Comment>& comments() const { return comments_; }

 private:
  friend Result<ExtractedComments> ExtractComments(const char* sql, const ParserOptions& options);

  std::vector<LibraryText> texts_;
  std::vector<Comment> comments_;
};

// The comments of a query with the places where a deparse puts them (18 and later).
Result<ExtractedComments> ExtractComments(const char* sql, const ParserOptions& options);

// A serialized pgparsed.v1.Summary. `truncate_limit` 0: no truncated text. Parses:
// ParsedQuery::Summarize shares a parse.
Result<std::string> Summarize(const char* sql, const ParserOptions& options,
                              uint32_t truncate_limit);

}  // namespace pgparsed::grammar
