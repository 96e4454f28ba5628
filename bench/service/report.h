// A book for people, and for programs.
#pragma once

#include <string>

#include "bench/service/book.h"
#include "bench/service/options.h"

namespace pgparsed::bench {

// The bars, then everything else in tables.
void PrintReport(const Book& book, const Options& options);

// Records of name, grammar, input, variant, value and unit, as script/bench conversion writes them;
// with the spread of each, and the bars. False if the file cannot be written.
bool WriteRecords(const Book& book, const Options& options, const std::string& path);

}  // namespace pgparsed::bench
