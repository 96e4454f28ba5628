// Splits a psql script into statements the way psql itself would, without a server.
//
// Test code: the conformance drivers feed the corpus to the service through it, and it is the
// independent reference for the service's own splitter. It follows psql's lexer (psqlscan.l) and
// main loop rule by rule, favours being easy to check over speed, and holds the whole script in
// memory. It shares no code with server/splitter.
//
// Where psql asks the server, this code decides as follows:
//  - Variables stay in the text as written (:name, :'name', :"name"): psql would replace those that
//    are set.
//  - Every branch of \if is taken.
//  - A statement that the server would reject counts like any other, also COPY … FROM stdin: psql
//    reads data only after the server asked for it. Here data is taken when a `\.` line follows and
//    no line between starts another COPY … FROM stdin; else the COPY is held to be one that fails,
//    and what follows is SQL.
//  - standard_conforming_strings follows the script's own SET and RESET statements.
//
// Thread-safe: no state is shared between calls.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace pgparsed::conformance {

struct PsqlPiece {
  enum class Kind {
    kStatement,    // SQL that psql sends.
    kMetaCommand,  // A backslash command with its arguments.
    kCopyData,     // The lines up to and with `\.`.
  };
  Kind kind = Kind::kStatement;
  // A statement: what psql would send, so leading white space and leading -- comments are gone
  // (comments of the other kind stay), a final `\;` is `;`, and backslash commands in the middle
  // are cut out; blank lines stay (psql drops those outside quotes). Else the script's own bytes.
  std::string text;
  // Where the piece stands in the script: byte offset, length in bytes, line from 1.
  size_t offset = 0;
  size_t length = 0;
  size_t line = 1;
  // kStatement: ended by `;`, `\;` or a backslash command that sends; false for what stands at the
  // end of the script without any of them.
  bool complete = true;
  // kCopyData: lines before `\.`.
  size_t copy_rows = 0;
};

// The pieces in the order of the script. Never fails: what is left open at the end of the script (a
// quote, a parenthesis) makes the last piece an incomplete statement, which psql would send too.
std::vector<PsqlPiece> SplitPsqlScript(std::string_view script);

// The statements alone.
std::vector<std::string> PsqlStatements(std::string_view script);

}  // namespace pgparsed::conformance
