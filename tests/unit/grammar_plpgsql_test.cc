// PL/pgSQL trees are valid JSON, the library's where that is right, and never an abort.
#include "grammar/plpgsql.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pg_query.h>
#include <pthread.h>
#include <sys/resource.h>

#include <cstdio>
#include <string>
#include <tuple>

#include "grammar/json_check.h"

namespace pgparsed::grammar {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string Tree(const std::string& sql) {
  const auto tree = ParsePlpgsql(sql.c_str());
  if (!tree.ok()) return "error: " + tree.error().message;
  EXPECT_TRUE(IsJson(tree.value().view())) << tree.value().view();
  return std::string(tree.value().view());
}

std::string Function(const std::string& arguments, const std::string& returns,
                     const std::string& body) {
  return "CREATE FUNCTION f(" + arguments + ") RETURNS " + returns + " LANGUAGE plpgsql AS $$" +
         body + "$$";
}

std::string Block(const std::string& body) {
  return Function("a int, b text", "void", "DECLARE x int; BEGIN " + body + " END");
}

struct Answer {
  std::string json;
  std::string error;
};

Answer Library(const std::string& sql) {
  const PgQueryPlpgsqlParseResult result = pg_query_parse_plpgsql(sql.c_str());
  Answer answer;
  if (result.error != nullptr) {
    answer.error = result.error->message;
  } else {
    answer.json = result.plpgsql_funcs;
  }
  pg_query_free_plpgsql_parse_result(result);
  return answer;
}

size_t Count(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(ParsePlpgsql, EqualsTheLibraryWhereThatIsRight) {
  for (const std::string& sql :
       {Function("a int, b text", "int", "DECLARE x int := 1; BEGIN RETURN a + x; END"),
        Function("", "void", "BEGIN PERFORM 1; EXCEPTION WHEN others THEN NULL; END"),
        Function("a int", "void",
                 "<<l>> BEGIN FOR i IN 1..a LOOP RAISE NOTICE '%', i; END LOOP; END"),
        Function("a int", "SETOF int", "BEGIN RETURN QUERY SELECT 1; RETURN NEXT 2; END"),
        Function("int, numeric(3,2)[]", "t", "BEGIN RETURN QUERY EXECUTE 'x' USING $1; END"),
        Function("a int = 3", "int", "DECLARE b ALIAS FOR a; BEGIN RETURN b; END"),
        Function("OUT a int", "int", "BEGIN a := 1; END"), Function("", "int", ""),
        std::string("CREATE PROCEDURE s.p(a int, INOUT b int) LANGUAGE plpgsql AS 'BEGIN END'"),
        std::string("DO $$BEGIN NULL; END$$"), std::string("DO ''"), std::string("DO 'x' 'y'"),
        std::string("DO 'BEGIN END'; SELECT 1; CREATE FUNCTION f() RETURNS int AS 'x' LANGUAGE c"),
        std::string("SELECT 1"), std::string(), std::string("SELECT 1 FORM x")}) {
    const Answer library = Library(sql);
    EXPECT_EQ(Tree(sql), library.error.empty() ? library.json : "error: " + library.error) << sql;
  }
}

TEST(ParsePlpgsql, EqualsTheLibraryForEveryStatement) {
  for (
      const char* body :
      {"x := 1; b = 'y<\"\\\t\x01>é';", "IF a THEN NULL; ELSIF b THEN x := 1; ELSE RETURN; END IF;",
       "IF a THEN ELSE END IF; LOOP END LOOP; BEGIN END;",
       "CASE a WHEN 1, 2 THEN NULL; ELSE END CASE; CASE WHEN a THEN NULL; END CASE;",
       "<<l>> LOOP EXIT l WHEN a; CONTINUE; END LOOP; WHILE a LOOP END LOOP;",
       "FOR i IN REVERSE a..x BY 2 LOOP NULL; END LOOP; FOR a, b IN SELECT 1 LOOP END LOOP;",
       "FOR x IN EXECUTE 'x' USING a, b LOOP END LOOP; FOREACH x SLICE 1 IN ARRAY b LOOP END LOOP;",
       "RAISE; RAISE EXCEPTION 'x%', a USING HINT = b; RAISE division_by_zero; ASSERT a, b;",
       "SELECT 1, 2 INTO STRICT a, x; INSERT INTO t VALUES (1) RETURNING c INTO x;",
       "EXECUTE 'x'; EXECUTE 'x' INTO STRICT x USING a; PERFORM 1; CALL p(a); DO 'x';",
       "GET DIAGNOSTICS x = ROW_COUNT; GET STACKED DIAGNOSTICS b = MESSAGE_TEXT;",
       "COMMIT; ROLLBACK AND CHAIN; DECLARE y text COLLATE \"C\" NOT NULL DEFAULT 'x'; BEGIN END;",
       "DECLARE r record; BEGIN SELECT 1 INTO r; PERFORM r.x; END;",
       "BEGIN NULL; EXCEPTION WHEN no_data OR SQLSTATE '22012' THEN RAISE; WHEN OTHERS THEN END;",
       "x := ;", "SELECT 1 FORM x;", "y := 1;", "EXIT m;"}) {
    const Answer library = Library(Block(body));
    EXPECT_EQ(Tree(Block(body)), library.error.empty() ? library.json : "error: " + library.error)
        << body;
  }
}

TEST(ParsePlpgsql, TriggersAreValidJson) {
  EXPECT_THAT(Tree(Function("", "trigger", "BEGIN RETURN NEW; END")), HasSubstr("\"new\""));
  EXPECT_THAT(Tree(Function("", "event_trigger", "BEGIN RAISE NOTICE '%', tg_tag; END")),
              HasSubstr("PLpgSQL_stmt_raise"));
}

// Where the library of 18 has a stray bracket for each, and equals otherwise.
TEST(ParsePlpgsql, TriggersHaveTheirVariables) {
  for (const auto& [returns, variables, body] :
       {std::tuple("trigger", 10u, "BEGIN NEW.x := OLD.x; tg_op := tg_argv[1]; RETURN NEW; END"),
        std::tuple("event_trigger", 2u, "BEGIN RAISE NOTICE '%', tg_tag; END")}) {
    if (PGPARSED_GRAMMAR < 18) GTEST_SKIP() << "these libraries leave the variables out";
    const std::string sql = Function("", returns, body);
    std::string tree = Tree(sql);
    EXPECT_EQ(Count(tree, "\"refname\":\"tg_"), variables) << tree;
    size_t end = 0;
    for (size_t at; (at = tree.find(R"({"PLpgSQL_var":{"refname":"tg_)", end)) != tree.npos;) {
      end = tree.find("}}}}", at) + 4;
      tree.replace(at, end - at, "{}}");
      end = at;
    }
    EXPECT_EQ(tree, Library(sql).json);
  }
}

TEST(ParsePlpgsql, TriggersArePostgresOwn) {
  EXPECT_THAT(Tree(Function("", "pg_catalog.trigger", "BEGIN RETURN OLD; END")),
              HasSubstr("\"old\""));
  EXPECT_THAT(Tree(Function("", "s.trigger", "BEGIN RETURN 1; END")), Not(HasSubstr("\"old\"")));
}

TEST(ParsePlpgsql, ArgumentsMayBeOfAnySchemaAndVariadic) {
  EXPECT_THAT(Tree(Function("a s.t", "s.t", "BEGIN RETURN a; END")),
              HasSubstr("\"refname\":\"a\""));
  for (const char* type : {"int[]", "_text", "t[]", "s.t[]", "t.x%TYPE", "anyarray"}) {
    EXPECT_THAT(Tree(Function("VARIADIC a " + std::string(type), "int", "BEGIN RETURN 1; END")),
                HasSubstr("\"refname\":\"a\""));
  }
  EXPECT_THAT(Tree(Function("OUT a int, INOUT b text", "record", "BEGIN a := 1; END")),
              HasSubstr("PLpgSQL_stmt_assign"));
}

TEST(ParsePlpgsql, TypesMayBeOfAnySchemaEverywhere) {
  const std::string tree = Tree(
      "CREATE FUNCTION f(a t[], b x.y%TYPE, OUT c s.x.y%TYPE, OUT d s.t) LANGUAGE plpgsql AS "
      "$$DECLARE e s.t; f s.t[]; g t[]; h x.y%TYPE[]; i t%ROWTYPE[]; j s.t%ROWTYPE; BEGIN END$$");
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}) {
    EXPECT_EQ(Count(tree, "{\"refname\":\"" + std::string(name) + "\""), 1u) << name << tree;
  }
  if (PGPARSED_GRAMMAR >= 18) {
    for (const char* type : {"_t", "x.y%TYPE", "s.x.y%TYPE", "x.y%TYPE[]", "t%rowtype[]"}) {
      EXPECT_THAT(tree, HasSubstr("{\"typname\":\"" + std::string(type) + "\"}"));
    }
  }
  for (const char* type : {"s.t", "s.t[]", "SETOF s.t", "t[]", "x.y%TYPE", "SETOF x.y%TYPE"}) {
    EXPECT_THAT(Tree(Function("", type, "BEGIN END")), HasSubstr("PLpgSQL_stmt_block")) << type;
  }
  EXPECT_THAT(Tree(Function("OUT a x.y%TYPE", "int", "BEGIN END")), HasSubstr("\"found\""));
}

TEST(ParsePlpgsql, VariablesWithFieldsAreRows) {
  for (const char* body :
       {"DECLARE r t%ROWTYPE; BEGIN r.x := 1; END", "DECLARE r s.t; BEGIN r.x := 1; END",
        "DECLARE r t; BEGIN SELECT 1 INTO r.x; END", "DECLARE r t%ROWTYPE; BEGIN r.x.y := 1; END",
        "<<b>> DECLARE r t%ROWTYPE; BEGIN b.r.x := 1; END",
        "DECLARE q t%ROWTYPE; r t%ROWTYPE; BEGIN q.x := 1; r.x := 2; END",
        "DECLARE r t; BEGIN INSERT INTO t VALUES (1) RETURNING c INTO r.x; END",
        "DECLARE r t; BEGIN EXECUTE 'x' INTO r.x; GET DIAGNOSTICS r.y = ROW_COUNT; END",
        "DECLARE r t; c refcursor; BEGIN FETCH c INTO r.x; FOREACH r.y IN ARRAY a LOOP END LOOP; "
        "END"}) {
    const std::string tree = Tree(Function("", "void", body));
    EXPECT_THAT(tree, HasSubstr("{\"PLpgSQL_rec\":{\"refname\":\"r\"")) << body;
    EXPECT_THAT(tree, HasSubstr("{\"PLpgSQL_recfield\":{\"fieldname\":\"x\"")) << body;
  }
  EXPECT_EQ(Tree(Function("", "void", "DECLARE r t%ROWTYPE; BEGIN r.x := 1; s.x := 2; END")),
            "error: \"r.x\" is not a known variable");
}

// A compilation for each of them would take minutes, and gigabytes.
TEST(ParsePlpgsql, VariablesOfUnknownTypeMayBeManyRows) {
  constexpr int kRows = 1000;
  const auto peak_megabytes = [] {
    rusage usage = {};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss / 1024;
  };
  const long peak_before = peak_megabytes();
  std::string declarations;
  std::string assignments;
  for (int i = 0; i < kRows; ++i) {
    const std::string name = "r" + std::to_string(i);
    declarations += name + " s.t.c%TYPE;\n";
    assignments += name + ".x := 1; ";
  }
  const std::string tree = Tree("DO $$DECLARE " + declarations + "BEGIN " + assignments + "END$$");
  EXPECT_EQ(Count(tree, "{\"PLpgSQL_rec\""), size_t{kRows}) << tree.substr(0, 200);
  EXPECT_LT(peak_megabytes() - peak_before, 200);
}

TEST(ParsePlpgsql, ARowHasItsFieldsUnderEachOfItsNames) {
  EXPECT_THAT(Tree(Function("a s.t, b s.t", "void",
                            "DECLARE c ALIAS FOR $1; BEGIN c.x := 1; a.y := 2; b.z := 3;"
                            " <<l>> DECLARE d a%TYPE; BEGIN l.d.x := 4; END; END")),
              AllOf(HasSubstr("\"fieldname\":\"x\""), HasSubstr("\"fieldname\":\"y\""),
                    HasSubstr("\"fieldname\":\"z\""), HasSubstr("PLpgSQL_stmt_assign")));
}

TEST(ParsePlpgsql, VariablesAreAsTheLibraryHasThemWhereItCan) {
  const std::string sql =
      Function("", "void", "DECLARE r t%ROWTYPE; BEGIN SELECT 1 INTO r; PERFORM r.x; END");
  EXPECT_EQ(Tree(sql), Library(sql).json);
  EXPECT_THAT(Tree(sql), HasSubstr("{\"PLpgSQL_var\":{\"refname\":\"r\""));
  // Rows elsewhere make none of a variable that a table of a query hides.
  const std::string tree = Tree(Function(
      "", "void", "DECLARE n t.c%TYPE; r t.c%TYPE; BEGIN PERFORM n.x FROM t n; r.x := 1; END"));
  EXPECT_THAT(tree, HasSubstr("{\"PLpgSQL_var\":{\"refname\":\"n\""));
  EXPECT_THAT(tree, HasSubstr("{\"PLpgSQL_rec\":{\"refname\":\"r\""));
}

TEST(ParsePlpgsql, CursorsAreKnown) {
  for (const char* declaration :
       {"CURSOR FOR SELECT 1", "refcursor", "RefCursor := 'x'", "pg_catalog.refcursor"}) {
    const std::string body = "DECLARE c " + std::string(declaration) +
                             "; BEGIN FETCH c INTO a; MOVE ALL FROM c; CLOSE c; END";
    EXPECT_THAT(Tree(Function("a int", "void", body)), HasSubstr("PLpgSQL_stmt_close"))
        << declaration;
  }
  EXPECT_THAT(Tree(Function("c refcursor", "void", "BEGIN OPEN c FOR SELECT 1; END")),
              HasSubstr("PLpgSQL_stmt_open"));
  EXPECT_THAT(
      Tree(Function("", "void",
                    "DECLARE c CURSOR (x int) FOR SELECT x; BEGIN FOR r IN c(1) LOOP PERFORM r.x; "
                    "END LOOP; END")),
      HasSubstr("PLpgSQL_stmt_forc"));
  EXPECT_THAT(Tree(Function("c int", "void", "BEGIN CLOSE c; END")),
              HasSubstr("error: variable \"c\" must be of type cursor or refcursor"));
}

TEST(ParsePlpgsql, ReturnNextReturnsTheOutputs) {
  EXPECT_THAT(Tree(Function("", "TABLE(a int, b text)", "BEGIN RETURN NEXT; END")),
              HasSubstr("PLpgSQL_stmt_return_next"));
}

TEST(ParsePlpgsql, FunctionsWithoutTextAreAnError) {
  EXPECT_EQ(Tree("CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql RETURN 1"),
            "error: inline SQL function body only valid for language SQL");
  EXPECT_EQ(Tree("CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS 'BEGIN END' RETURN 1"),
            "error: duplicate function body specified");
  EXPECT_EQ(Tree("CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql"),
            "error: no function body specified");
  EXPECT_EQ(Tree("DO LANGUAGE plpgsql"), "error: no inline code specified");
}

TEST(ParsePlpgsql, FunctionsInOtherLanguagesAreEmpty) {
  for (const char* sql : {"CREATE FUNCTION f() RETURNS int LANGUAGE sql RETURN 1",
                          "CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1; END",
                          "CREATE FUNCTION f() RETURNS int AS 'a', 'b' LANGUAGE c",
                          "DO LANGUAGE plpython3u 'x'", "CREATE PROCEDURE p() LANGUAGE sql"}) {
    EXPECT_EQ(Tree(sql), "[\n{\"PLpgSQL_function\":{\"datums\":[]}}\n]") << sql;
  }
}

TEST(ParsePlpgsql, FunctionsAreNamedWithoutTheirSchema) {
  EXPECT_THAT(Tree("CREATE FUNCTION s.f(a int) RETURNS void AS 'BEGIN f.a := 1; END' LANGUAGE "
                   "plpgsql"),
              HasSubstr("PLpgSQL_stmt_assign"));
  const auto error =
      ParsePlpgsql("CREATE FUNCTION s.f() RETURNS int LANGUAGE plpgsql AS 'BEGIN x; END'").error();
  EXPECT_EQ(error.context, "compilation of PL/pgSQL function \"f\" near line 1");
}

TEST(ParsePlpgsql, ErrorsInTheBodyAreErrors) {
  EXPECT_THAT(Tree(Function("", "int", "BEGIN RETURN 1 END")), HasSubstr("error: "));
  EXPECT_THAT(Tree(Function("", "int", "BEGIN x := ; END")), HasSubstr("error: "));
  EXPECT_THAT(Tree("SELECT 1 FORM x"), HasSubstr("error: syntax error"));
  EXPECT_THAT(Tree("DO 'BEGIN END'; DO 'BEGIN'"), HasSubstr("error: syntax error"));
}

TEST(ParsePlpgsql, AnErrorLeavesNothingBehind) {
  const std::string sql = Function("a int", "int", "BEGIN RETURN a; END");
  const std::string tree = Tree(sql);
  Tree(Function("a int", "int", "<<l>> DECLARE r t; BEGIN r.x := 'a; END"));
  EXPECT_EQ(Tree(sql), tree);
}

TEST(ParsePlpgsql, BadSignaturesAreErrors) {
  if (PGPARSED_GRAMMAR < 18) GTEST_SKIP() << "these libraries look no types up";
  for (const auto& [arguments, returns, message] :
       {std::tuple("a int, OUT a int", "int", "parameter name \"a\" used more than once"),
        std::tuple("VARIADIC a int", "int", "VARIADIC parameter must be an array"),
        std::tuple("a int", "trigger", "trigger functions cannot have declared arguments"),
        std::tuple("a cstring", "int", "PL/pgSQL functions cannot accept type cstring"),
        std::tuple("", "internal", "PL/pgSQL functions cannot return type internal"),
        std::tuple("", "trigger[]", "type \"trigger[]\" does not exist"),
        std::tuple("OUT a int, OUT b int", "int",
                   "function result type must be record because of OUT parameters")}) {
    EXPECT_EQ(Tree(Function(arguments, returns, "BEGIN END")), "error: " + std::string(message));
  }
  EXPECT_EQ(Tree("CREATE FUNCTION f() LANGUAGE plpgsql AS 'BEGIN END'"),
            "error: function result type must be specified");
}

// As a worker does: sanitizers make the writer's frames large.
void RunOnLargeStack(void (*run)()) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, size_t{256} << 20);
  pthread_t thread;
  const auto call = [](void* argument) -> void* {
    (*static_cast<void (**)()>(argument))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, call, &run), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

