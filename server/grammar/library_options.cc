#include "grammar/library_options.h"

// Last: its macros would break other headers.
#include "grammar/library.h"

namespace pgparsed::grammar {

std::optional<GrammarError> CheckParserOptions(const ParserOptions& options) {
  if (kFeatures.parser_options || options == ParserOptions{}) return std::nullopt;
  return MakeGrammarError(Reason::kUnsupportedOption,
                          "this grammar has no parser options: leave them at the default");
}

std::optional<GrammarError> CheckFingerprintOptions(const FingerprintOptions& options) {
  if (kFeatures.fingerprint_options || options == FingerprintOptions{}) return std::nullopt;
  return MakeGrammarError(Reason::kUnsupportedOption,
                          "this grammar has no fingerprint options: leave them at the default");
}

std::optional<GrammarError> CheckLayout(const Layout& layout) {
  if (kFeatures.pretty_print || layout == Layout{}) return std::nullopt;
  return MakeGrammarError(Reason::kUnsupportedOption,
                          "this grammar has no pretty printer: leave the layout at the default");
}

#if PGPARSED_GRAMMAR >= 17

int ParserFlags(const ParserOptions& options) {
  int flags = static_cast<int>(options.mode);
  if (!options.backslash_quote) flags |= PG_QUERY_DISABLE_BACKSLASH_QUOTE;
  if (!options.standard_conforming_strings) flags |= PG_QUERY_DISABLE_STANDARD_CONFORMING_STRINGS;
  if (!options.escape_string_warning) flags |= PG_QUERY_DISABLE_ESCAPE_STRING_WARNING;
  return flags;
}

void SetScannerOptions(const ParserOptions& options) {
  backslash_quote = options.backslash_quote ? BACKSLASH_QUOTE_SAFE_ENCODING : BACKSLASH_QUOTE_OFF;
  standard_conforming_strings = options.standard_conforming_strings;
  escape_string_warning = options.escape_string_warning;
}

#else

int ParserFlags(const ParserOptions&) { return 0; }
void SetScannerOptions(const ParserOptions&) {}

#endif

#if PGPARSED_GRAMMAR >= 18

int FingerprintFlags(const FingerprintOptions& options) {
  int flags = PG_QUERY_FINGERPRINT_DEFAULT;
  if (options.ignore_aliases) flags |= PG_QUERY_FINGERPRINT_RANGEVAR_IGNORE_ALIASES;
  if (options.include_schema) flags |= PG_QUERY_FINGERPRINT_RANGEVAR_INCLUDE_SCHEMA;
  if (options.full_relname) flags |= PG_QUERY_FINGERPRINT_FULL_RELNAME;
  return flags;
}

#else

int FingerprintFlags(const FingerprintOptions&) { return 0; }

#endif

}  // namespace pgparsed::grammar
