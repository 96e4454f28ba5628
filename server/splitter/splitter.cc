#include "splitter/splitter.h"

#include <algorithm>
#include <cstring>

#include "splitter/byte_class.h"
#include "splitter/meta_command.h"

namespace pgparsed::splitter {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::string_view kSetting = "standard_conforming_strings";
// A buffer that grew for one large statement is not kept for the next.
constexpr size_t kKeptCapacity = 1 << 20;

const char* Find(char c, const char* at, const char* end) {
  const void* const found = std::memchr(at, c, static_cast<size_t>(end - at));
  return found == nullptr ? end : static_cast<const char*>(found);
}

template <typename Predicate>
const char* EndOfRun(const char* at, const char* end, Predicate belongs) {
  while (at != end && belongs(*at)) ++at;
  return at;
}

// Eight bytes at a time: a line end is the byte that is zero after the exclusive or, and adding to
// its lower seven bits leaves only that byte's high bit clear.
uint64_t CountLineEnds(std::string_view text) {
  constexpr uint64_t kOnes = 0x0101010101010101;
  uint64_t lines = 0;
  while (text.size() >= sizeof(uint64_t)) {
    uint64_t word;
    std::memcpy(&word, text.data(), sizeof(word));
    word ^= kOnes * '\n';
    const uint64_t others = (((word & kOnes * 0x7F) + kOnes * 0x7F) | word) >> 7;
    lines += ((~others & kOnes) * kOnes) >> 56;
    text.remove_prefix(sizeof(word));
  }
  return lines + static_cast<uint64_t>(std::count(text.begin(), text.end(), '\n'));
}

// The value that a SET or RESET statement with kSetting in it gives to that: PostgreSQL's words for
// false are the beginnings of "off" (from two letters on), "false" and "no", and "0".
bool SettingAfter(std::string_view statement) {
  const auto name = std::search(statement.begin(), statement.end(), kSetting.begin(),
                                kSetting.end(), [](char a, char b) { return Lower(a) == b; });
  if (statement.end() - name < static_cast<ptrdiff_t>(kSetting.size())) return true;
  std::string value;
  for (auto at = name + kSetting.size(); at != statement.end(); ++at) {
    if (IsWordByte(*at)) {
      value.push_back(Lower(*at));
    } else if (value == "to") {
      value.clear();
    } else if (!value.empty()) {
      break;
    }
  }
  const auto begins = [&](std::string_view word) {
    return !value.empty() && word.substr(0, value.size()) == value;
  };
  return !(begins("false") || begins("no") || value == "0" || (begins("off") && value != "o"));
}

}  // namespace

Splitter::Splitter(const Options& options)
    : options_(options),
      chunk_offset_(options.start_offset),
      start_(options.start_offset),
      line_(options.start_line),
      state_(options.start_offset == 0 ? State::kByteOrderMark : State::kPlain),
      standard_strings_(options.standard_conforming_strings),
      resume_{options.start_offset, options.start_line, options.standard_conforming_strings} {}

void Splitter::Feed(std::string_view bytes, Sink sink) {
  sink_ = &sink;
  chunk_ = bytes;
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  const char* line_end = nullptr;  // of the line at `at`, once it matters
  while (at != end) {
    if (copies_sent_ == 0 || state_ == State::kCopyData) {
      at = Step(at, end);
      continue;
    }
    // Data is due on the next line, whatever stands in the rest of this one.
    if (line_end == nullptr || line_end < at) line_end = Find('\n', at, end);
    if (at != line_end) {
      at = Step(at, line_end);
    } else {
      BeginCopyData(OffsetOf(at));
      ++at;
    }
  }
  KeepOpenPiece();
  sink_ = nullptr;
}

