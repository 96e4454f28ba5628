#include "grammar/normalize.h"

#include <gtest/gtest.h>
#include <pg_query.h>

#include <string>

#include "grammar/operations.h"
#include "grammar/parsed_query.h"

namespace pgparsed::grammar {
namespace {

std::string Normalized(const std::string& sql, bool utility_only = false) {
  const auto result = Normalize(sql.c_str(), utility_only);
  return result.ok() ? std::string(result.value().view()) : result.error().message;
}

std::string LibraryNormalized(const std::string& sql) {
  PgQueryNormalizeResult result = pg_query_normalize(sql.c_str());
  std::string text = result.error != nullptr ? result.error->message : result.normalized_query;
  pg_query_free_normalize_result(result);
  return text;
}

TEST(Normalize, EqualsTheLibraryWhereThatIsRight) {
  for (const char* sql :
       {"",
        ";",
        "-- nothing",
        "SELECT 1",
        "SELECT a FROM t WHERE b = 'x' AND c IN (1, 2, NULL)",
        "SELECT -5, - 6, 1 - 2, +3, 4 -- five\n, 6",
        "SELECT interval '1 day', interval '1' hour, interval(3) '2', date '2001-01-01'",
        "SELECT 'a'::varchar(10), CAST(1 AS numeric(10, 2)), int4 '1', ARRAY[1, 2][1]",
        "SELECT E'a\\n', U&'\\0061' , 'a'\n  'b', B'01', X'1F', $$x$$, $tag$ $$ $tag$, N'x'",
        "SELECT TRUE, false, null, 1.5e10, .5 LIMIT ALL OFFSET 3",
        "SELECT $3, $1 + 5, 'x'",
        "SELECT extract(year FROM a), x IS NORMALIZED",
        "SELECT DISTINCT ON (1, a + 1) b FROM t",
        "SELECT 'x' AS \"$$'\", 2 /* ' $$ */ -- '\n, 3",
        "WITH x AS (SELECT 1) SELECT 2 FROM x WHERE 3 = 4 HAVING 5 > 6 LIMIT 7",
        "INSERT INTO t VALUES (1, 'x'), (2, DEFAULT) ON CONFLICT (a) DO UPDATE SET b = 3",
        "UPDATE t SET (a, b) = (1, 2), c = 3 WHERE d = 4",
        "DELETE FROM t WHERE a = 1 RETURNING 2",
        "MERGE INTO t USING s ON t.a = 1 WHEN MATCHED THEN UPDATE SET b = 2",
        "SET x = 5",
        "SET x TO 'a', b",
        "COPY (SELECT 1) TO STDOUT",
        "EXPLAIN SELECT 1",
        "DECLARE c CURSOR FOR SELECT 1",
        "CREATE TABLE t (a int DEFAULT 1)",
        "CALL f(1)",
        "NOTIFY a, 'x'",
        "PREPARE p AS SELECT 1",
        "SELECT 1; SELECT 'x'; ",
        "DO $$BEGIN END$$",
        "DO LANGUAGE plpgsql 'x'",
        "DO 'x' LANGUAGE 'plpgsql'",
        "CREATE FUNCTION f(a int DEFAULT 1) RETURNS int LANGUAGE sql AS 'SELECT 1'",
        "CREATE FUNCTION f() RETURNS int AS $$x$$ LANGUAGE 'sql' IMMUTABLE COST 5",
        "CREATE FUNCTION f() RETURNS int AS 'object', 'symbol' LANGUAGE c",
        "CREATE ROLE a ENCRYPTED PASSWORD 'x' VALID UNTIL 'y' CONNECTION LIMIT 5",
        "ALTER ROLE a PASSWORD NULL",
        "ALTER ROLE a PASSWORD $$x$$",
        "CREATE GROUP a PASSWORD 'x'",
        "CREATE USER MAPPING FOR u SERVER s OPTIONS (user 'x', password 'y')",
        "ALTER USER MAPPING FOR u SERVER s OPTIONS (SET a 'x', DROP b, ADD c 'y')",
        "SELECT 1 FORM x",
        "SELECT 'x"}) {
    EXPECT_EQ(Normalized(sql), LibraryNormalized(sql)) << sql;
  }
}

TEST(Normalize, GivesExpressionsInGroupByTheParametersOfTheTargetList) {
  for (const char* sql :
       {"SELECT a, 1 FROM t GROUP BY 1 ORDER BY 2 LIMIT 5",
        "SELECT a + 1, b + 2 FROM t GROUP BY b + 2, a + 1 HAVING 3 > 4 ORDER BY 1, a + 5",
        "SELECT a + 1, a + 2, 3 FROM t GROUP BY a + 2, a + 1, a + 3, 'x'",
        "SELECT a + 1 FROM t GROUP BY a, a + 1, -1, 1.5, NULL",
        "SELECT $1 + a, 5 + a FROM t GROUP BY $1 + a, 5 + a",
        "SELECT (SELECT 1), a + 2 FROM t GROUP BY (SELECT 3), a + 2",
        "SELECT (SELECT a + 1 FROM t GROUP BY a + 1), b + 2 FROM t GROUP BY b + 2, c + 3",
        "SELECT a IN (1, 2), a IN (3) FROM t GROUP BY a IN (4), a IN (5, 6)",
        "SELECT a + 1 FROM t GROUP BY ROLLUP (a + 1, 2), GROUPING SETS ((a), (3))"}) {
    EXPECT_EQ(Normalized(sql), LibraryNormalized(sql)) << sql;
  }
}

TEST(Normalize, LeavesQueriesAloneWhereOnlyUtilityStatementsCount) {
  if (!kFeatures.normalize_utility) {
    EXPECT_EQ(Normalize("SELECT 1", true).error().reason, Reason::kUnsupportedOption);
    return;
  }
  EXPECT_EQ(
      Normalized("SELECT 1; INSERT INTO t VALUES (2); ALTER ROLE a PASSWORD 'x'; SET a = 3", true),
      "SELECT 1; INSERT INTO t VALUES (2); ALTER ROLE a PASSWORD $1; SET a = 3");
  EXPECT_EQ(Normalized("CREATE FUNCTION f() RETURNS int RETURN 1", true),
            "CREATE FUNCTION f() RETURNS int RETURN 1");
}

// The library 15 and 17 searches the text for these.
TEST(Normalize, FindsOptionsByTheirTokens) {
  EXPECT_EQ(Normalized("CREATE ROLE a PASSWORD U&'\\0061'"), "CREATE ROLE a PASSWORD $1");
  EXPECT_EQ(Normalized("CREATE ROLE a PASSWORD /* ' */ 'pw'"), "CREATE ROLE a PASSWORD /* ' */ $1");
  EXPECT_EQ(Normalized("CREATE ROLE a ENCRYPTED -- '$\nPASSWORD E'x' VALID UNTIL $$y$$"),
            "CREATE ROLE a ENCRYPTED -- '$\nPASSWORD $1 VALID UNTIL $2");
  EXPECT_EQ(Normalized("CREATE USER MAPPING FOR u SERVER s OPTIONS (\"a'b\" 'x', \"c$\" 'y')"),
            "CREATE USER MAPPING FOR u SERVER s OPTIONS (\"a'b\" $1, \"c$\" $2)");
  EXPECT_EQ(Normalized("CREATE FUNCTION f() RETURNS int LANGUAGE sql STABLE SET a = 'x' AS 'y'"),
            "CREATE FUNCTION f() RETURNS int LANGUAGE sql STABLE SET a = $1 AS $2");
  EXPECT_EQ(Normalized("CREATE FUNCTION f() RETURNS int AS 'x' LANGUAGE sql; SELECT 1, 'y'"),
            "CREATE FUNCTION f() RETURNS int AS $1 LANGUAGE sql; SELECT $2, $3");
}

TEST(Normalize, FindsConnectionStringsByTheirTokens) {
  EXPECT_EQ(Normalized("CREATE SUBSCRIPTION s CONNECTION 's' PUBLICATION p"),
            "CREATE SUBSCRIPTION s CONNECTION $1 PUBLICATION p");
  EXPECT_EQ(Normalized("SELECT 1; create /* x */ subscription \"a b\" connection '1' "
                       "PUBLICATION p; ALTER SUBSCRIPTION s CONNECTION ''; SELECT 2"),
            "SELECT $1; create /* x */ subscription \"a b\" connection $2 "
            "PUBLICATION p; ALTER SUBSCRIPTION s CONNECTION $3; SELECT $4");
  EXPECT_EQ(Normalized("ALTER SUBSCRIPTION connection SET PUBLICATION p; SELECT connection 'x'"),
            "ALTER SUBSCRIPTION connection SET PUBLICATION p; SELECT connection $1");
}

TEST(Normalize, CountsTheConstantsOfSqlBodies) {
  EXPECT_EQ(Normalized("CREATE FUNCTION f(a int DEFAULT 1) RETURNS int LANGUAGE sql "
                       "BEGIN ATOMIC SELECT 'secret'; SELECT 2; END"),
            "CREATE FUNCTION f(a int DEFAULT 1) RETURNS int LANGUAGE sql "
            "BEGIN ATOMIC SELECT $1; SELECT $2; END");
  EXPECT_EQ(Normalized("CREATE FUNCTION f(a text) RETURNS text RETURN a || 'secret'"),
            "CREATE FUNCTION f(a text) RETURNS text RETURN a || $1");
  EXPECT_EQ(Normalized("CREATE PROCEDURE f() BEGIN ATOMIC SELECT 1; "
                       "ALTER SUBSCRIPTION s CONNECTION 'secret'; END"),
            "CREATE PROCEDURE f() BEGIN ATOMIC SELECT $1; ALTER SUBSCRIPTION s CONNECTION $2; END");
}

TEST(Normalize, TakesConstantsOfSeveralTokensAsAWhole) {
  EXPECT_EQ(Normalized("SELECT - - 5, -(6), - ( - (7)), (-8), -a"), "SELECT $1, $2, $3, ($4), -a");
  EXPECT_EQ(Normalized("SELECT - /* x */ 7, 1"), "SELECT $1, $2");
  EXPECT_EQ(Normalized("SET x = +5.5"), "SET x = $1");
  EXPECT_EQ(Normalized("SELECT U&'d!0061' UESCAPE '!', U&'x' , 1"), "SELECT $1, $2 , $3");
  EXPECT_EQ(Normalized("SELECT U&'x'"), "SELECT $1");
  EXPECT_EQ(Normalized("CREATE ROLE a PASSWORD U&'!0061' UESCAPE '!' LOGIN"),
            "CREATE ROLE a PASSWORD $1 LOGIN");
}

TEST(Normalize, ContinuesBehindTheHighestParameter) {
  EXPECT_EQ(Normalized("SELECT 1, $5, 'x'"), "SELECT $6, $5, $7");
  EXPECT_EQ(Normalized("SELECT $2147483647 + 5"), "SELECT $2147483647 + $2147483648");
}

TEST(Normalize, SharesAParse) {
  const std::string sql = "SELECT 1 FROM t WHERE a = 'x'";
  const auto query = ParsedQuery::Parse(sql.c_str(), {});
  EXPECT_TRUE(query.value()->Fingerprint({}).ok());
  EXPECT_EQ(query.value()->Normalize(false).value().view(), "SELECT $1 FROM t WHERE a = $2");
  EXPECT_EQ(query.value()->Normalize(false).value().view(), "SELECT $1 FROM t WHERE a = $2");
}

TEST(Normalize, GoesToAnyDepth) {
  for (const int terms : {50'000, 300'000}) {
    std::string sql = "SELECT 1";
    std::string expected = "SELECT $";
    for (int i = 0; i < terms; ++i) sql += "+1";
    expected += std::to_string(1);
    for (int i = 2; i <= terms + 1; ++i) expected += "+$" + std::to_string(i);
    EXPECT_TRUE(Normalized(sql) == expected) << terms;
  }
}

// Each of the columns has a reference to the one source.
TEST(Normalize, WalksTheSourceOfAMultipleAssignmentOnce) {
  std::string columns = "a";
  std::string values = "1";
  std::string expected = "$1";
  for (int i = 2; i <= 20'000; ++i) {
    columns += ", a";
    values += ", 1";
    expected += ", $" + std::to_string(i);
  }
  EXPECT_TRUE(Normalized("UPDATE t SET (" + columns + ") = (" + values + ")") ==
              "UPDATE t SET (" + columns + ") = (" + expected + ")");
}

}  // namespace
}  // namespace pgparsed::grammar
