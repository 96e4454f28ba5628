#include "tests/conformance/psql_splitter.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pgparsed::conformance {
namespace {

struct Case {
  std::string name;
  std::string script;
  std::vector<std::string> pieces;  // "\…" is a command, "<n>" n rows of COPY data, else SQL.
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.script; }

std::vector<std::string> Describe(const std::string& script) {
  std::vector<std::string> described;
  for (const PsqlPiece& piece : SplitPsqlScript(script)) {
    if (piece.kind == PsqlPiece::Kind::kCopyData) {
      described.push_back(std::to_string(piece.copy_rows).insert(0, 1, '<').append(1, '>'));
    } else {
      described.push_back(piece.text);
    }
  }
  return described;
}

class PsqlSplitterTable : public testing::TestWithParam<Case> {};

TEST_P(PsqlSplitterTable, SplitsAsPsqlDoes) {
  EXPECT_EQ(Describe(GetParam().script), GetParam().pieces);
}

const Case kCases[] = {
    {"Empty", "", {}},
    {"OnlySpaceAndComment", " \n-- a\n", {}},
    {"TwoOnALine", "SELECT 1; SELECT 2;", {"SELECT 1;", "SELECT 2;"}},
    {"LastWithoutSemicolon", "SELECT 1;\nSELECT 2\n", {"SELECT 1;", "SELECT 2\n"}},
    {"LeadingLineCommentGoes", "-- a\n  SELECT 1; -- b\n", {"SELECT 1;"}},
    {"LeadingBlockCommentStays", "/* a */ SELECT 1;", {"/* a */ SELECT 1;"}},
    {"CommentInside", "SELECT 1 -- a;\n, 2;", {"SELECT 1 -- a;\n, 2;"}},
    {"NestedComment", "SELECT /* ; /* ; */ ; */ 1;", {"SELECT /* ; /* ; */ ; */ 1;"}},
    {"CommentAfterOperator",
     "SELECT 1 +/* ; */ 2, 3 +-- ;\n4;",
     {"SELECT 1 +/* ; */ 2, 3 +-- ;\n4;"}},
    {"Quote", "SELECT 'a;''b;\\'; SELECT 2;", {"SELECT 'a;''b;\\';", "SELECT 2;"}},
    {"EscapeQuote",
     "SELECT E'a\\';''\\\\'; SELECT e'\\\\';",
     {"SELECT E'a\\';''\\\\';", "SELECT e'\\\\';"}},
    {"IdentifierEndingInE", "SELECT tableE'\\'; SELECT 2;", {"SELECT tableE'\\';", "SELECT 2;"}},
    {"NumberEndingInE", "SELECT 1E'\\'; SELECT 2;", {"SELECT 1E'\\';", "SELECT 2;"}},
    {"CastToE", "SELECT 1::E'\\';'; SELECT 2;", {"SELECT 1::E'\\';';", "SELECT 2;"}},
    {"OtherQuotes",
     "SELECT U&'\\', N'\\', B'1', X'a', U&\"\\;\", \"a;\"\"b\"; SELECT 2;",
     {"SELECT U&'\\', N'\\', B'1', X'a', U&\"\\;\", \"a;\"\"b\";", "SELECT 2;"}},
    {"DollarQuote",
     "SELECT $$;'$a$;$$; SELECT $a$;$$;$b$a$;",
     {"SELECT $$;'$a$;$$;", "SELECT $a$;$$;$b$a$;"}},
    {"DollarQuoteHighBit",
     "SELECT $\xc3\xbc$;$\xc3\xbc$; SELECT 2;",
     {"SELECT $\xc3\xbc$;$\xc3\xbc$;", "SELECT 2;"}},
    {"DollarInsideIdentifier",
     "SELECT a$b$c; SELECT 2$b$;$b$;",
     {"SELECT a$b$c;", "SELECT 2$b$;$b$;"}},
    {"ParameterIsNoDollarQuote",
     "SELECT $1, $2$a$;$a$, $; SELECT 3;",
     {"SELECT $1, $2$a$;$a$, $;", "SELECT 3;"}},
    {"OpenQuoteRunsToTheEnd", "SELECT 'a; SELECT 2;\n", {"SELECT 'a; SELECT 2;\n"}},
    {"OpenParenthesisRunsToTheEnd", "SELECT (1; SELECT 2;", {"SELECT (1; SELECT 2;"}},
    {"Parentheses",
     "CREATE RULE r AS ON INSERT TO t DO (SELECT 1; SELECT 2); SELECT 3;",
     {"CREATE RULE r AS ON INSERT TO t DO (SELECT 1; SELECT 2);", "SELECT 3;"}},
    {"ClosingParenthesisTooMany",
     "SELECT 1); SELECT (2); SELECT 3;",
     {"SELECT 1);", "SELECT (2);", "SELECT 3;"}},
    {"BeginAtomic",
     "create or replace procedure f() BEGIN ATOMIC SELECT CASE WHEN a THEN 1 END; "
     "SELECT 2; END; SELECT 3;",
     {"create or replace procedure f() BEGIN ATOMIC SELECT CASE WHEN a THEN 1 END; SELECT 2; END;",
      "SELECT 3;"}},
    {"BeginOfTransaction",
     "BEGIN; CREATE TABLE f(begin int); END; CREATE VIEW function AS SELECT 1;",
     {"BEGIN;", "CREATE TABLE f(begin int);", "END;", "CREATE VIEW function AS SELECT 1;"}},
    {"BeginInParentheses",
     "CREATE FUNCTION f(begin int) RETURNS int; SELECT 1;",
     {"CREATE FUNCTION f(begin int) RETURNS int;", "SELECT 1;"}},
    {"QuotedWordsDoNotCount",
     "CREATE \"x\" FUNCTION f() BEGIN; END; SELECT 1;",
     {"CREATE \"x\" FUNCTION f() BEGIN; END;", "SELECT 1;"}},
    {"WordsCountPerStatement",
     "SELECT 1; CREATE FUNCTION f() BEGIN; END; SELECT 2;",
     {"SELECT 1;", "CREATE FUNCTION f() BEGIN; END;", "SELECT 2;"}},
    {"MetaCommandLine", "\\set x 1;2\nSELECT 1;\n", {"\\set x 1;2", "SELECT 1;"}},
    {"MetaCommandInTheMiddle", "SELECT 1 \\p\n, 2;", {"\\p", "SELECT 1 \n, 2;"}},
    {"MetaCommandInQuote", "SELECT '\n\\g\n';", {"SELECT '\n\\g\n';"}},
    {"Sends",
     "SELECT 1 \\gset a_\nSELECT 2 \\g | cat \\x\nSELECT 3 \\crosstabview\n",
     {"SELECT 1 ", "\\gset a_", "SELECT 2 ", "\\g | cat \\x", "SELECT 3 ", "\\crosstabview"}},
    {"SendClosesParentheses",
     "SELECT (1 \\gexec\nSELECT 2; SELECT 3;",
     {"SELECT (1 ", "\\gexec", "SELECT 2;", "SELECT 3;"}},
    {"BindThenSend",
     "SELECT $1 \\bind 'a\\'b' \\g\nSELECT 2;",
     {"\\bind 'a\\'b' ", "SELECT $1 ", "\\g", "SELECT 2;"}},
    {"SendOfNothing", "\\g\n\\gset x\n", {"\\g", "\\gset x"}},
    {"Separator",
     "SELECT 1 \\gset a_ \\\\ SELECT 2; \\echo a \\\\ SELECT 3;",
     {"SELECT 1 ", "\\gset a_ ", "SELECT 2;", "\\echo a ", "SELECT 3;"}},
    {"JoinedBySemicolon",
     "SELECT 1\\; SELECT 2 \\;\nSELECT 3;",
     {"SELECT 1;", "SELECT 2 ;", "SELECT 3;"}},
    {"EveryBranchOfIf",
     "\\if :x\nSELECT 1;\n\\else\nSELECT 2;\n\\endif\n",
     {"\\if :x", "SELECT 1;", "\\else", "SELECT 2;", "\\endif"}},
    {"Reset", "SELECT (1 \\r\nSELECT 2; SELECT 3;", {"\\r", "SELECT 2;", "SELECT 3;"}},
    {"Variables",
     "SELECT :a, :'b', :\"c\", a[1:2], :'d; ', :E'\\'; SELECT 1:=2;",
     {"SELECT :a, :'b', :\"c\", a[1:2], :'d; ', :E'\\';", "SELECT 1:=2;"}},
    {"Copy",
     "COPY t (a, b) FROM stdin;\n1\tx;y\n2\t'z\n\\.\nSELECT 1;",
     {"COPY t (a, b) FROM stdin;", "<2>", "SELECT 1;"}},
    {"CopyWithoutRows",
     "copy t from STDIN WITH CSV;\n\\.\nSELECT 1;",
     {"copy t from STDIN WITH CSV;", "<0>", "SELECT 1;"}},
    {"CopyCarriageReturns",
     "COPY t FROM stdin;\r\n1\r\n\\.\r\nSELECT 1;\r\n",
     {"COPY t FROM stdin;", "<1>", "SELECT 1;"}},
    {"CopyThatFails",
     "COPY x FROM stdin;\nSELECT 1;\nCOPY t FROM stdin;\n1\n\\.\n",
     {"COPY x FROM stdin;", "SELECT 1;", "COPY t FROM stdin;", "<1>"}},
    {"CopyNeverEnded", "COPY x FROM stdin;\nSELECT 1;\n", {"COPY x FROM stdin;", "SELECT 1;"}},
    {"CopyFromFileOrQuery",
     "COPY t FROM 'stdin'; COPY (SELECT a FROM stdin) TO stdout;\n\\.\n",
     {"COPY t FROM 'stdin';", "COPY (SELECT a FROM stdin) TO stdout;", "\\."}},
    {"CopyQueryFromStdin",
     "copy (select 1) from stdin; select 2;\n\\.\n",
     {"copy (select 1) from stdin;", "select 2;", "\\."}},
    {"CopyFromStdout", "copy t from stdout;\n1\n\\.\n", {"copy t from stdout;", "<1>"}},
    {"CopyTwiceInOneMessage",
     "COPY t FROM stdin\\; COPY u FROM stdin\\; SELECT 1;\n1\n\\.\n2\n3\n\\.\nSELECT 2;",
     {"COPY t FROM stdin;", "COPY u FROM stdin;", "SELECT 1;", "<1>", "<2>", "SELECT 2;"}},
    {"CopyThenMoreOnTheLine",
     "COPY t FROM stdin; SELECT 1;\n1\n\\.\nSELECT 2;",
     {"COPY t FROM stdin;", "<1>", "SELECT 1;", "SELECT 2;"}},
    {"CopyByCommand",
     "\\copy t from stdin\n1\n\\.\nSELECT 2;",
     {"\\copy t from stdin", "<1>", "SELECT 2;"}},
    {"StandardConformingStringsOff",
     "SET standard_conforming_strings = off; SELECT 'a\\'; '; SET standard_conforming_strings TO "
     "on; "
     "SELECT 'a\\'; SELECT 2;",
     {"SET standard_conforming_strings = off;", "SELECT 'a\\'; ';",
      "SET standard_conforming_strings TO on;", "SELECT 'a\\';", "SELECT 2;"}},
    {"BitStringsKnowNoEscapes",
     "SET standard_conforming_strings = off; SELECT B'\\'; SELECT X'\\';",
     {"SET standard_conforming_strings = off;", "SELECT B'\\';", "SELECT X'\\';"}},
    {"StandardConformingStringsReset",
     "SET standard_conforming_strings TO 'off'; RESET standard_conforming_strings; SELECT 'a\\';",
     {"SET standard_conforming_strings TO 'off';", "RESET standard_conforming_strings;",
      "SELECT 'a\\';"}},
    {"EmptyStatement", ";;", {";", ";"}},
};

INSTANTIATE_TEST_SUITE_P(Scripts, PsqlSplitterTable, testing::ValuesIn(kCases),
                         [](const auto& test) { return test.param.name; });

TEST(PsqlSplitter, TellsWhereEachPieceStands) {
  const std::string script =
      "\\set a 1\n\n SELECT 1\n, 2; -- x\nCOPY t FROM stdin;\n1\n\\.\nSELECT\n3";
  const std::vector<PsqlPiece> pieces = SplitPsqlScript(script);
  ASSERT_EQ(pieces.size(), 5u);
  const size_t lines[] = {1, 3, 5, 6, 8};
  for (size_t i = 0; i < pieces.size(); ++i) {
    EXPECT_EQ(script.substr(pieces[i].offset, pieces[i].length), pieces[i].text) << i;
    EXPECT_EQ(pieces[i].line, lines[i]) << i;
    EXPECT_EQ(pieces[i].complete, i + 1 < pieces.size()) << i;
  }
}

TEST(PsqlSplitter, StatementsAloneLeaveOutCommandsAndData) {
  EXPECT_EQ(PsqlStatements("\\x\nSELECT 1;\nCOPY t FROM stdin;\n1\n\\.\n"),
            (std::vector<std::string>{"SELECT 1;", "COPY t FROM stdin;"}));
}

}  // namespace
}  // namespace pgparsed::conformance