void Splitter::Finish(Sink sink) {
  sink_ = &sink;
  const uint64_t end = chunk_offset_;
  const ResumePoint resume = resume_;
  if (state_ == State::kCopyData) {
    if (data_line_ == DataLine::kDot || data_line_ == DataLine::kCarriageReturn) {
      --copies_sent_;
    } else {
      incomplete_ = end > start_;
      data_rows_ += data_line_ != DataLine::kStart;
    }
  } else {
    if (state_ == State::kWord) EndWord();  // It may close what is open.
    incomplete_ = IsOpen();
    EndEverything(end);
  }
  EndPiece(end);
  if (incomplete_) {
    resume_ = resume;
  } else if (copies_collected_ == 0 && copies_sent_ == 0) {
    resume_ = {end, line_, standard_strings_};
  }
  sink_ = nullptr;
}

// ---- Tokens ----

const char* Splitter::Step(const char* at, const char* end) {
  switch (state_) {
    case State::kByteOrderMark:
      return ByteOrderMark(at);
    case State::kPlain:
      return Plain(at, end);
    case State::kDash:
      return Dash(at);
    case State::kSlash:
      return Slash(at);
    case State::kLineComment:
      return LineComment(at, end);
    case State::kBlockComment:
    case State::kBlockCommentStar:
    case State::kBlockCommentSlash:
      return BlockComment(at, end);
    case State::kQuote:
      return Through('\'', State::kPlain, at, end);
    case State::kEscapeQuote:
      return EscapeQuote(at, end);
    case State::kEscapeQuoteBackslash:
      state_ = State::kEscapeQuote;
      return at + 1;
    case State::kEscapeQuoteEnd:
    case State::kEscapeQuoteSpace:
    case State::kEscapeQuoteNewLine:
      return EscapeQuoteEnd(at);
    case State::kDoubleQuote:
      return Through('"', State::kPlain, at, end);
    case State::kWord:
      return Word(at, end);
    case State::kUnicodePrefix:
      return UnicodePrefix(at);
    case State::kNumber:
    case State::kNumberJunk:
      return Number(at, end);
    case State::kColon:
      return Colon(at);
    case State::kVariable:
      at = EndOfRun(at, end, IsTagByte);
      if (at != end) state_ = State::kPlain;
      return at;
    case State::kDollar:
      return Dollar(at);
    case State::kDollarTag:
      return DollarTag(at, end);
    case State::kDollarBody:
      return DollarBody(at, end);
    case State::kBackslash:
      return Backslash(at);
    case State::kCommandName:
    case State::kCommandSpace:
    case State::kCommandArguments:
    case State::kCommandQuote:
    case State::kCommandQuoteBackslash:
    case State::kCommandLine:
      return Command(at);
    case State::kCopyData:
      return CopyData(at, end);
  }
  return end;  // not reached
}

const char* Splitter::Through(char last, State next, const char* at, const char* end) {
  at = Find(last, at, end);
  if (at == end) return end;
  state_ = next;
  return at + 1;
}

const char* Splitter::ByteOrderMark(const char* at) {
  if (*at == kByteOrderMark[mark_bytes_]) {
    if (++mark_bytes_ == kByteOrderMark.size()) state_ = State::kPlain;
    return at + 1;
  }
  state_ = State::kPlain;
  if (mark_bytes_ > 0) {
    // It was the beginning of a word.
    OpenStatement(OffsetOf(at) - mark_bytes_);
    word_bytes_ = 0;
    AddToWord(kByteOrderMark.data(), mark_bytes_);
    state_ = State::kWord;
  }
  return at;
}