TEST(ParsePlpgsql, TakesDeepBlocks) {
  RunOnLargeStack([] {
    constexpr size_t kDepth = 2000;
    std::string body = "$$";
    for (size_t i = 0; i < kDepth; ++i) body += "BEGIN ";
    for (size_t i = 1; i < kDepth; ++i) body += "END; ";
    EXPECT_EQ(Count(Tree("DO " + body + "END$$"), "PLpgSQL_stmt_block"), kDepth);
  });
}

TEST(ParsePlpgsql, RefusesDeeperBlocksAsTooDeep) {
  constexpr int kDepth = 10000;
  for (const auto& [begin, end] :
       {std::tuple("BEGIN ", "END; "), std::tuple("IF true THEN ", "END IF; "),
        std::tuple("DECLARE r t%ROWTYPE; BEGIN r.x := 1; ", "END; ")}) {
    std::string body = "$$BEGIN ";
    for (int i = 0; i < kDepth; ++i) body += begin;
    for (int i = 0; i < kDepth; ++i) body += end;
    const auto tree = ParsePlpgsql(("DO " + body + "END$$").c_str());
    ASSERT_FALSE(tree.ok()) << begin;
    EXPECT_EQ(tree.error().reason, Reason::kNestingTooDeep) << tree.error().message;
  }
}

TEST(ParsePlpgsql, PrintsNothing) {
  testing::internal::CaptureStdout();
  EXPECT_THAT(Tree("DO '#option dump\nBEGIN NULL; END'"), HasSubstr("PLpgSQL_function"));
  EXPECT_THAT(Tree(Function("", "void", "#option dump\nBEGIN NULL; END")),
              HasSubstr("PLpgSQL_function"));
  std::fflush(stdout);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

}  // namespace
}  // namespace pgparsed::grammar
