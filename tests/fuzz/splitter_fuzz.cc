// The splitter: whatever a script holds and however it is cut, its pieces cover it and are the same
// ones, in whole or in parts, and from every resume point on.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "splitter/splitter.h"

namespace pgparsed::splitter {
namespace {

void Require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "not so: %s\n", what);
  std::abort();
}

struct Resume {
  uint64_t offset;
  uint64_t line;
  bool standard_strings;
};

struct Outcome {
  std::vector<Piece> pieces;
  std::vector<Resume> resumes;  // after each part
  bool incomplete = false;
};

// `part` bytes at a time; the pieces must follow each other and their texts be the script's.
Outcome Split(std::string_view script, size_t part, const Options& options) {
  Outcome outcome;
  Splitter splitter(options);
  uint64_t next = options.start_offset;
  const auto sink = [&](const Piece& piece, std::string_view text) {
    Require(piece.offset == next, "no gap between pieces");
    next += piece.length;
    Require(next <= options.start_offset + script.size(), "no piece behind the end");
    if (!text.empty()) {
      Require(text == script.substr(piece.offset - options.start_offset, piece.length),
              "the text is the script's");
    }
    outcome.pieces.push_back(piece);
  };
  for (size_t at = 0; at < script.size(); at += part) {
    splitter.Feed(script.substr(at, part), sink);
    Require(splitter.resume_offset() <= next, "the resume point is handed out");
    outcome.resumes.push_back({splitter.resume_offset(), splitter.resume_line(),
                               splitter.resume_standard_conforming_strings()});
  }
  splitter.Finish(sink);
  Require(next == options.start_offset + script.size(), "the pieces cover the script");
  outcome.incomplete = splitter.incomplete();
  return outcome;
}

void Check(std::string_view script) {
  Options options;
  options.max_statement_bytes = 1 << 10;
  const Outcome whole = Split(script, script.size() + 1, options);
  const Outcome bytes = Split(script, 1, options);
  Require(whole.pieces == bytes.pieces && whole.incomplete == bytes.incomplete,
          "byte by byte the same");
  if (script.empty()) return;
  // One resume point of them, chosen by the input itself.
  const Resume& resume = bytes.resumes[script.size() * 31 % bytes.resumes.size()];
  Options rest_options = options;
  rest_options.start_offset = resume.offset;
  rest_options.start_line = resume.line;
  rest_options.standard_conforming_strings = resume.standard_strings;
  const Outcome rest = Split(script.substr(resume.offset), 7, rest_options);
  size_t known = 0;
  while (known < whole.pieces.size() && whole.pieces[known].offset < resume.offset) ++known;
  Require(std::vector<Piece>(whole.pieces.begin() + static_cast<ptrdiff_t>(known),
                             whole.pieces.end()) == rest.pieces,
          "the rest of the script gives the rest of the pieces");
}

}  // namespace
}  // namespace pgparsed::splitter

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  pgparsed::splitter::Check({reinterpret_cast<const char*>(data), size});
  return 0;
}