// The hot loop: what lies whole in the chunk takes no state.
const char* Splitter::Plain(const char* at, const char* end) {
  while (at != end) {
    const char c = *at;
    const Begins begins = WhatBegins(c);
    switch (begins) {
      case Begins::kSpace:
        ++at;
        continue;
      case Begins::kWord:
        if (kind_ != PieceKind::kStatement) OpenStatement(OffsetOf(at));
        if (!shape_.follows()) {
          const char* const word_end = EndOfRun(at, end, IsWordByte);
          // A word of one letter may be the prefix of a quote.
          if (word_end != end && word_end - at > 1) {
            at = word_end;
            continue;
          }
        }
        word_bytes_ = 0;
        state_ = State::kWord;
        at = Word(at, end);
        if (state_ != State::kPlain) return at;
        continue;
      case Begins::kDash:
        state_ = State::kDash;
        return at + 1;
      case Begins::kSlash:
        state_ = State::kSlash;
        return at + 1;
      case Begins::kSemicolon:
        return Semicolon(at);
      case Begins::kBackslash:
        state_ = State::kBackslash;
        return at + 1;
      default:
        break;
    }
    BeginToken(OffsetOf(at), c);
    ++at;
    switch (begins) {
      case Begins::kNumber:
        state_ = State::kNumber;
        if (at != end) at = Number(at, end);
        break;
      case Begins::kQuote:
        state_ = standard_strings_ ? State::kQuote : State::kEscapeQuote;
        if (standard_strings_) at = Through('\'', State::kPlain, at, end);
        break;
      case Begins::kDoubleQuote:
        state_ = State::kDoubleQuote;
        at = Through('"', State::kPlain, at, end);
        break;
      case Begins::kDollar:
        state_ = State::kDollar;
        break;
      case Begins::kColon:
        state_ = State::kColon;
        break;
      case Begins::kOpenParenthesis:
        shape_.OpenParenthesis();
        break;
      case Begins::kCloseParenthesis:
        shape_.CloseParenthesis();
        break;
      default:
        break;
    }
    if (state_ != State::kPlain) return at;
  }
  return at;
}

// Behind a dash: a comment, or the operator that the dash is, or begins.
const char* Splitter::Dash(const char* at) {
  if (*at == '-') {
    state_ = State::kLineComment;
    return at + 1;
  }
  BeginToken(OffsetOf(at) - 1, '-');
  state_ = State::kPlain;
  return at;
}

const char* Splitter::Slash(const char* at) {
  if (*at == '*') {
    comment_depth_ = 1;
    state_ = State::kBlockComment;
    return at + 1;
  }
  BeginToken(OffsetOf(at) - 1, '/');
  state_ = State::kPlain;
  return at;
}

const char* Splitter::LineComment(const char* at, const char* end) {
  at = EndOfRun(at, end, [](char c) { return c != '\n' && c != '\r'; });
  if (at != end) state_ = State::kPlain;
  return at;
}

const char* Splitter::BlockComment(const char* at, const char* end) {
  if (state_ == State::kBlockCommentStar && *at == '/') {
    state_ = --comment_depth_ == 0 ? State::kPlain : State::kBlockComment;
    return at + 1;
  }
  if (state_ == State::kBlockCommentSlash && *at == '*') {
    ++comment_depth_;
    state_ = State::kBlockComment;
    return at + 1;
  }
  for (; at != end; ++at) {
    if (*at == '*' || *at == '/') {
      state_ = *at == '*' ? State::kBlockCommentStar : State::kBlockCommentSlash;
      return at + 1;
    }
  }
  state_ = State::kBlockComment;
  return end;
}

const char* Splitter::EscapeQuote(const char* at, const char* end) {
  at = EndOfRun(at, end, [](char c) { return c != '\'' && c != '\\'; });
  if (at == end) return end;
  state_ = *at == '\'' ? State::kEscapeQuoteEnd : State::kEscapeQuoteBackslash;
  return at + 1;
}

const char* Splitter::EscapeQuoteEnd(const char* at) {
  if (*at == '\'' && state_ != State::kEscapeQuoteSpace) {
    state_ = State::kEscapeQuote;
  } else if (*at == '\n' || *at == '\r') {
    state_ = State::kEscapeQuoteNewLine;
  } else if (!IsSpace(*at)) {
    state_ = State::kPlain;
    return at;
  } else if (state_ == State::kEscapeQuoteEnd) {
    state_ = State::kEscapeQuoteSpace;
  }
  return at + 1;
}

