// How a grammar's operations are to be done, and what a grammar can do.
#pragma once

#include <cstdint>
#include <string_view>

namespace pgparsed::grammar {

// PostgreSQL's RawParseMode.
enum class ParseMode : uint32_t {
  kDefault = 0,
  kTypeName = 1,
  kPlpgsqlExpr = 2,
  kPlpgsqlAssign1 = 3,
  kPlpgsqlAssign2 = 4,
  kPlpgsqlAssign3 = 5,
};

// Settings of the parser. Grammar 15 takes the defaults only.
struct ParserOptions {
  ParseMode mode = ParseMode::kDefault;
  bool backslash_quote = true;
  bool standard_conforming_strings = true;
  bool escape_string_warning = true;

  bool operator==(const ParserOptions&) const = default;
};

// How fingerprints are computed. Grammar 18 and later; the others take the defaults only.
struct FingerprintOptions {
  bool ignore_aliases = false;
  bool include_schema = false;
  bool full_relname = false;

  bool operator==(const FingerprintOptions&) const = default;
};

// The layout of printed SQL. Grammar 18 and later; the others take the defaults only.
struct Layout {
  bool pretty = false;
  uint32_t indent_size = 0;      // 0: the library's, 4
  uint32_t max_line_length = 0;  // 0: the library's, 80
  bool trailing_newline = false;
  bool commas_start_of_line = false;

  bool operator==(const Layout&) const = default;
};

// A comment and the place it belongs to: before the first node whose location is this or more.
struct Comment {
  int32_t match_location = 0;
  uint32_t newlines_before = 0;
  uint32_t newlines_after = 0;
  std::string_view text;
};

// What a grammar can do beyond what all of them can.
struct Features {
  bool parser_options = false;
  bool fingerprint_options = false;
  bool pretty_print = false;
  bool comments = false;
  bool normalize_utility = false;
  bool summary = false;
};

inline constexpr Features kFeatures = {
    .parser_options = PGPARSED_GRAMMAR >= 17,
    .fingerprint_options = PGPARSED_GRAMMAR >= 18,
    .pretty_print = PGPARSED_GRAMMAR >= 18,
    .comments = PGPARSED_GRAMMAR >= 18,
    .normalize_utility = PGPARSED_GRAMMAR >= 17,
    .summary = true,
};

// Which grammar this is.
struct Identity {
  uint32_t major = 0;
  std::string_view library_version;   // of libpg_query, for example "18.1.0"
  std::string_view postgres_version;  // for example "18.6"
  uint32_t postgres_version_num = 0;  // for example 180006
};
Identity GrammarIdentity();

}  // namespace pgparsed::grammar
