#include "grammar/normalize.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "grammar/constant_finder.h"
#include "grammar/library_options.h"

// Last: its macros would break other headers.
#include "grammar/guarded.h"

extern "C" {
#include "common/keywords.h"
#include "parser/scanner.h"
}

namespace pgparsed::grammar {
namespace {

struct Token {
  uint32_t start = 0;
  uint32_t end = 0;
};

// The tokens of a text, comments left out. Its errors are longjmps: use it in RunGuarded.
class TokenReader {
 public:
  TokenReader(const char* sql, void* memory_context)
      : sql_(sql), memory_context_(static_cast<MemoryContext>(memory_context)) {}

  // Before the first Next.
  void Start() {
    scanner_ = scanner_init(sql_, &extra_.known, &ScanKeywords, ScanKeywordTokens);
    values_ = AllocSetContextCreateInternal(memory_context_, "tokens", ALLOCSET_DEFAULT_SIZES);
  }

  // Makes the next token the current one; false at the end.
  bool Next() {
    if (std::exchange(unread_, false)) {
      std::swap(token_, other_);
      return true;
    }
    if (ended_) return false;
    other_ = token_;
    do {
      if (!Read()) {
        ended_ = true;
        return false;
      }
    } while (text().starts_with("--") || text().starts_with("/*"));
    return true;
  }

  // Goes back by one token, once.
  void Unread() {
    std::swap(token_, other_);
    unread_ = true;
  }

  const Token& token() const { return token_; }
  std::string_view text() const { return {sql_ + token_.start, token_.end - token_.start}; }

 private:
  bool Read() {
    // The scanner allocates the value of each name and string.
    if (++tokens_read_ % 4096 == 0) MemoryContextReset(values_);
    CurrentMemoryContext = values_;
    core_YYSTYPE value;
    YYLTYPE location = 0;
    const int number = core_yylex(&value, &location, scanner_);
    CurrentMemoryContext = memory_context_;
    if (number == 0) return false;
    // The scanner keeps a zero behind the token until it reads the next one.
    token_.start = static_cast<uint32_t>(location);
    token_.end = token_.start + static_cast<uint32_t>(std::strlen(extra_.known.scanbuf + location));
    return true;
  }

  const char* const sql_;
  const MemoryContext memory_context_;
  MemoryContext values_ = nullptr;
  core_yyscan_t scanner_ = nullptr;
  // The library's own struct may be longer than that of a server's headers (15).
  struct {
    core_yy_extra_type known;
    char more[64];
  } extra_ = {};
  uint64_t tokens_read_ = 0;
  Token token_;
  Token other_;  // the token before it, or, after Unread, behind it
  bool unread_ = false;
  bool ended_ = false;
};

bool IsUnicodeString(std::string_view token) {
  return token.size() > 3 && (token[0] == 'U' || token[0] == 'u') && token[1] == '&' &&
         token[2] == '\'';
}

bool IsString(std::string_view token) {
  if (token.starts_with('\'') || IsUnicodeString(token)) return true;
  if (token.starts_with('$')) return token.size() > 1 && !(token[1] >= '0' && token[1] <= '9');
  return token.size() > 2 && (token[0] == 'E' || token[0] == 'e') && token[1] == '\'';
}

bool IsKeyword(std::string_view token, std::string_view lower) {
  return std::equal(token.begin(), token.end(), lower.begin(), lower.end(), [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
  });
}

// A part of the text that a parameter takes the place of.
struct Replacement {
  uint32_t start;
  uint32_t end;
  int32_t parameter;  // as in Constant
};

// Finds the text of constants.
class TokenMatcher {
 public:
  // `constants` in the order of the text, without doubles. Room for all results is made here:
  // Match can be left by a longjmp.
  TokenMatcher(std::span<const Constant> constants, std::span<const int32_t> connections,
               TokenReader& tokens)
      : constants_(constants), connections_(connections), tokens_(tokens) {
    replacements_.reserve(constants.size() + connections.size());
    without_text_.reserve(static_cast<size_t>(std::count_if(
        constants.begin(), constants.end(),
        [](const Constant& constant) { return constant.kind != ConstantKind::kToken; })));
  }

  void Match() {
    if (Done()) return;
    tokens_.Start();
    while (!Done() && tokens_.Next()) Take();
  }

  // In the order of the text.
  const std::vector<Replacement>& replacements() const { return replacements_; }
  // The parameters of options that turned out to have no string constant.
  std::vector<int32_t>& without_text() { return without_text_; }

 private:
  bool Done() const { return constants_.empty() && connections_.empty(); }

  void Take() {
    const uint32_t start = tokens_.token().start;
    while (!constants_.empty() && LocationOf(constants_[0]) < start) {
      constants_ = constants_.subspan(1);
    }
    if (!constants_.empty() && LocationOf(constants_[0]) == start) {
      const Constant constant = constants_[0];
      constants_ = constants_.subspan(1);
      if (constant.kind == ConstantKind::kToken) {
        TakeConstant(constant.parameter);
      } else {
        TakeArgument(constant);
      }
    } else if (!connections_.empty() && IsConnectionString()) {
      TakeConstant(connections_[0]);
      connections_ = connections_.subspan(1);
    }
    std::rotate(before_.begin(), before_.begin() + 1, before_.end());
    before_.back() = tokens_.text();
  }

  static uint32_t LocationOf(const Constant& constant) {
    return static_cast<uint32_t>(constant.location);
  }