const char* Splitter::Word(const char* at, const char* end) {
  const char* const begin = at;
  at = EndOfRun(at, end, IsWordByte);
  AddToWord(begin, static_cast<size_t>(at - begin));
  if (at == end) return end;
  if (word_bytes_ == 1 && (*at == '\'' || *at == '&')) {
    const char prefix = Lower(word_[0]);
    if (prefix == 'u' && *at == '&') {
      state_ = State::kUnicodePrefix;
      return at + 1;
    }
    if (*at == '\'' && (prefix == 'e' || prefix == 'b' || prefix == 'x')) {
      if (shape_.follows()) shape_.Token('\'');
      state_ = prefix == 'e' ? State::kEscapeQuote : State::kQuote;
      return at + 1;
    }
  }
  EndWord();
  return at;
}

const char* Splitter::UnicodePrefix(const char* at) {
  if (*at == '\'' || *at == '"') {
    // No backslash escapes a quote here.
    if (shape_.follows()) shape_.Token(*at);
    state_ = *at == '"' ? State::kDoubleQuote : State::kQuote;
    return at + 1;
  }
  EndWord();
  if (shape_.follows()) shape_.Token('&');
  return at;
}

// 1e'…' is the junk 1e and then an ordinary quote.
const char* Splitter::Number(const char* at, const char* end) {
  if (state_ == State::kNumber) {
    at = EndOfRun(at, end, [](char c) { return IsDigit(c) || c == '_' || c == '.'; });
    if (at == end) return end;
    state_ = IsWordStart(*at) ? State::kNumberJunk : State::kPlain;
  }
  if (state_ == State::kNumberJunk) {
    at = EndOfRun(at, end, IsWordByte);
    if (at != end) state_ = State::kPlain;
  }
  return at;
}

const char* Splitter::Colon(const char* at) {
  if (*at == ':' || *at == '=') {
    state_ = State::kPlain;
    return at + 1;
  }
  state_ = IsTagByte(*at) ? State::kVariable : State::kPlain;
  return at;
}

const char* Splitter::Dollar(const char* at) {
  tag_.assign(1, '$');
  if (IsWordStart(*at) || *at == '$') {
    state_ = State::kDollarTag;
    return at;
  }
  state_ = IsDigit(*at) ? State::kNumber : State::kPlain;  // $1
  return at;
}

const char* Splitter::DollarTag(const char* at, const char* end) {
  const char* const begin = at;
  at = EndOfRun(at, end, IsTagByte);
  tag_.append(begin, std::min(static_cast<size_t>(at - begin), kMaxTagBytes + 2 - tag_.size()));
  if (at == end) return end;
  if (*at == '$' && tag_.size() <= kMaxTagBytes + 1) {
    tag_.push_back('$');
    tag_matched_ = 0;
    state_ = State::kDollarBody;
    return at + 1;
  }
  // The dollar stood alone, and a word follows it.
  word_bytes_ = 0;
  AddToWord(tag_.data() + 1, tag_.size() - 1);
  tag_.clear();
  state_ = State::kWord;
  return at;
}

// The delimiter has dollars at its ends only, so where it does not go on, the one place where it
// can begin anew is this byte.
const char* Splitter::DollarBody(const char* at, const char* end) {
  while (at != end) {
    if (tag_matched_ == 0) {
      at = Find('$', at, end);
      if (at == end) return end;
      tag_matched_ = 1;
      ++at;
    } else if (*at != tag_[tag_matched_]) {
      tag_matched_ = 0;
    } else {
      ++at;
      if (++tag_matched_ == tag_.size()) {
        tag_.clear();
        state_ = State::kPlain;
        return at;
      }
    }
  }
  return at;
}

void Splitter::AddToWord(const char* bytes, size_t size) {
  if (word_bytes_ < word_.size()) {
    std::copy_n(bytes, std::min(size, static_cast<size_t>(word_.size() - word_bytes_)),
                word_.begin() + static_cast<ptrdiff_t>(word_bytes_));
  }
  word_bytes_ += size;
}

