// Options as the library takes them, and whether the grammar has them. For sources of this folder.
#pragma once

#include <optional>

#include "grammar/error.h"
#include "grammar/options.h"

namespace pgparsed::grammar {

// The error of an option that the grammar lacks.
std::optional<GrammarError> CheckParserOptions(const ParserOptions& options);
std::optional<GrammarError> CheckFingerprintOptions(const FingerprintOptions& options);
std::optional<GrammarError> CheckLayout(const Layout& layout);

// The flags of pg_query_*_opts.
int ParserFlags(const ParserOptions& options);
int FingerprintFlags(const FingerprintOptions& options);

// Sets what the scanner reads. The library sets it before a raw parse only, and after one that
// failed it stays: each operation that scans without parsing calls this first.
void SetScannerOptions(const ParserOptions& options);

}  // namespace pgparsed::grammar
