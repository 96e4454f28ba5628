#include "grammar/summary.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>

#include "grammar/operations.h"
#include "grammar/parsed_query.h"
#include "grammar/wire.h"

namespace pgparsed::grammar {
namespace {

// The entries of one field of a pgparsed.v1.Summary, with " " behind each: schema.name/context,
// alias=table, names, schema.table.column; with *count where it is more than 1.
class Summary {
 public:
  explicit Summary(const std::string& sql, uint32_t limit = 0) {
    const auto result = Summarize(sql.c_str(), {}, limit);
    EXPECT_TRUE(result.ok()) << sql << "\n" << (result.ok() ? "" : result.error().message);
    if (!result.ok()) return;
    WireReader reader(result.value());
    while (reader.Next()) {
      switch (reader.field()) {
        case 1:
          AddNamed(tables, reader.bytes());
          break;
        case 2: {
          const Fields entry = Read(reader.bytes());
          aliases += entry.text[1] + "=" + entry.text[2] + " ";
          break;
        }
        case 3:
          ctes += std::string(reader.bytes()) + " ";
          break;
        case 4:
          AddNamed(functions, reader.bytes());
          break;
        case 5: {
          const Fields entry = Read(reader.bytes());
          columns += Dotted(entry.text[1]) + Dotted(entry.text[2]) + entry.text[3];
          columns += Times(entry.number[4]) + " ";
          break;
        }
        case 6:
          types += std::string(reader.bytes()) + " ";
          break;
        case 7:
          text = std::string(reader.bytes());
          break;
        default:
          ADD_FAILURE() << "field " << reader.field();
      }
    }
    EXPECT_TRUE(reader.ok());
  }

  std::string tables;
  std::string aliases;
  std::string ctes;
  std::string functions;
  std::string columns;
  std::string types;
  std::string text;

 private:
  struct Fields {
    std::array<std::string, 5> text;
    std::array<uint64_t, 5> number = {};
  };

  static Fields Read(std::string_view message) {
    Fields fields;
    WireReader reader(message);
    while (reader.Next()) {
      fields.text.at(reader.field()) = std::string(reader.bytes());
      fields.number.at(reader.field()) = reader.number();
    }
    return fields;
  }

  static std::string Dotted(const std::string& name) { return name.empty() ? "" : name + "."; }
  static std::string Times(uint64_t count) { return count == 1 ? "" : "*" + std::to_string(count); }