void Splitter::EndWord() {
  state_ = State::kPlain;
  if (!shape_.follows()) return;
  if (word_bytes_ > word_.size()) word_bytes_ = 0;
  const auto end = word_.begin() + static_cast<ptrdiff_t>(word_bytes_);
  std::transform(word_.begin(), end, word_.begin(), Lower);
  shape_.Word(std::string_view(word_.data(), word_bytes_));
}

void Splitter::BeginToken(uint64_t offset, char first) {
  if (kind_ != PieceKind::kStatement) OpenStatement(offset);
  if (shape_.follows() && first != '(' && first != ')') shape_.Token(first);
}

// ---- Statements, commands, data ----

void Splitter::OpenStatement(uint64_t offset) {
  shape_.Reset();
  BeginPiece(PieceKind::kStatement, offset);
}

void Splitter::EndStatement(uint64_t offset) {
  if (options_.copy_data && shape_.copies_from_stdin()) ++copies_collected_;
  BeginPiece(PieceKind::kBetween, offset);
}

void Splitter::Send() {
  copies_sent_ += copies_collected_;
  copies_collected_ = 0;
}

// Ends the step where data may be due on the next line.
const char* Splitter::Semicolon(const char* at) {
  state_ = State::kPlain;
  if (kind_ == PieceKind::kStatement) {
    if (!shape_.Semicolon()) return at + 1;
    EndStatement(OffsetOf(at));
  }
  Send();
  return at + 1;
}

// Behind a backslash, which has not been given to any piece yet.
const char* Splitter::Backslash(const char* at) {
  const uint64_t backslash = OffsetOf(at) - 1;
  state_ = State::kPlain;
  if (*at == ':') {
    BeginToken(backslash, ':');
    return at + 1;
  }
  const bool in_statement = kind_ == PieceKind::kStatement;
  if (*at == ';' && in_statement && !shape_.Semicolon()) return at + 1;
  if (in_statement) EndStatement(backslash);
  if (*at == ';' || *at == '\\') return at + 1;
  BeginPiece(PieceKind::kMetaCommand, backslash);
  word_bytes_ = 0;
  command_return_ = false;
  state_ = State::kCommandName;
  return at;
}

const char* Splitter::Command(const char* at) {
  const char c = *at;
  if (state_ == State::kCommandName && (IsSpace(c) || c == '\\')) EndCommandName();
  if (c == '\n') {
    EndCommand(OffsetOf(at));
    return at;
  }
  command_return_ = c == '\r';
  switch (state_) {
    case State::kCommandName:
      AddToWord(at, 1);
      return at + 1;
    case State::kCommandSpace:
      if (c == ' ' || c == '\t') return at + 1;
      state_ = c == '|' ? State::kCommandLine : State::kCommandArguments;
      return at;
    case State::kCommandArguments:
      if (c == '\\') {
        EndCommand(OffsetOf(at));
        return at;
      }
      if (c == '\'' || c == '"' || c == '`') {
        command_quote_ = c;
        state_ = State::kCommandQuote;
      }
      return at + 1;
    case State::kCommandQuote:
      if (c == command_quote_) state_ = State::kCommandArguments;
      if (c == '\\' && command_quote_ == '\'') state_ = State::kCommandQuoteBackslash;
      return at + 1;
    case State::kCommandQuoteBackslash:
      state_ = State::kCommandQuote;
      return at + 1;
    default:  // kCommandLine
      return at + 1;
  }
}

void Splitter::EndCommandName() {
  if (word_bytes_ > word_.size()) word_bytes_ = 0;  // none that is known
  switch (ArgumentsOf(std::string_view(word_.data(), word_bytes_))) {
    case Arguments::kWords:
      state_ = State::kCommandArguments;
      break;
    case Arguments::kWholeLine:
      state_ = State::kCommandLine;
      break;
    case Arguments::kPipe:
      state_ = State::kCommandSpace;
      break;
  }
}

