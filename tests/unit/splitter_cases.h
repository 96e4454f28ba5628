// Scripts and the pieces they must be cut into, for the tests of the splitter.
#pragma once

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "splitter/piece.h"
#include "splitter/splitter.h"

namespace pgparsed::splitter {

struct ScriptCase {
  std::string name;
  std::string script;
  // "s " a statement, "m " a command, "b " what is between, "d<rows> " COPY data; then its bytes.
  std::vector<std::string> pieces;
  bool incomplete = false;
  Options options = {};
};

inline void PrintTo(const ScriptCase& c, std::ostream* out) { *out << c.script; }

const std::vector<ScriptCase>& ScriptCases();

// What a splitter said.
struct Outcome {
  std::vector<Piece> pieces;
  std::vector<std::string> texts;
  bool incomplete = false;
  // After each part and at the end: the resume point, and how many pieces had been handed out.
  struct Resume {
    size_t pieces = 0;
    uint64_t offset = 0;
    uint64_t line = 0;
    bool standard_strings = true;
    bool operator==(const Resume&) const = default;
  };
  std::vector<Resume> resumes;

  bool operator==(const Outcome& other) const {
    return pieces == other.pieces && texts == other.texts && incomplete == other.incomplete;
  }
};

// Feeds the parts one after the other.
Outcome SplitParts(const std::vector<std::string_view>& parts, const Options& options = {});
// The script cut at these places, ascending.
std::vector<std::string_view> CutAt(std::string_view script, const std::vector<size_t>& places);
// Byte by byte.
std::vector<std::string_view> Bytes(std::string_view script);

// Pieces as in ScriptCase.
std::vector<std::string> Describe(const std::vector<Piece>& pieces, std::string_view script);

}  // namespace pgparsed::splitter
