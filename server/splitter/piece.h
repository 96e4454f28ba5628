// What a script is cut into.
#pragma once

#include <cstdint>

namespace pgparsed::splitter {

// The same values as pgparsed.v1.PieceKind.
enum class PieceKind : uint8_t {
  // One SQL statement, from its first token to its terminator, which belongs to what follows.
  kStatement = 1,
  // A backslash command of psql with its arguments, without the end of the line.
  kMetaCommand = 2,
  // The lines that COPY … FROM stdin reads, with the line `\.` that ends them.
  kCopyData = 3,
  // What belongs to none of these: white space, comments before a statement, terminators (`;`,
  // `\;`, and `\\` behind a command), a byte order mark.
  kBetween = 4,
};

// A range of the script. The pieces of a script follow each other without gaps.
struct Piece {
  PieceKind kind = PieceKind::kBetween;
  // A statement or command longer than Options::max_statement_bytes; its text is not handed out.
  bool too_long = false;
  // Where it begins, and how long it is, in bytes of the whole script.
  uint64_t offset = 0;
  uint64_t length = 0;
  // The line on which it begins, from 1. Lines end with \n.
  uint64_t line = 1;
  // For COPY data: its lines without `\.`.
  uint64_t copy_rows = 0;

  bool operator==(const Piece&) const = default;
};

}  // namespace pgparsed::splitter