void Splitter::EndCommand(uint64_t offset) {
  if (state_ == State::kCommandName) EndCommandName();
  if (command_return_) --offset;  // a part of the line end
  const std::string_view name(word_.data(), word_bytes_);
  if (SendsStatements(name)) {
    Send();
  } else if (DropsStatements(name)) {
    copies_collected_ = 0;
  } else if (name == "copy" && options_.copy_data && !TooLong(offset) &&
             CopiesFromScript(Text(start_, offset))) {
    Send();
    ++copies_sent_;
  }
  state_ = State::kPlain;
  BeginPiece(PieceKind::kBetween, offset);
}

void Splitter::BeginCopyData(uint64_t line_end) {
  EndEverything(line_end);
  BeginPiece(PieceKind::kCopyData, line_end + 1);
  data_line_ = DataLine::kStart;
  state_ = State::kCopyData;
}

const char* Splitter::CopyData(const char* at, const char* end) {
  while (at != end) {
    switch (data_line_) {
      case DataLine::kStart:
        data_line_ = *at == '\\' ? DataLine::kBackslash : DataLine::kRow;
        if (data_line_ == DataLine::kBackslash) ++at;
        break;
      case DataLine::kBackslash:
        data_line_ = *at == '.' ? DataLine::kDot : DataLine::kRow;
        if (data_line_ == DataLine::kDot) ++at;
        break;
      case DataLine::kDot:
        if (*at == '\r') {
          data_line_ = DataLine::kCarriageReturn;
          ++at;
          break;
        }
        [[fallthrough]];
      case DataLine::kCarriageReturn:
        if (*at == '\n') {
          EndCopyData(OffsetOf(at) + 1);
          return at + 1;
        }
        data_line_ = DataLine::kRow;
        break;
      case DataLine::kRow:
        at = Find('\n', at, end);
        if (at == end) return end;
        ++at;
        ++data_rows_;
        ++data_lines_;
        data_line_ = DataLine::kStart;
        break;
    }
  }
  return at;
}

// Data of the next COPY follows at once if more than one was sent.
void Splitter::EndCopyData(uint64_t offset) {
  --copies_sent_;
  ++data_lines_;
  data_line_ = DataLine::kStart;
  state_ = copies_sent_ > 0 ? State::kCopyData : State::kPlain;
  BeginPiece(copies_sent_ > 0 ? PieceKind::kCopyData : PieceKind::kBetween, offset);
}

void Splitter::EndEverything(uint64_t offset) {
  switch (state_) {
    case State::kByteOrderMark:
      if (mark_bytes_ > 0) OpenStatement(offset - mark_bytes_);
      break;
    case State::kDash:
    case State::kSlash:
      BeginToken(offset - 1, '-');
      break;
    case State::kWord:
    case State::kUnicodePrefix:
      EndWord();
      break;
    case State::kBackslash:
      if (kind_ == PieceKind::kStatement) EndStatement(offset - 1);
      BeginPiece(PieceKind::kMetaCommand, offset - 1);
      word_bytes_ = 0;
      command_return_ = false;
      break;
    default:
      break;
  }
  if (kind_ == PieceKind::kStatement) EndStatement(offset);
  if (kind_ == PieceKind::kMetaCommand) EndCommand(offset);
  tag_.clear();
  state_ = State::kPlain;
}

bool Splitter::IsOpen() const {
  switch (state_) {
    case State::kBlockComment:
    case State::kBlockCommentStar:
    case State::kBlockCommentSlash:
    case State::kQuote:
    case State::kEscapeQuote:
    case State::kEscapeQuoteBackslash:
    case State::kDoubleQuote:
    case State::kDollarBody:
      return true;
    default:
      return kind_ == PieceKind::kStatement && shape_.open();
  }
}

// ---- Pieces and their bytes ----

void Splitter::BeginPiece(PieceKind next, uint64_t offset) {
  EndPiece(offset);
  kind_ = next;
  if (next != PieceKind::kCopyData && copies_collected_ == 0 && copies_sent_ == 0) {
    resume_ = {start_, line_, standard_strings_};
  }
}

void Splitter::EndPiece(uint64_t offset) {
  if (kind_ == PieceKind::kBetween) HandOutLongBetween(offset);
  if (offset > start_) HandOut(offset);
}

