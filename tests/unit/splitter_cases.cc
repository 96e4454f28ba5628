#include "splitter_cases.h"

#include <numeric>

namespace pgparsed::splitter {
namespace {

Options At(uint64_t offset, uint64_t line) {
  Options options;
  options.start_offset = offset;
  options.start_line = line;
  return options;
}

Options EscapesInQuotes() {
  Options options;
  options.standard_conforming_strings = false;
  return options;
}

Options NoData() {
  Options options;
  options.copy_data = false;
  return options;
}

}  // namespace

const std::vector<ScriptCase>& ScriptCases() {
  static const auto* const cases = new std::vector<ScriptCase>{
      {"Empty", "", {}},
      {"OnlySpaceAndComments", " \n-- a;\n/* ; */\t", {"b  \n-- a;\n/* ; */\t"}},
      {"TwoOnALine", "SELECT 1; SELECT 2;", {"s SELECT 1", "b ; ", "s SELECT 2", "b ;"}},
      {"LastWithoutSemicolon", "SELECT 1;\nSELECT 2 \n", {"s SELECT 1", "b ;\n", "s SELECT 2 \n"}},
      {"EmptyStatements", ";; /* a */ ;", {"b ;; /* a */ ;"}},
      {"CommentsBefore",
       "-- a\n/* b */ SELECT 1; -- c\nSELECT 2",
       {"b -- a\n/* b */ ", "s SELECT 1", "b ; -- c\n", "s SELECT 2"}},
      {"CommentsInside",
       "SELECT 1 -- a;\n, 2 /* ; */ ; SELECT 3",
       {"s SELECT 1 -- a;\n, 2 /* ; */ ", "b ; ", "s SELECT 3"}},
      {"LineCommentEndsAtCarriageReturn",
       "-- a\rSELECT 1;-- b",
       {"b -- a\r", "s SELECT 1", "b ;-- b"}},
      {"NestedComment",
       "SELECT /* ; /*/ ; */ ; **/ 1; SELECT 2",
       {"s SELECT /* ; /*/ ; */ ; **/ 1", "b ; ", "s SELECT 2"}},
      {"OpenComment", "SELECT 1; /* /* */", {"s SELECT 1", "b ; /* /* */"}, true},
      {"OpenCommentInStatement", "SELECT 1 /* ;", {"s SELECT 1 /* ;"}, true},
      {"SlashesAndStarsOfComments",
       "/***//*//*/;**/*/SELECT 1",
       {"b /***//*//*/;**/*/", "s SELECT 1"}},
      {"CommentsCutOperators",
       "SELECT 1 +/* ; */ 2, 3 +-- ;\n4, 5-/**/6;",
       {"s SELECT 1 +/* ; */ 2, 3 +-- ;\n4, 5-/**/6", "b ;"}},
      {"StatementOfAnOperator",
       " -1; /2; -; /",
       {"b  ", "s -1", "b ; ", "s /2", "b ; ", "s -", "b ; ", "s /"}},
      {"DashAndSlash", "-/*a*/ 1;/-- b", {"s -/*a*/ 1", "b ;", "s /-- b"}},

      {"Quote",
       "SELECT 'a;''b;\\'; SELECT 2;",
       {"s SELECT 'a;''b;\\'", "b ; ", "s SELECT 2", "b ;"}},
      {"EscapeQuote",
       "SELECT E'a\\';''\\\\;', e'\\\\';",
       {"s SELECT E'a\\';''\\\\;', e'\\\\'", "b ;"}},
      {"EscapeQuoteGoesOnOverTheLineEnd",
       "SELECT E'a' \n 'b\\';', E'a'\r'\\';'; SELECT E'a' 'b\\'",
       {"s SELECT E'a' \n 'b\\';', E'a'\r'\\';'", "b ; ", "s SELECT E'a' 'b\\'"}},
      {"OrdinaryQuoteGoesOnAsOne",
       "SELECT 'a'\n'b\\'; SELECT 2",
       {"s SELECT 'a'\n'b\\'", "b ; ", "s SELECT 2"}},
      {"WordThatEndsInE",
       "SELECT tableE'\\'; SELECT 1E'\\'; SELECT a.e'\\';'",
       {"s SELECT tableE'\\'", "b ; ", "s SELECT 1E'\\'", "b ; ", "s SELECT a.e'\\';'"}},
      {"CastToE", "SELECT 1::E'\\';'; SELECT 2", {"s SELECT 1::E'\\';'", "b ; ", "s SELECT 2"}},
      {"OtherQuotes",
       "SELECT U&'\\', N'\\', B'1', x'\\', u&\"\\;\", \"a;\"\"b\"; SELECT 2",
       {"s SELECT U&'\\', N'\\', B'1', x'\\', u&\"\\;\", \"a;\"\"b\"", "b ; ", "s SELECT 2"}},
      {"UAndAmpersand",
       "SELECT u&e'\\';', u&1; SELECT 2",
       {"s SELECT u&e'\\';', u&1", "b ; ", "s SELECT 2"}},
      {"OpenQuote", "SELECT 'a; SELECT 2;\n", {"s SELECT 'a; SELECT 2;\n"}, true},
      {"OpenEscapeQuote", "SELECT E'a\\'", {"s SELECT E'a\\'"}, true},
      {"OpenIdentifier", "SELECT \"a; SELECT 2", {"s SELECT \"a; SELECT 2"}, true},
      {"DoubledQuoteAtTheEnd", "SELECT 'a'''", {"s SELECT 'a'''"}},

      {"DollarQuotes",
       "SELECT $$;'$a$;$$; SELECT $a$;$$;$b$a$;",
       {"s SELECT $$;'$a$;$$", "b ; ", "s SELECT $a$;$$;$b$a$", "b ;"}},
      {"DollarTagOverlaps",
       "SELECT $ab$;$ab$ab$a$ab; SELECT $ab$;$a$abab$$ab$; SELECT 3",
       {"s SELECT $ab$;$ab$ab$a$ab", "b ; ", "s SELECT $ab$;$a$abab$$ab$", "b ; ", "s SELECT 3"}},
      {"DollarTagOfLetters",
       "SELECT $\xc3\xbc_1$;$\xc3\xbc$;$\xc3\xbc_1$; SELECT 2",
       {"s SELECT $\xc3\xbc_1$;$\xc3\xbc$;$\xc3\xbc_1$", "b ; ", "s SELECT 2"}},
      {"DollarInsideAWord",
       "SELECT a$b$c; SELECT \xc3\xa4$$; SELECT 2$b$;$b$",
       {"s SELECT a$b$c", "b ; ", "s SELECT \xc3\xa4$$", "b ; ", "s SELECT 2$b$;$b$"}},
      {"ParametersAreNoDollarQuotes",
       "SELECT $1, $2$a$;$a$, $, $1a$b$; SELECT 3",
       {"s SELECT $1, $2$a$;$a$, $, $1a$b$", "b ; ", "s SELECT 3"}},
      {"DollarThenAWord",
       "SELECT $e'\\';', $a-$b$;$b$; SELECT $a;",
       {"s SELECT $e'\\';', $a-$b$;$b$", "b ; ", "s SELECT $a", "b ;"}},
      {"OpenDollarQuote", "SELECT $a$;$a;$$", {"s SELECT $a$;$a;$$"}, true},

      {"Parentheses",
       "CREATE RULE r AS ON INSERT TO t DO ALSO (SELECT 1; SELECT ')'; ); SELECT 3",
       {"s CREATE RULE r AS ON INSERT TO t DO ALSO (SELECT 1; SELECT ')'; )", "b ; ",
        "s SELECT 3"}},
      {"OpenParenthesis", "SELECT (1; SELECT 2;", {"s SELECT (1; SELECT 2;"}, true},
      {"ClosingParenthesisTooMany",
       "SELECT 1); SELECT (2); SELECT 3",
       {"s SELECT 1)", "b ; ", "s SELECT (2)", "b ; ", "s SELECT 3"}},

      {"BeginAtomic",
       "create or replace procedure f() BEGIN\nATOMIC SELECT CASE WHEN a THEN 1 END; SELECT 2; "
       "END; "
       "SELECT 3",
       {"s create or replace procedure f() BEGIN\nATOMIC SELECT CASE WHEN a THEN 1 END; SELECT 2; "
        "END",
        "b ; ", "s SELECT 3"}},
      {"BeginAtomicNestedCases",
       "CREATE FUNCTION f() BEGIN ATOMIC; SELECT CASE a WHEN CASE b WHEN 1 THEN 2 END THEN (SELECT "
       "CASE WHEN 1 THEN 2 END) END; END; SELECT 3",
       {"s CREATE FUNCTION f() BEGIN ATOMIC; SELECT CASE a WHEN CASE b WHEN 1 THEN 2 END THEN "
        "(SELECT CASE WHEN 1 THEN 2 END) END; END",
        "b ; ", "s SELECT 3"}},
      {"BeginAtomicEmpty",
       "CREATE FUNCTION f() BEGIN ATOMIC END; SELECT 3",
       {"s CREATE FUNCTION f() BEGIN ATOMIC END", "b ; ", "s SELECT 3"}},
      {"BeginAtomicLabels",
       "CREATE FUNCTION f() BEGIN ATOMIC SELECT 1 AS end; SELECT t.end, t.case; SELECT 1 case; "
       "END; "
       "SELECT 3",
       {"s CREATE FUNCTION f() BEGIN ATOMIC SELECT 1 AS end; SELECT t.end, t.case; SELECT 1 case; "
        "END",
        "b ; ", "s SELECT 3"}},
      {"BeginAtomicQuotedWords",
       "CREATE FUNCTION f() BEGIN ATOMIC SELECT \"case\", \"end\" ; END; SELECT \"begin\" atomic; "
       "SELECT 3",
       {"s CREATE FUNCTION f() BEGIN ATOMIC SELECT \"case\", \"end\" ; END", "b ; ",
        "s SELECT \"begin\" atomic", "b ; ", "s SELECT 3"}},
      {"BeginAtomicForgottenSemicolon",
       "CREATE FUNCTION f() BEGIN ATOMIC SELECT 1 END; SELECT 2",
       {"s CREATE FUNCTION f() BEGIN ATOMIC SELECT 1 END", "b ; ", "s SELECT 2"}},
      {"BeginAtomicOpen",
       "CREATE FUNCTION f() BEGIN ATOMIC SELECT 1; SELECT 2",
       {"s CREATE FUNCTION f() BEGIN ATOMIC SELECT 1; SELECT 2"},
       true},
      {"BeginAtomicEndsWithTheScript",
       "CREATE FUNCTION f() BEGIN ATOMIC SELECT 1; END",
       {"s CREATE FUNCTION f() BEGIN ATOMIC SELECT 1; END"}},
      {"BeginAsAName",
       "CREATE FUNCTION begin(begin int) RETURNS int AS 'x'; END; SELECT 1",
       {"s CREATE FUNCTION begin(begin int) RETURNS int AS 'x'", "b ; ", "s END", "b ; ",
        "s SELECT 1"}},
      {"BeginOfATransaction",
       "BEGIN; CREATE TABLE f(begin int); END; CREATE VIEW function AS SELECT begin atomic;",
       {"s BEGIN", "b ; ", "s CREATE TABLE f(begin int)", "b ; ", "s END", "b ; ",
        "s CREATE VIEW function AS SELECT begin atomic", "b ;"}},
      {"BeginAtomicOnlyInRoutines",
       "CREATE \"x\" FUNCTION f() BEGIN ATOMIC; CREATE OR FUNCTION BEGIN ATOMIC; SELECT CREATE "
       "FUNCTION BEGIN ATOMIC; END",
       {"s CREATE \"x\" FUNCTION f() BEGIN ATOMIC", "b ; ", "s CREATE OR FUNCTION BEGIN ATOMIC",
        "b ; ", "s SELECT CREATE FUNCTION BEGIN ATOMIC", "b ; ", "s END"}},

      {"Copy",
       "COPY t (a, b) FROM stdin;\n1\tx;y\n2\t'z\n\\.\nSELECT 1;",
       {"s COPY t (a, b) FROM stdin", "b ;\n", "d2 1\tx;y\n2\t'z\n\\.\n", "s SELECT 1", "b ;"}},
      {"CopyWithoutRows",
       "copy \"t\" from STDIN WITH (FORMAT csv); -- now\n\\.\nSELECT 1",
       {"s copy \"t\" from STDIN WITH (FORMAT csv)", "b ; -- now\n", "d0 \\.\n", "s SELECT 1"}},
      {"CopyLinesThatAlmostEnd",
       "COPY t FROM stdin;\n\\\n\\.x\n.\n \\.\n\\.\r\r\n\\.\\.\n\n\\.\nSELECT 1",
       {"s COPY t FROM stdin", "b ;\n", "d7 \\\n\\.x\n.\n \\.\n\\.\r\r\n\\.\\.\n\n\\.\n",
        "s SELECT 1"}},
      {"CopyCarriageReturns",
       "COPY t FROM stdin;\r\n1\r\n\\.\r\nSELECT 1;\r\n",
       {"s COPY t FROM stdin", "b ;\r\n", "d1 1\r\n\\.\r\n", "s SELECT 1", "b ;\r\n"}},
      {"CopyEndsWithTheScript",
       "COPY t FROM stdin;\n1\n\\.",
       {"s COPY t FROM stdin", "b ;\n", "d1 1\n\\."}},
      {"CopyOpen", "COPY t FROM stdin;\n1\n2", {"s COPY t FROM stdin", "b ;\n", "d2 1\n2"}, true},
      {"CopyOpenAtALineEnd",
       "COPY t FROM stdin;\n1\n2\n",
       {"s COPY t FROM stdin", "b ;\n", "d2 1\n2\n"},
       true},
      {"CopyBeforeItsData", "COPY t FROM stdin;\n", {"s COPY t FROM stdin", "b ;\n"}},
      {"CopyNotSent", "COPY t FROM stdin", {"s COPY t FROM stdin"}},
      {"CopyThatReadsNoLines",
       "COPY t FROM 'stdin';\nCOPY t FROM PROGRAM 'stdin';\nCOPY (SELECT a FROM stdin) TO "
       "stdout;\nCOPY t TO stdout;\ncopy (select 1) from stdin;\nSELECT copy FROM stdin;\nSELECT 1",
       {"s COPY t FROM 'stdin'", "b ;\n", "s COPY t FROM PROGRAM 'stdin'", "b ;\n",
        "s COPY (SELECT a FROM stdin) TO stdout", "b ;\n", "s COPY t TO stdout", "b ;\n",
        "s copy (select 1) from stdin", "b ;\n", "s SELECT copy FROM stdin", "b ;\n",
        "s SELECT 1"}},
      {"CopyFromStdout",
       "copy s.t from stdout;\n1\n\\.\n",
       {"s copy s.t from stdout", "b ;\n", "d1 1\n\\.\n"}},
      {"CopyTableNamedFrom",
       "copy \"from\" from stdin;\n1\n\\.\n",
       {"s copy \"from\" from stdin", "b ;\n", "d1 1\n\\.\n"}},
      {"CopyThenMoreOnTheLine",
       "COPY t FROM stdin; SELECT 1;\n1\n\\.\nSELECT 2",
       {"s COPY t FROM stdin", "b ; ", "s SELECT 1", "b ;\n", "d1 1\n\\.\n", "s SELECT 2"}},
      {"CopyThenAnOpenStatement",
       "COPY t FROM stdin; SELECT 'a\n1\n\\.\nSELECT 2; SELECT 3",
       {"s COPY t FROM stdin", "b ; ", "s SELECT 'a", "b \n", "d1 1\n\\.\n", "s SELECT 2", "b ; ",
        "s SELECT 3"}},
      {"CopyThenAnOpenComment",
       "COPY t FROM stdin; /* a\n\\.\nb */",
       {"s COPY t FROM stdin", "b ; /* a\n", "d0 \\.\n", "s b */"}},
      {"CopyTwiceInOneMessage",
       "COPY t FROM stdin\\; COPY u FROM stdin\\;\nSELECT 1;\n1\n\\.\n2\n3\n\\.\nSELECT 2",
       {"s COPY t FROM stdin", "b \\; ", "s COPY u FROM stdin", "b \\;\n", "s SELECT 1", "b ;\n",
        "d1 1\n\\.\n", "d2 2\n3\n\\.\n", "s SELECT 2"}},
      {"CopySentByAnEmptyStatement",
       "COPY t FROM stdin\\;\n;\n\\.\n",
       {"s COPY t FROM stdin", "b \\;\n;\n", "d0 \\.\n"}},
      {"CopySentByACommand",
       "COPY t FROM stdin \\g\n\\.\nSELECT 1",
       {"s COPY t FROM stdin ", "m \\g", "b \n", "d0 \\.\n", "s SELECT 1"}},
      {"CopyDropped",
       "COPY t FROM stdin \\r\nSELECT 1;\nSELECT 2",
       {"s COPY t FROM stdin ", "m \\r", "b \n", "s SELECT 1", "b ;\n", "s SELECT 2"}},
      {"CopyByCommand",
       "\\copy t (a) from stdin with csv\r\n1\n\\.\nSELECT 2",
       {"m \\copy t (a) from stdin with csv", "b \r\n", "d1 1\n\\.\n", "s SELECT 2"}},
      {"CopyByCommandThatReadsNoLines",
       "\\copy t from 'from stdin'\n\\copy t from pstdin\n\\copy (select a from stdin) to "
       "stdout\n\\copyx t from stdin\nSELECT 2",
       {"m \\copy t from 'from stdin'", "b \n", "m \\copy t from pstdin", "b \n",
        "m \\copy (select a from stdin) to stdout", "b \n", "m \\copyx t from stdin", "b \n",
        "s SELECT 2"}},
      {"CopyDataNotExpected",
       "COPY t FROM stdin;\nSELECT 1;\n\\copy t from stdin\nSELECT 2",
       {"s COPY t FROM stdin", "b ;\n", "s SELECT 1", "b ;\n", "m \\copy t from stdin", "b \n",
        "s SELECT 2"},
       false,
       NoData()},
      {"CopyFunctionIsNone",
       "CREATE FUNCTION copy() AS 'from stdin'; SELECT 1",
       {"s CREATE FUNCTION copy() AS 'from stdin'", "b ; ", "s SELECT 1"}},

      {"CommandLine", "\\set x 1;2\nSELECT 1", {"m \\set x 1;2", "b \n", "s SELECT 1"}},
      {"CommandWithCarriageReturn",
       "\\x\r\n\\restrict a b\r\n\\y \r",
       {"m \\x", "b \r\n", "m \\restrict a b", "b \r\n", "m \\y ", "b \r"}},
      {"CommandInTheMiddle",
       "SELECT (1 \\p\n, 2); SELECT 3",
       {"s SELECT (1 ", "m \\p", "b \n", "s , 2)", "b ; ", "s SELECT 3"}},
      {"CommandInQuotesAndComments",
       "SELECT '\n\\g\n' /* \\g */ -- \\g\n, $$\\g$$, \"\\g\";",
       {"s SELECT '\n\\g\n' /* \\g */ -- \\g\n, $$\\g$$, \"\\g\"", "b ;"}},
      {"CommandsThatSend",
       "SELECT 1 \\gset a_\nSELECT 2 \\g | cat \\x\nSELECT 3\\gx out \\\\ SELECT 4",
       {"s SELECT 1 ", "m \\gset a_", "b \n", "s SELECT 2 ", "m \\g | cat \\x", "b \n",
        "s SELECT 3", "m \\gx out ", "b \\\\ ", "s SELECT 4"}},
      {"CommandBehindCommand",
       "SELECT $1 \\bind 'a\\'\\b' \"\\\" `\\` \\g\nSELECT 2",
       {"s SELECT $1 ", "m \\bind 'a\\'\\b' \"\\\" `\\` ", "m \\g", "b \n", "s SELECT 2"}},
      {"CommandQuotesEndWithTheLine",
       "\\echo 'a\nSELECT 1; \\echo 'a\\\nSELECT 2",
       {"m \\echo 'a", "b \n", "s SELECT 1", "b ; ", "m \\echo 'a\\", "b \n", "s SELECT 2"}},
      {"CommandsOfAWholeLine",
       "\\! ls \\\\ 'x\n\\h \\g\n\\w|x \\g\nSELECT 1",
       {"m \\! ls \\\\ 'x", "b \n", "m \\h \\g", "b \n", "m \\w|x ", "m \\g", "b \n",
        "s SELECT 1"}},
      {"CommandSeparator",
       "\\echo a \\\\ SELECT 1; \\\\ SELECT 2 \\\\SELECT 3",
       {"m \\echo a ", "b \\\\ ", "s SELECT 1", "b ; \\\\ ", "s SELECT 2 ", "b \\\\",
        "s SELECT 3"}},
      {"CommandWithoutName", "\\ a\nSELECT 1\\", {"m \\ a", "b \n", "s SELECT 1", "m \\"}},
      {"CommandsOfIf",
       "\\if :x\nSELECT 1;\n\\else\nSELECT 2;\n\\endif",
       {"m \\if :x", "b \n", "s SELECT 1", "b ;\n", "m \\else", "b \n", "s SELECT 2", "b ;\n",
        "m \\endif"}},
      {"JoinedStatements",
       "SELECT 1\\; SELECT (2\\; 3) \\;\nSELECT 4;",
       {"s SELECT 1", "b \\; ", "s SELECT (2\\; 3) ", "b \\;\n", "s SELECT 4", "b ;"}},
      {"EscapedColon", "SELECT a\\:\\:int;\\:a", {"s SELECT a\\:\\:int", "b ;", "s \\:a"}},
      {"Variables",
       "SELECT :a, :'b', :\"c\", a[1:2], :'d; ', :E'\\'; SELECT 1:=2, :a$b$;$b$, ::a",
       {"s SELECT :a, :'b', :\"c\", a[1:2], :'d; ', :E'\\'", "b ; ",
        "s SELECT 1:=2, :a$b$;$b$, ::a"}},

      {"SettingOffAndOn",
       "SET standard_conforming_strings = off; SELECT 'a\\'; '; set session\nstandard_conforming_"
       "strings TO 'on'; SELECT 'a\\'; SELECT 2",
       {"s SET standard_conforming_strings = off", "b ; ", "s SELECT 'a\\'; '", "b ; ",
        "s set session\nstandard_conforming_strings TO 'on'", "b ; ", "s SELECT 'a\\'", "b ; ",
        "s SELECT 2"}},
      {"SettingReset",
       "SET Standard_Conforming_Strings TO FALSE; SELECT '\\';'; RESET "
       "standard_conforming_strings; "
       "SELECT '\\'; SELECT 2",
       {"s SET Standard_Conforming_Strings TO FALSE", "b ; ", "s SELECT '\\';'", "b ; ",
        "s RESET standard_conforming_strings", "b ; ", "s SELECT '\\'", "b ; ", "s SELECT 2"}},
      {"SettingOfAnother",
       "SET \"standard_conforming_strings\" = off; SET x = 'standard_conforming_strings off'; "
       "SELECT "
       "'\\'; SELECT 2",
       {"s SET \"standard_conforming_strings\" = off", "b ; ",
        "s SET x = 'standard_conforming_strings off'", "b ; ", "s SELECT '\\'", "b ; ",
        "s SELECT 2"}},
      {"SettingFromOutside",
       "SELECT '\\';', n'\\';', B'\\', x'\\', u&'\\'; SELECT '\\''",
       {"s SELECT '\\';', n'\\';', B'\\', x'\\', u&'\\'", "b ; ", "s SELECT '\\''"},
       false,
       EscapesInQuotes()},

      {"ByteOrderMark",
       "\xEF\xBB\xBFSELECT 1;\xEF\xBB\xBF",
       {"b \xEF\xBB\xBF", "s SELECT 1", "b ;", "s \xEF\xBB\xBF"}},
      {"ByteOrderMarkOfAnotherKind", "\xEF\xBB\xBE;\xEF", {"s \xEF\xBB\xBE", "b ;", "s \xEF"}},
      {"ByteOrderMarkCut", "\xEF\xBB", {"s \xEF\xBB"}},
      {"ByteOrderMarkLater", "\xEF\xBB\xBF;", {"s \xEF\xBB\xBF", "b ;"}, false, At(10, 2)},
      {"InvalidBytes",
       std::string("\xff\xc3;\0 a\0b;\x80", 10),
       {"s \xff\xc3", "b ;", std::string("s \0 a\0b", 7), "b ;", "s \x80"}},
      {"CarriageReturns",
       "SELECT\r\n1;\r\n-- a\r\nSELECT 2;\r\n",
       {"s SELECT\r\n1", "b ;\r\n-- a\r\n", "s SELECT 2", "b ;\r\n"}},
  };
  return *cases;
}

Outcome SplitParts(const std::vector<std::string_view>& parts, const Options& options) {
  Outcome outcome;
  Splitter splitter(options);
  const auto sink = [&](const Piece& piece, std::string_view text) {
    outcome.pieces.push_back(piece);
    outcome.texts.emplace_back(text);
  };
  const auto note = [&] {
    outcome.resumes.push_back({outcome.pieces.size(), splitter.resume_offset(),
                               splitter.resume_line(),
                               splitter.resume_standard_conforming_strings()});
  };
  for (const std::string_view part : parts) {
    splitter.Feed(part, sink);
    note();
  }
  splitter.Finish(sink);
  note();
  outcome.incomplete = splitter.incomplete();
  return outcome;
}

std::vector<std::string_view> CutAt(std::string_view script, const std::vector<size_t>& places) {
  std::vector<std::string_view> parts;
  size_t begin = 0;
  for (const size_t place : places) {
    parts.push_back(script.substr(begin, place - begin));
    begin = place;
  }
  parts.push_back(script.substr(begin));
  return parts;
}

std::vector<std::string_view> Bytes(std::string_view script) {
  std::vector<size_t> places(script.size());
  std::iota(places.begin(), places.end(), 0);
  return CutAt(script, places);
}

std::vector<std::string> Describe(const std::vector<Piece>& pieces, std::string_view script) {
  std::vector<std::string> described;
  for (const Piece& piece : pieces) {
    std::string text;
    switch (piece.kind) {
      case PieceKind::kStatement:
        text = "s ";
        break;
      case PieceKind::kMetaCommand:
        text = "m ";
        break;
      case PieceKind::kCopyData:
        text = "d" + std::to_string(piece.copy_rows) + " ";
        break;
      case PieceKind::kBetween:
        text = "b ";
        break;
    }
    described.push_back(text.append(script.substr(piece.offset, piece.length)));
  }
  return described;
}

}  // namespace pgparsed::splitter
