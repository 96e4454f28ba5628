// Splitter: cuts a script of any size into pieces, incrementally and without a parser.
//
// ParseScript and Split's tolerant method feed it. It follows psql's rules of where a statement
// ends; errors in statements do not matter to it, and no byte is lost: the pieces, joined, are the
// script, whatever it holds. Every byte is looked at a constant number of times, however small the
// parts are in which it comes, and the pieces do not depend on those parts.
//
// Rules that are not psql's own, or that a caller has to know:
//  - A statement begins with its first token and ends before its `;` (or `\;`, or command), so
//    comments in front of it are kBetween and comments inside and behind it belong to it. An empty
//    statement is only kBetween.
//  - Any backslash command outside quotes and comments ends the statement before it, also inside
//    parentheses. psql's \g and its kin do that; behind others (\echo, \set) psql would go on with
//    the same statement, which as one range of the script cannot be. What \r drops is reported as
//    any statement. `\:` stays in the statement, `\\` is kBetween, and every branch of \if counts.
//  - A function body is BEGIN ATOMIC … END (psql counts any BEGIN, although it may be a name).
//  - COPY … FROM stdin (and \copy) takes the lines from the end of the line on which it was sent up
//    to `\.`, or to the end. Whether the server would have refused the statement, so that no data
//    follows, cannot be known here. What of a statement or comment is open at the end of that line
//    is cut there, and what follows the data begins anew.
//  - SET and RESET of standard_conforming_strings count from the next statement on; RESET and SET …
//    TO DEFAULT mean on. SET inside functions, ALTER … SET and set_config() do not count.
//  - E'…' goes on over a line end as in PostgreSQL's scanner, if only white space stands between.
//  - The tag of a dollar quote has at most kMaxTagBytes; with a longer one it is no quote.
//  - A kBetween range longer than kMaxBetweenBytes comes as several pieces, cut anywhere.
//
// Memory: the open piece at most, see Options::max_statement_bytes; COPY data takes none.
// Not thread-safe. Never fails.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "splitter/piece.h"
#include "splitter/statement_shape.h"

namespace pgparsed::splitter {

struct Options {
  // Where the first byte stands in the script: 0, or an earlier splitter's resume point.
  uint64_t start_offset = 0;
  // The line there, from 1.
  uint64_t start_line = 1;
  // PostgreSQL's setting at that place: whether a backslash in '…' is an ordinary character.
  bool standard_conforming_strings = true;
  // Whether data follows COPY … FROM stdin and \copy. False for a text that is SQL only.
  bool copy_data = true;
  // Statements and commands longer than this are counted, but not kept: they come without text.
  uint64_t max_statement_bytes = std::numeric_limits<uint64_t>::max();
};

class Splitter {
 public:
  static constexpr size_t kMaxBetweenBytes = 64 << 10;
  static constexpr size_t kMaxTagBytes = 64 << 10;

  // Called with each piece when it is complete, in order. The text is the piece's bytes, valid
  // during the call only; it is empty for COPY data and where too_long is set.
  using Sink = absl::FunctionRef<void(const Piece& piece, std::string_view text)>;

  explicit Splitter(const Options& options = {});

  Splitter(const Splitter&) = delete;
  Splitter& operator=(const Splitter&) = delete;

  // The next bytes of the script. They may end anywhere, even inside a character.
  void Feed(std::string_view bytes, Sink sink);
  // The end of the script: hands out what is left. No Feed after it.
  void Finish(Sink sink);

  // After Finish: the script ended inside quotes, a comment, parentheses, a function body, or COPY
  // data (of which there is at least a byte). A missing last semicolon is no fault.
  bool incomplete() const { return incomplete_; }

  // All pieces before this offset have been handed out, and a new splitter that starts here gives
  // the same pieces from here on. It stays in front of a COPY … FROM stdin until its data is over,
  // and in front of a kBetween range that has been handed out in part.
  uint64_t resume_offset() const { return resume_.offset; }
  // What the new splitter has to be told: the line and the setting there.
  uint64_t resume_line() const { return resume_.line; }
  bool resume_standard_conforming_strings() const { return resume_.standard_strings; }

  // In a sink: the setting under which the piece was read.
  bool standard_conforming_strings() const { return standard_strings_; }

  // What is kept of the open piece.
  uint64_t buffered_bytes() const { return carry_.size() + tag_.size(); }

 private:
  // Where in a token the next byte stands.
  enum class State : uint8_t {
    kByteOrderMark,  // at the start of the script
    kPlain,          // between tokens
    kDash,
    kSlash,
    kLineComment,
    kBlockComment,
    kBlockCommentStar,
    kBlockCommentSlash,
    kQuote,
    kEscapeQuote,
    kEscapeQuoteBackslash,
    kEscapeQuoteEnd,      // behind the quote that ends it, unless another follows
    kEscapeQuoteSpace,    // in white space behind that
    kEscapeQuoteNewLine,  // the same, behind a line end: a quote goes on with the string
    kDoubleQuote,
    kWord,
    kUnicodePrefix,  // U&
    kNumber,
    kNumberJunk,  // letters that stick to a number
    kColon,
    kVariable,  // :name
    kDollar,
    kDollarTag,
    kDollarBody,
    kBackslash,
    kCommandName,
    kCommandSpace,
    kCommandArguments,
    kCommandQuote,
    kCommandQuoteBackslash,
    kCommandLine,  // arguments up to the end of the line
    kCopyData,
  };
  // Where in a line of COPY data the next byte stands: behind these bytes, or behind others.
  enum class DataLine : uint8_t { kStart, kBackslash, kDot, kCarriageReturn, kRow };

