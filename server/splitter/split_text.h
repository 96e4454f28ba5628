// A whole text in pieces, for callers that have it at once.
#pragma once

#include <string_view>
#include <vector>

#include "splitter/piece.h"
#include "splitter/splitter.h"

namespace pgparsed::splitter {

struct SplitResult {
  std::vector<Piece> pieces;
  // See Splitter::incomplete.
  bool incomplete = false;
};

// As Splitter, but since the end is known, COPY … FROM stdin without a `\.` in the rest of the text
// takes no data: SQL follows. Thread-safe; time and memory are linear in the text.
SplitResult SplitText(std::string_view text, const Options& options = {});

}  // namespace pgparsed::splitter
