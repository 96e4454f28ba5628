// The splitter over the corpus, against two references: psql's rules (psql_splitter.h), and the
// parsers of all grammars for what they take. And the cases of known faults that are about
// splitting.
#include <gtest/gtest.h>

#include <algorithm>
#include <compare>
#include <cstdint>
#include <iterator>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "splitter/split_text.h"
#include "tests/conformance/corpus.h"
#include "tests/conformance/fault_case.h"
#include "tests/conformance/oracle_client.h"
#include "tests/conformance/psql_splitter.h"

namespace pgparsed::conformance {
namespace {

using splitter::Piece;
using splitter::PieceKind;

// A piece as both splitters can tell it.
struct Range {
  size_t offset = 0;
  size_t length = 0;
  PieceKind kind = PieceKind::kStatement;
  size_t line = 1;
  size_t copy_rows = 0;

  size_t end() const { return offset + length; }
  auto operator<=>(const Range&) const = default;
};

void PrintTo(const Range& range, std::ostream* out) {
  *out << "kind " << static_cast<int>(range.kind) << " on line " << range.line << ", bytes "
       << range.offset << " to " << range.end() << ", " << range.copy_rows << " rows";
}

const std::vector<CorpusScript>& Scripts() {
  static const auto* const scripts = [] {
    auto loaded = LoadScripts(PGPARSED_CORPUS);
    EXPECT_TRUE(loaded.ok()) << loaded.status();
    return new std::vector<CorpusScript>(loaded.ok() ? *std::move(loaded)
                                                     : std::vector<CorpusScript>());
  }();
  return *scripts;
}

// The first byte from `at` on that is no white space and in no comment.
size_t SkipBlank(std::string_view text, size_t at) {
  while (at < text.size()) {
    if (std::string_view(" \t\n\r\f\v").find(text[at]) != std::string_view::npos) {
      ++at;
    } else if (text.substr(at, 2) == "--") {
      at = std::min(text.find_first_of("\r\n", at), text.size());
    } else if (text.substr(at, 2) == "/*") {
      for (int depth = 0; at < text.size();) {
        const std::string_view next = text.substr(at, 2);
        depth += next == "/*" ? 1 : next == "*/" ? -1 : 0;
        at += next == "/*" || next == "*/" ? 2 : 1;
        if (depth == 0) break;
      }
      at = std::min(at, text.size());
    } else {
      break;
    }
  }
  return at;
}

// Adds the statement between two places of the script, if there is any.
void AddStatement(std::string_view script, size_t begin, size_t end, std::vector<Range>& ranges) {
  begin = SkipBlank(script.substr(0, end), begin);
  std::string_view text = script.substr(begin, end - begin);
  if (text.ends_with(';')) text.remove_suffix(text.ends_with("\\;") ? 2 : 1);
  if (!text.empty()) ranges.push_back({.offset = begin, .length = text.size()});
}

// The pieces of psql's rules as the splitter would tell them: statements begin behind blanks and
// end before the semicolon, a command cuts the statement that it stands in, and what \r drops is a
// statement too.
std::vector<Range> PsqlRanges(std::string_view script, int* cut_by_commands) {
  const std::vector<PsqlPiece> pieces = SplitPsqlScript(script);
  std::vector<Range> ranges;
  const auto add_cut = [&](size_t begin, size_t end) {
    for (const PsqlPiece& command : pieces) {
      if (command.kind != PsqlPiece::Kind::kMetaCommand || command.offset < begin ||
          command.offset >= end) {
        continue;
      }
      AddStatement(script, begin, command.offset, ranges);
      begin = command.offset + command.length;
      if (script.substr(begin, 2) == "\\\\") begin += 2;
      ++*cut_by_commands;
    }
    AddStatement(script, begin, end, ranges);
  };
  size_t statement_begin = 0;  // where one may begin that \r drops
  for (const PsqlPiece& piece : pieces) {
    const size_t end = piece.offset + piece.length;
    if (piece.kind == PsqlPiece::Kind::kStatement) {
      add_cut(piece.offset, end);
    } else {
      if (piece.text == "\\r") add_cut(statement_begin, piece.offset);
      const bool data = piece.kind == PsqlPiece::Kind::kCopyData;
      ranges.push_back({piece.offset, piece.length,
                        data ? PieceKind::kCopyData : PieceKind::kMetaCommand, 1, piece.copy_rows});
      if (!data && piece.text != "\\r") continue;
    }
    statement_begin = std::max(statement_begin, end);
  }
  std::sort(ranges.begin(), ranges.end());
  return ranges;
}

void CountLines(std::string_view script, std::vector<Range>& ranges) {
  size_t at = 0;
  size_t line = 1;
  for (Range& range : ranges) {
    line +=
        static_cast<size_t>(std::count(script.begin() + at, script.begin() + range.offset, '\n'));
    at = range.offset;
    range.line = line;
  }
}

// Both are in order. Tells where they differ, never the text.
void ExpectSame(const std::vector<Range>& actual, const std::vector<Range>& expected,
                const std::string& file) {
  std::vector<Range> only_actual;
  std::vector<Range> only_expected;
  std::set_difference(actual.begin(), actual.end(), expected.begin(), expected.end(),
                      std::back_inserter(only_actual));
  std::set_difference(expected.begin(), expected.end(), actual.begin(), actual.end(),
                      std::back_inserter(only_expected));
  EXPECT_EQ(only_actual, only_expected) << file;
}

std::vector<Range> SplitterRanges(const std::vector<Piece>& pieces) {
  std::vector<Range> ranges;
  for (const Piece& piece : pieces) {
    if (piece.kind == PieceKind::kBetween) continue;
    ranges.push_back({piece.offset, piece.length, piece.kind, piece.line, piece.copy_rows});
  }
  return ranges;
}

std::vector<Piece> Stream(std::string_view script, size_t part_bytes) {
  std::vector<Piece> pieces;
  splitter::Splitter splitter;
  const auto sink = [&](const Piece& piece, std::string_view) { pieces.push_back(piece); };
  for (size_t at = 0; at < script.size(); at += part_bytes) {
    splitter.Feed(script.substr(at, part_bytes), sink);
  }
  splitter.Finish(sink);
  return pieces;
}

// COPY … FROM stdin that the server refuses, so that the scripts go on with SQL. psql asks the
// server, the reference guesses from what follows, and the splitter takes lines up to the next
// `\.`.
struct RefusedCopy {
  std::string_view file;
  size_t line;      // on which the lines begin that the splitter takes
  bool to_the_end;  // there is no `\.`: only a stream takes them
};
constexpr RefusedCopy kRefusedCopies[] = {
    {"postgres-regress/alter_table.sql", 1152, false},
    {"postgres-regress/copy.sql", 212, false},
    {"postgres-regress/copy2.sql", 55, false},
    {"postgres-regress/copy2.sql", 150, false},
    {"postgres-regress/copy2.sql", 354, false},
    {"postgres-regress/copy2.sql", 383, false},
    {"postgres-regress/copy2.sql", 616, false},
    {"postgres-regress/generated.sql", 201, false},
    {"postgres-regress/generated.sql", 217, true},
    {"postgres-regress/privileges.sql", 250, false},
    {"postgres-regress/privileges.sql", 530, false},
    {"postgres-regress/rowsecurity.sql", 1656, false},
    {"postgres-regress/rowsecurity.sql", 1673, true},
};

// Lines where a parenthesis is opened in a branch of \if that psql never takes: the reference takes
// every branch and waits for the closing one, for the splitter a command ends the statement.
constexpr std::string_view kOpenInABranch = "postgres-regress/psql.sql";
constexpr size_t kOpenInABranchBegin = 876;
constexpr size_t kOpenInABranchEnd = 879;

// `split` gives the pieces of one script.
template <typename Split>
void CompareWithPsql(bool stream, Split split) {
  size_t statements = 0;
  size_t refused = 0;
  int cut_by_commands = 0;
  for (const CorpusScript& script : Scripts()) {
    std::vector<Range> expected = PsqlRanges(script.text, &cut_by_commands);
    CountLines(script.text, expected);
    std::vector<Range> actual = SplitterRanges(split(script.text));
    if (script.file == kOpenInABranch) {
      const auto in_branch = [](const Range& range) {
        return range.line >= kOpenInABranchBegin && range.line < kOpenInABranchEnd;
      };
      EXPECT_EQ(std::erase_if(actual, in_branch), 8u);
      EXPECT_EQ(std::erase_if(expected, in_branch), 7u);
    }
    for (const Range& range : actual) {
      statements += range.kind == PieceKind::kStatement;
      if (range.kind != PieceKind::kCopyData ||
          std::find(expected.begin(), expected.end(), range) != expected.end()) {
        continue;
      }
      const bool known = std::any_of(std::begin(kRefusedCopies), std::end(kRefusedCopies),
                                     [&](const RefusedCopy& copy) {
                                       return copy.file == script.file && copy.line == range.line &&
                                              (stream || !copy.to_the_end);
                                     });
      EXPECT_TRUE(known) << script.file << ": " << testing::PrintToString(range);
      if (!known) continue;
      ++refused;
      std::erase_if(expected, [&](const Range& other) {
        return other.offset >= range.offset && other.offset < range.end();
      });
      expected.insert(std::upper_bound(expected.begin(), expected.end(), range), range);
    }
    ExpectSame(actual, expected, script.file);
  }
  const auto known = std::count_if(std::begin(kRefusedCopies), std::end(kRefusedCopies),
                                   [&](const auto& copy) { return stream || !copy.to_the_end; });
  EXPECT_EQ(refused, static_cast<size_t>(known));
  EXPECT_GT(statements, 45'000u);
  EXPECT_GT(cut_by_commands, 0);
}

TEST(SplitterCorpus, AgreesWithPsql) {
  CompareWithPsql(false, [](std::string_view text) { return splitter::SplitText(text).pieces; });
}

TEST(SplitterCorpus, AgreesWithPsqlAsAStream) {
  CompareWithPsql(true, [](std::string_view text) { return Stream(text, 4096); });
}

TEST(SplitterCorpus, GivesTheSameByteByByte) {
  for (const CorpusScript& script : Scripts()) {
    EXPECT_EQ(Stream(script.text, 1), Stream(script.text, script.text.size())) << script.file;
  }
}

// The statements of the text that the parser tells: behind blanks, to the semicolon.
std::vector<Range> ParserRanges(std::string_view text, std::string_view answer) {
  std::vector<Range> ranges;
  for (const OracleSplit& split : DecodeSplits(answer)) {
    const size_t end = static_cast<size_t>(split.location + split.length);
    const size_t begin = SkipBlank(text, static_cast<size_t>(split.location));
    ranges.push_back({.offset = begin, .length = end - begin});
  }
  CountLines(text, ranges);
  return ranges;
}

std::vector<Range> SqlRanges(std::string_view text) {
  splitter::Options options;
  options.copy_data = false;  // the parser knows of none
  const splitter::SplitResult result = splitter::SplitText(text, options);
  EXPECT_FALSE(result.incomplete);
  return SplitterRanges(result.pieces);
}

class SplitterAgainstParser : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    auto client = OracleClient::Start(absl::StrCat(PGPARSED_ORACLE_DIR "/oracle-", GetParam()));
    ASSERT_TRUE(client.ok()) << client.status();
    client_ = *std::move(client);
  }