  struct ResumePoint {
    uint64_t offset = 0;
    uint64_t line = 1;
    bool standard_strings = true;
  };

  // Each takes bytes from `at`, which is not `end`, and returns where the next step begins.
  const char* Step(const char* at, const char* end);
  const char* ByteOrderMark(const char* at);
  const char* Plain(const char* at, const char* end);
  const char* Dash(const char* at);
  const char* Slash(const char* at);
  const char* LineComment(const char* at, const char* end);
  const char* BlockComment(const char* at, const char* end);
  const char* EscapeQuote(const char* at, const char* end);
  const char* EscapeQuoteEnd(const char* at);
  const char* Word(const char* at, const char* end);
  const char* UnicodePrefix(const char* at);
  const char* Number(const char* at, const char* end);
  const char* Colon(const char* at);
  const char* Dollar(const char* at);
  const char* DollarTag(const char* at, const char* end);
  const char* DollarBody(const char* at, const char* end);
  const char* Semicolon(const char* at);
  const char* Backslash(const char* at);
  const char* Command(const char* at);
  const char* CopyData(const char* at, const char* end);

  // Up to and with the next `last`, behind which `next` begins.
  const char* Through(char last, State next, const char* at, const char* end);
  // A token begins that is no word; the statement begins with it if none is open.
  void BeginToken(uint64_t offset, char first);
  void OpenStatement(uint64_t offset);
  void AddToWord(const char* bytes, size_t size);
  void EndWord();
  void EndStatement(uint64_t offset);
  void EndCommandName();
  void EndCommand(uint64_t offset);
  // What has been collected is sent: data of its COPY statements begins on the next line.
  void Send();
  void BeginCopyData(uint64_t line_end);
  void EndCopyData(uint64_t offset);
  // Ends whatever is open, as if the script ended at `offset`, which has been reached.
  void EndEverything(uint64_t offset);
  // The text cannot end here without something missing.
  bool IsOpen() const;

  // The open piece ends, and one of `next` begins.
  void BeginPiece(PieceKind next, uint64_t offset);
  void EndPiece(uint64_t offset);
  void HandOut(uint64_t end);
  bool TooLong(uint64_t end) const;
  // kBetween only: hands out what is too long to wait.
  void HandOutLongBetween(uint64_t end);
  void KeepOpenPiece();
  // How many of the last bytes may turn out to belong to the next piece.
  size_t UndecidedBytes() const;

  uint64_t OffsetOf(const char* at) const {
    return chunk_offset_ + static_cast<uint64_t>(at - chunk_.data());
  }
  // The bytes of a range that has not been let go, and its line ends.
  std::string_view Text(uint64_t begin, uint64_t end);
  uint64_t CountLines(uint64_t begin, uint64_t end) const;
  void LetGo(uint64_t end);

  const Options options_;

  // The chunk that is being fed, and its place in the script.
  std::string_view chunk_;
  uint64_t chunk_offset_ = 0;
  const Sink* sink_ = nullptr;

  // The open piece. What came of it in earlier chunks is kept in carry_, which begins at
  // carry_offset_: where the piece begins, or later when it is too long.
  PieceKind kind_ = PieceKind::kBetween;
  uint64_t start_ = 0;
  uint64_t line_ = 1;
  std::string carry_;
  uint64_t carry_offset_ = 0;
  bool dropped_ = false;        // carry_ does not have all of it
  uint64_t dropped_lines_ = 0;  // line ends in what it does not have

  State state_ = State::kPlain;
  StatementShape shape_;
  bool standard_strings_ = true;
  uint8_t mark_bytes_ = 0;      // of a byte order mark
  uint64_t comment_depth_ = 0;  // of /* … */
  std::string tag_;             // a dollar quote's, with both dollars once it is complete
  size_t tag_matched_ = 0;      // bytes of tag_ just seen in the body
  // The beginning of the current word or command name, and its whole length.
  std::array<char, StatementShape::kLongestWord> word_{};
  uint64_t word_bytes_ = 0;
  char command_quote_ = 0;       // the quote that is open in a command's arguments
  bool command_return_ = false;  // the command's last byte is \r

  // COPY … FROM stdin: statements that have not been sent yet, and data that is due.
  uint64_t copies_collected_ = 0;
  uint64_t copies_sent_ = 0;
  DataLine data_line_ = DataLine::kStart;
  uint64_t data_rows_ = 0;
  uint64_t data_lines_ = 0;  // data_rows_ and `\.`

  ResumePoint resume_;
  bool incomplete_ = false;
};

}  // namespace pgparsed::splitter