void Splitter::HandOutLongBetween(uint64_t end) {
  while (end - start_ >= kMaxBetweenBytes) HandOut(start_ + kMaxBetweenBytes);
}

bool Splitter::TooLong(uint64_t end) const { return end - start_ > options_.max_statement_bytes; }

void Splitter::HandOut(uint64_t end) {
  Piece piece;
  piece.kind = kind_;
  piece.offset = start_;
  piece.length = end - start_;
  piece.line = line_;
  std::string_view text;
  bool next_standard_strings = standard_strings_;
  if (kind_ == PieceKind::kCopyData) {
    piece.copy_rows = data_rows_;
    line_ += data_lines_;
    data_rows_ = 0;
    data_lines_ = 0;
  } else {
    piece.too_long = kind_ != PieceKind::kBetween && TooLong(end);
    line_ += dropped_lines_ + CountLines(dropped_ ? carry_offset_ : start_, end);
    if (!piece.too_long) text = Text(start_, end);
    if (kind_ == PieceKind::kStatement && shape_.sets_strings() && !piece.too_long) {
      next_standard_strings = SettingAfter(text);
    }
  }
  (*sink_)(piece, text);
  standard_strings_ = next_standard_strings;
  start_ = end;
  dropped_ = false;
  dropped_lines_ = 0;
  LetGo(end);
}

// The chunk goes: what the open piece needs of it is kept, or handed out where it is long.
void Splitter::KeepOpenPiece() {
  const uint64_t end = chunk_offset_ + chunk_.size();
  const uint64_t decided = end - UndecidedBytes();
  uint64_t keep = start_;
  if (kind_ == PieceKind::kCopyData) {
    keep = end;
  } else if (kind_ == PieceKind::kBetween) {
    HandOutLongBetween(decided);
    keep = start_;
  } else if (TooLong(decided)) {
    dropped_lines_ += CountLines(dropped_ ? carry_offset_ : start_, decided);
    dropped_ = true;
    keep = decided;
  }
  LetGo(keep);
  if (carry_.empty()) carry_offset_ = keep;
  const uint64_t from = std::max(keep, chunk_offset_);
  carry_.append(chunk_.substr(from - chunk_offset_));
  chunk_ = {};
  chunk_offset_ = end;
}

size_t Splitter::UndecidedBytes() const {
  switch (state_) {
    case State::kByteOrderMark:
      return mark_bytes_;
    case State::kDash:
    case State::kSlash:
    case State::kBackslash:
      return 1;
    default:
      return kind_ == PieceKind::kMetaCommand && command_return_ ? 1 : 0;
  }
}

std::string_view Splitter::Text(uint64_t begin, uint64_t end) {
  if (begin >= chunk_offset_) return chunk_.substr(begin - chunk_offset_, end - begin);
  const uint64_t carried_to = carry_offset_ + carry_.size();
  if (end > carried_to) {
    carry_.append(chunk_.substr(carried_to - chunk_offset_, end - carried_to));
  }
  return std::string_view(carry_).substr(begin - carry_offset_, end - begin);
}

uint64_t Splitter::CountLines(uint64_t begin, uint64_t end) const {
  uint64_t lines = 0;
  if (begin < chunk_offset_) {
    const uint64_t carried = std::min(end, chunk_offset_);
    lines += CountLineEnds(std::string_view(carry_).substr(begin - carry_offset_, carried - begin));
    begin = carried;
  }
  if (begin < end) lines += CountLineEnds(chunk_.substr(begin - chunk_offset_, end - begin));
  return lines;
}

void Splitter::LetGo(uint64_t end) {
  const uint64_t carried_to = carry_offset_ + carry_.size();
  if (end < carried_to) {
    if (end > carry_offset_) {
      carry_.erase(0, end - carry_offset_);
      carry_offset_ = end;
    }
    return;
  }
  carry_.clear();
  if (carry_.capacity() > kKeptCapacity) carry_.shrink_to_fit();
}

}  // namespace pgparsed::splitter