  static void AddNamed(std::string& all, std::string_view message) {
    constexpr std::array<const char*, 5> kContexts = {"none", "select", "dml", "ddl", "call"};
    const Fields entry = Read(message);
    all += Dotted(entry.text[1]) + entry.text[2] + "/" + kContexts.at(entry.number[3]);
    all += Times(entry.number[4]) + " ";
  }
};

TEST(Summary, FindsTablesInFrom) {
  const Summary summary(
      "SELECT * FROM s.a x JOIN (b LEFT JOIN c ON true) ON true, d TABLESAMPLE system (1), "
      "LATERAL (SELECT 1 FROM e) q, f(1), b WHERE EXISTS (SELECT 1 FROM g)");
  EXPECT_EQ(summary.tables, "s.a/select b/select*2 c/select d/select e/select g/select ");
  EXPECT_EQ(summary.aliases, "x=s.a ");
  EXPECT_EQ(summary.functions, "f/call ");
  EXPECT_EQ(summary.types, "SelectStmt ");
}

TEST(Summary, QuotesTheTablesOfAliasesAndTakesTheLastOfSeveral) {
  const Summary summary("SELECT 1 FROM \"A b\".\"Select\" x, t y; SELECT 1 FROM \"table\" y");
  EXPECT_EQ(summary.tables, "A b.Select/select t/select table/select ");
  EXPECT_EQ(summary.aliases, "x=\"A b\".\"Select\" y=\"table\" ");
}

TEST(Summary, FindsWhatDmlReadsAndWrites) {
  EXPECT_EQ(Summary("INSERT INTO a SELECT * FROM b").tables, "a/dml b/select ");
  EXPECT_EQ(Summary("UPDATE a SET x = 1 FROM b").tables, "a/dml b/select ");
  EXPECT_EQ(Summary("DELETE FROM a USING b").tables, "a/dml b/select ");
  EXPECT_EQ(Summary("SELECT * INTO a FROM b").tables, "b/select a/ddl ");
  EXPECT_EQ(Summary("COPY a FROM STDIN").tables, "a/select ");
  EXPECT_EQ(Summary("COPY (SELECT 1 FROM a) TO STDOUT").tables, "a/select ");
  EXPECT_EQ(
      Summary("MERGE INTO a USING (SELECT 1 FROM b) q ON f(1) WHEN MATCHED THEN DELETE").tables,
      "a/dml b/select ");
}

TEST(Summary, FindsWhatIsReturned) {
  const Summary summary("DELETE FROM t RETURNING f(1), (SELECT 1 FROM u)");
  EXPECT_EQ(summary.tables, "t/dml u/select ");
  EXPECT_EQ(summary.functions, "f/call ");
}

TEST(Summary, FindsDefinedAndDroppedTables) {
  EXPECT_EQ(Summary("CREATE TABLE s.a (x int)").tables, "s.a/ddl ");
  EXPECT_EQ(Summary("CREATE TABLE a AS SELECT 1 FROM b").tables, "a/ddl b/select ");
  EXPECT_EQ(Summary("CREATE VIEW a AS SELECT 1 FROM b").tables, "a/ddl b/select ");
  EXPECT_EQ(Summary("CREATE INDEX ON a (f(x)) WHERE g(y)").tables, "a/ddl ");
  EXPECT_EQ(Summary("CREATE INDEX ON a (f(x)) WHERE g(y)").functions, "f/call g/call ");
  EXPECT_EQ(Summary("ALTER TABLE a ADD b int").tables, "a/ddl ");
  EXPECT_EQ(Summary("ALTER INDEX a SET (fillfactor = 1)").tables, "");
  EXPECT_EQ(Summary("ALTER TABLE s.a RENAME TO b").tables, "s.a/ddl s.b/ddl ");
  EXPECT_EQ(Summary("DROP TABLE a, s.b, c.d.e").tables, "a/ddl s.b/ddl d.e/ddl ");
  EXPECT_EQ(Summary("DROP TRIGGER x ON s.a; DROP RULE y ON b").tables, "s.a/ddl b/ddl ");
  EXPECT_EQ(Summary("TRUNCATE a, b").tables, "a/ddl b/ddl ");
  EXPECT_EQ(Summary("LOCK a").tables, "a/ddl ");
  EXPECT_EQ(Summary("VACUUM a, b").tables, "a/ddl b/ddl ");
  EXPECT_EQ(Summary("REFRESH MATERIALIZED VIEW a").tables, "a/ddl ");
  EXPECT_EQ(Summary("GRANT SELECT ON a TO b").tables, "a/ddl ");
  EXPECT_EQ(Summary("GRANT SELECT ON ALL TABLES IN SCHEMA a TO b").tables, "");
  EXPECT_EQ(Summary("CREATE RULE r AS ON INSERT TO a DO NOTHING").tables, "a/ddl ");
}

TEST(Summary, FindsFunctions) {
  EXPECT_EQ(Summary("SELECT f(g(1)), s.f(2), c.s.f(3), f(4)").functions,
            "f/call*2 g/call s.f/call*2 ");
  EXPECT_EQ(Summary("CALL s.p(f(1))").functions, "s.p/call f/call ");
  EXPECT_EQ(Summary("CREATE FUNCTION s.f() RETURNS int LANGUAGE sql AS ''").functions, "s.f/ddl ");
  EXPECT_EQ(Summary("DROP FUNCTION f(int), g").functions, "f/ddl ");
  EXPECT_EQ(Summary("ALTER FUNCTION s.f(int) RENAME TO g").functions, "s.f/ddl g/ddl ");
  EXPECT_EQ(Summary("GRANT EXECUTE ON FUNCTION f(int), s.g TO x").functions, "f/ddl s.g/ddl ");
  // The library looks at conditions twice.
  EXPECT_EQ(Summary("SELECT 1 WHERE f(1)").functions, "f/call*2 ");
}

TEST(Summary, FindsColumnsOfFiltersUpToASubSelect) {
  EXPECT_EQ(
      Summary("SELECT z FROM t WHERE a = 1 AND t.b = 2 AND s.t.c = a AND t.* IS NULL").columns,
      "a*2 t.b s.t.c ");
  EXPECT_EQ(Summary("SELECT 1 WHERE a AND b IN (SELECT c WHERE d) AND e").columns, "a b d ");
  EXPECT_EQ(Summary("DELETE FROM t WHERE a = 1").columns, "");
}

TEST(Summary, KnowsWhichNamesAreCtes) {
  const Summary nested(
      "WITH z AS (WITH y AS (SELECT 1) SELECT 2) SELECT * FROM (WITH m AS (SELECT 1) SELECT * FROM "
      "m) u, z, t");
  EXPECT_EQ(nested.ctes, "z m y ");
  EXPECT_EQ(nested.tables, "t/select ");
  EXPECT_EQ(Summary("WITH a AS (SELECT 1) SELECT * FROM s.a").tables, "s.a/select ");
  EXPECT_EQ(Summary("WITH a AS (SELECT 1) INSERT INTO a SELECT * FROM a").tables, "a/dml ");
  // Without RECURSIVE a CTE does not see itself.
  EXPECT_EQ(Summary("WITH a AS (SELECT * FROM a) SELECT * FROM a").tables, "a/select ");
  EXPECT_EQ(Summary("WITH RECURSIVE a AS (SELECT * FROM a) SELECT * FROM a").tables, "");
  EXPECT_EQ(Summary("WITH RECURSIVE a AS (WITH a AS (SELECT * FROM a) SELECT 1) SELECT 2").tables,
            "");
  EXPECT_EQ(Summary("WITH a AS (SELECT 1), b AS (SELECT 1 FROM a, b) SELECT 2").tables,
            "b/select ");
}

TEST(Summary, ListsStatementTypes) {
  EXPECT_EQ(Summary("SELECT 1; EXPLAIN SELECT 2; PREPARE p AS DELETE FROM t; BEGIN").types,
            "SelectStmt ExplainStmt PrepareStmt DeleteStmt TransactionStmt ");
  EXPECT_EQ(Summary("COPY (SELECT 1) TO STDOUT").types, "CopyStmt ");
  EXPECT_EQ(Summary("").types, "");
}

TEST(Summary, PrintsShortTextsWhole) {
  EXPECT_EQ(Summary("select  1 ;select 2", 100).text, "SELECT 1; SELECT 2");
  EXPECT_EQ(Summary("SELECT 1").text, "");
  EXPECT_EQ(Summary("", 10).text, "");
}

TEST(Summary, LeavesOutTheDeepestAndLongestFirst) {
  const std::string sql =
      "WITH c AS (SELECT aaaaaaaa, bbbbbbbb FROM t WHERE cccccccc) SELECT dddddddd, eeeeeeee FROM "
      "c "
      "WHERE ffffffff = 1";
  EXPECT_EQ(Summary(sql, 110).text,
            "WITH c AS (SELECT ... FROM t WHERE cccccccc) SELECT dddddddd, eeeeeeee FROM c WHERE "
            "ffffffff = 1");
  EXPECT_EQ(Summary(sql, 70).text,
            "WITH c AS (...) SELECT dddddddd, eeeeeeee FROM c WHERE "
            "ffffffff = 1");
  EXPECT_EQ(Summary(sql, 60).text, "WITH c AS (...) SELECT ... FROM c WHERE ffffffff = 1");
  EXPECT_EQ(Summary(sql, 45).text, "WITH c AS (...) SELECT ... FROM c WHERE ...");
  EXPECT_EQ(Summary(sql, 20).text, "WITH c AS (...) S...");
}

TEST(Summary, LeavesOutPartsOfDml) {
  EXPECT_EQ(Summary("INSERT INTO t (aaaaaaaa, bbbbbbbb) VALUES (1, 2)", 35).text,
            "INSERT INTO t (...) VALUES (...)");
  EXPECT_EQ(Summary("INSERT INTO t VALUES (11111, 22222), (33333, 44444)", 35).text,
            "INSERT INTO t VALUES (...)");
  EXPECT_EQ(Summary("UPDATE t SET aaaaaaaa = 1, bbbbbbbb = 2 WHERE c", 35).text,
            "UPDATE t SET ... = ... WHERE c");
  EXPECT_EQ(Summary("DELETE FROM t WHERE aaaaaaaa AND bbbbbbbb", 35).text,
            "DELETE FROM t WHERE ...");
  // No part that could be printed alone.
  EXPECT_EQ(Summary("DELETE FROM t WHERE CURRENT OF aaaaaaaaaaaaaaaa", 20).text,
            "DELETE FROM t WHE...");
}

TEST(Summary, CutsBetweenCharacters) {
  EXPECT_EQ(Summary("SELECT * FROM \"äöüäöüäöüäöü\"", 21).text, "SELECT * FROM \"äöü...");
  EXPECT_EQ(Summary("SELECT * FROM t", 1).text, "...");
}

TEST(Summary, PutsTheTreeBack) {
  const char* sql = "WITH c AS (SELECT a, b FROM t WHERE c) SELECT d, e FROM c WHERE f = 1";
  const auto query = ParsedQuery::Parse(sql, {});
  const std::string before(query.value()->LibraryProtobuf().value());
  EXPECT_TRUE(query.value()->Summarize(1).ok());
  EXPECT_EQ(query.value()->LibraryProtobuf().value(), before);
}

TEST(Summary, DepthIsNoLimit) {
  std::string sql = "SELECT 1 WHERE f(a)";
  for (int i = 0; i < 50'000; ++i) sql += " + a";
  EXPECT_EQ(Summary(sql).columns, "a*50001 ");
  sql = "SELECT 1 FROM t";
  for (int i = 0; i < 50'000; ++i) sql += " CROSS JOIN t";
  EXPECT_EQ(Summary(sql).tables, "t/select*50001 ");
}

TEST(Summary, GivesSyntaxErrors) {
  EXPECT_EQ(Summarize("SELECT FROM FROM", {}, 0).error().reason, Reason::kSqlSyntaxError);
}

}  // namespace
}  // namespace pgparsed::grammar