  // Whether the parser takes the text, and where it sees statements.
  bool Parse(const std::string& text, std::vector<Range>* ranges) {
    if (text.find('\0') != std::string::npos) return false;
    const auto answers = client_->Ask(Mask(OracleOperation::kSplitParser), text);
    EXPECT_TRUE(answers.ok()) << answers.status();
    if (!answers.ok()) return false;
    const OracleAnswer& answer = answers->at(OracleOperation::kSplitParser);
    if (answer.state != OracleAnswer::State::kOk) return false;
    *ranges = ParserRanges(text, answer.bytes);
    return true;
  }

  std::unique_ptr<OracleClient> client_;
};

TEST_P(SplitterAgainstParser, AgreesOnScriptsThatAreSqlOnly) {
  size_t files = 0;
  size_t statements = 0;
  for (const CorpusScript& script : Scripts()) {
    std::vector<Range> expected;
    if (!Parse(script.text, &expected)) continue;
    ++files;
    statements += expected.size();
    ExpectSame(SqlRanges(script.text), expected, script.file);
  }
  EXPECT_GT(files, 80u);
  EXPECT_GT(statements, 10'000u);
}

TEST_P(SplitterAgainstParser, AgreesOnTheStatementsThatTheParserTakes) {
  size_t statements = 0;
  for (const CorpusScript& script : Scripts()) {
    std::string text;
    std::vector<Range> expected;
    for (const std::string& statement : PsqlStatements(script.text)) {
      if (!Parse(statement, &expected)) continue;
      text.append(statement).append("\n;\n");
    }
    ASSERT_TRUE(Parse(text, &expected)) << script.file;
    statements += expected.size();
    ExpectSame(SqlRanges(text), expected, script.file);
  }
  EXPECT_GT(statements, 40'000u);
}

INSTANTIATE_TEST_SUITE_P(
    Grammar, SplitterAgainstParser,
    testing::ValuesIn(std::vector<std::string>(absl::StrSplit(PGPARSED_ORACLE_GRAMMARS, ','))));

TEST(SplitterFaults, AreAnsweredAsExpected) {
  const auto cases = LoadFaultCases(PGPARSED_CASES);
  ASSERT_TRUE(cases.ok()) << cases.status();
  size_t checked = 0;
  for (const FaultCase& fault : *cases) {
    if (fault.op != "split" && fault.op != "parse_script") continue;
    const splitter::SplitResult result = splitter::SplitText(fault.sql);
    const auto count = [&](PieceKind kind) {
      return std::count_if(result.pieces.begin(), result.pieces.end(),
                           [&](const Piece& piece) { return piece.kind == kind; });
    };
    for (const auto& [key, value] : fault.expect.items()) {
      if (key == "pieces" || key == "statements") {
        EXPECT_EQ(count(PieceKind::kStatement), value.get<int>()) << fault.id;
      } else if (key == "meta_commands") {
        EXPECT_EQ(count(PieceKind::kMetaCommand), value.get<int>()) << fault.id;
      } else if (key == "copy_rows") {
        uint64_t rows = 0;
        for (const Piece& piece : result.pieces) rows += piece.copy_rows;
        EXPECT_EQ(rows, value.get<uint64_t>()) << fault.id;
      } else if (key == "note") {
        EXPECT_EQ(result.incomplete,
                  value.get<std::string>().find("incomplete") != std::string::npos)
            << fault.id;
      } else {
        ADD_FAILURE() << fault.id << ": unknown expectation " << key;
      }
    }
    ++checked;
  }
  EXPECT_GE(checked, 5u);
}

}  // namespace
}  // namespace pgparsed::conformance
