#include "splitter/split_text.h"

namespace pgparsed::splitter {

SplitResult SplitText(std::string_view text, const Options& options) {
  SplitResult result;
  const auto sink = [&](const Piece& piece, std::string_view) { result.pieces.push_back(piece); };
  Splitter splitter(options);
  splitter.Feed(text, sink);
  splitter.Finish(sink);
  result.incomplete = splitter.incomplete();
  if (!result.incomplete || result.pieces.back().kind != PieceKind::kCopyData) return result;

  // Once more from the COPY statement on, or from the last data that was whole if several were sent
  // together. The rest holds no `\.`, so this is the last time.
  Options rest = options;
  rest.copy_data = false;
  rest.standard_conforming_strings = splitter.resume_standard_conforming_strings();
  do {
    rest.start_offset = result.pieces.back().offset;
    rest.start_line = result.pieces.back().line;
    result.pieces.pop_back();
  } while (rest.start_offset > splitter.resume_offset() &&
           result.pieces.back().kind != PieceKind::kCopyData);
  Splitter again(rest);
  again.Feed(text.substr(rest.start_offset - options.start_offset), sink);
  again.Finish(sink);
  result.incomplete = again.incomplete();
  return result;
}

}  // namespace pgparsed::splitter