  // CREATE or ALTER SUBSCRIPTION name CONNECTION '…': the tree has no place for it before 18, and
  // nothing else looks like that but a constant whose place is known.
  bool IsConnectionString() const {
    return IsString(tokens_.text()) && IsKeyword(before_[3], "connection") &&
           IsKeyword(before_[1], "subscription") &&
           (IsKeyword(before_[0], "create") || IsKeyword(before_[0], "alter"));
  }

  // The string behind the name of an option, if there is one; the text of DO is its own name.
  void TakeArgument(const Constant& option) {
    const bool two_words = option.kind == ConstantKind::kTwoTokenOption;
    if (IsString(tokens_.text()) || (tokens_.Next() && IsString(tokens_.text())) ||
        (two_words && tokens_.Next() && IsString(tokens_.text()))) {
      return TakeConstant(option.parameter);
    }
    without_text_.push_back(option.parameter);
    tokens_.Unread();  // the next option may begin with it
  }

  // The constant that begins with the current token: that token, but for signs, the parentheses
  // behind them, and UESCAPE.
  void TakeConstant(int32_t parameter) {
    const uint32_t start = tokens_.token().start;
    int open = 0;
    while (tokens_.text() == "-" || tokens_.text() == "+" || tokens_.text() == "(") {
      if (tokens_.text() == "(") ++open;
      if (!tokens_.Next()) return;
    }
    if (IsUnicodeString(tokens_.text()) && tokens_.Next()) {
      if (IsKeyword(tokens_.text(), "uescape")) {
        tokens_.Next();
      } else {
        tokens_.Unread();
      }
    }
    while (open > 0 && tokens_.Next()) --open;
    replacements_.push_back({.start = start, .end = tokens_.token().end, .parameter = parameter});
  }

  std::span<const Constant> constants_;
  std::span<const int32_t> connections_;
  TokenReader& tokens_;
  std::array<std::string_view, 4> before_;  // the tokens before the current one
  std::vector<Replacement> replacements_;
  std::vector<int32_t> without_text_;
};

// In the order of the text; of several at one place, the one found first stays.
void SortByLocation(std::vector<Constant>& constants) {
  const auto before = [](const Constant& a, const Constant& b) { return a.location < b.location; };
  if (!std::is_sorted(constants.begin(), constants.end(), before)) {
    std::stable_sort(constants.begin(), constants.end(), before);
  }
  const auto same = [](const Constant& a, const Constant& b) { return a.location == b.location; };
  constants.erase(std::unique(constants.begin(), constants.end(), same), constants.end());
}

// Numbers of parameters in the normalized text.
class ParameterNumbers {
 public:
  // `unused` are new parameters that are not in the text.
  ParameterNumbers(int32_t highest_parameter, std::vector<int32_t> unused)
      : highest_parameter_(highest_parameter), unused_(std::move(unused)) {
    std::sort(unused_.begin(), unused_.end());
  }

  int64_t NumberOf(int32_t parameter) const {
    if (parameter >= 0) return parameter;
    const auto lower = std::upper_bound(unused_.begin(), unused_.end(), parameter);
    return int64_t{highest_parameter_} - parameter - (unused_.end() - lower);
  }

 private:
  const int32_t highest_parameter_;
  std::vector<int32_t> unused_;
};

Result<LibraryText> Write(std::string_view sql, std::span<const Replacement> replacements,
                          const ParameterNumbers& numbers) {
  char number[21] = {'$'};
  const auto print = [&](const Replacement& replacement) {
    const char* end =
        std::to_chars(number + 1, std::end(number), numbers.NumberOf(replacement.parameter)).ptr;
    return std::string_view(number, static_cast<size_t>(end - number));
  };
  size_t size = sql.size();
  for (const Replacement& replacement : replacements) {
    size += print(replacement).size();
    size -= replacement.end - replacement.start;
  }
  auto* text = static_cast<char*>(std::malloc(size + 1));
  if (text == nullptr) return MakeGrammarError(Reason::kParserMemoryLimit, "out of memory");
  char* out = text;
  size_t copied = 0;
  const auto append = [&](std::string_view part) {
    std::memcpy(out, part.data(), part.size());
    out += part.size();
  };
  for (const Replacement& replacement : replacements) {
    append(sql.substr(copied, replacement.start - copied));
    append(print(replacement));
    copied = replacement.end;
  }
  append(sql.substr(copied));
  return LibraryText(text, size);
}

}  // namespace

Result<LibraryText> NormalizeStatements(const LibraryScope& scope, const char* sql,
                                        const void* statements, const ParserOptions& options,
                                        bool utility_only) {
  if (utility_only && !kFeatures.normalize_utility) {
    return MakeGrammarError(Reason::kUnsupportedOption,
                            "this grammar cannot normalize utility statements only");
  }
  ConstantFinder finder(scope.memory_context(), utility_only);
  if (auto error = finder.Find(statements)) return *std::move(error);
  SortByLocation(finder.constants());
  TokenReader tokens(sql, scope.memory_context());
  TokenMatcher matcher(finder.constants(), finder.connections(), tokens);
  SetScannerOptions(options);
  auto error =
      RunGuarded(scope.memory_context(), Reason::kSqlSyntaxError, [&] { matcher.Match(); });
  SetScannerOptions({});
  if (error) return *std::move(error);
  return Write(sql, matcher.replacements(),
               ParameterNumbers(finder.highest_parameter(), std::move(matcher.without_text())));
}

}  // namespace pgparsed::grammar
