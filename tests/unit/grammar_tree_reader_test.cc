// Trees come back from protobuf and JSON as the structs that they were, and what is wrong with a
// tree is said with the path to it.
#include "grammar/tree_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <functional>
#include <string>
#include <vector>

#include "grammar/deparse.h"
#include "grammar/parsed_query.h"
#include "grammar/stack_limit.h"
#include "grammar/tree_compare.h"
#include "grammar/tree_writer.h"

namespace pgparsed::grammar {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::unique_ptr<ParsedQuery> Parse(const std::string& sql) {
  auto query = ParsedQuery::Parse(sql.c_str(), {});
  EXPECT_TRUE(query.ok()) << sql;
  return std::move(query.value());
}

// Reads a tree and prints it; the message of the error if it cannot.
std::string FromJson(const std::string& tree) {
  LibraryScope scope;
  std::vector<LibraryText> results;
  const auto statements = ReadJsonTree(scope, tree);
  if (!statements.ok()) return statements.error().message;
  return std::string(PrintStatements(scope, statements.value(), {}, {}, false, results).value());
}

std::string FromProtobuf(const std::string& tree) {
  LibraryScope scope;
  std::vector<LibraryText> results;
  const auto statements = ReadProtobufTree(scope, tree);
  if (!statements.ok()) return statements.error().message;
  return std::string(PrintStatements(scope, statements.value(), {}, {}, false, results).value());
}

const char* const kQueries[] = {
    "SELECT a.b, 'c', 1.5, NULL, true FROM d AS e WHERE f IN (1, 2)",
    "CREATE FOREIGN TABLE a (b int) SERVER c OPTIONS (d 'e')",
    "INSERT INTO a (b) VALUES (DEFAULT), ('x') ON CONFLICT DO NOTHING RETURNING *",
    "CREATE FUNCTION f(a int, OUT b text) LANGUAGE sql AS 'SELECT 1'",
    "SELECT DISTINCT a FROM b; SELECT 3",
};

TEST(TreeReader, TreesComeBackAsTheyWere) {
  for (const std::string sql : kQueries) {
    const auto query = Parse(sql);
    LibraryScope scope;
    const auto from_protobuf = ReadProtobufTree(scope, query->LibraryProtobuf().value());
    ASSERT_TRUE(from_protobuf.ok()) << from_protobuf.error().message;
    EXPECT_EQ(FirstDifference(query->statements(), from_protobuf.value()), std::nullopt) << sql;
    const auto from_json = ReadJsonTree(scope, query->LibraryJson().value());
    ASSERT_TRUE(from_json.ok()) << from_json.error().message;
    EXPECT_EQ(FirstDifference(query->statements(), from_json.value()), std::nullopt) << sql;
  }
}

TEST(TreeReader, TakesJsonThatAProgramWrote) {
  EXPECT_EQ(FromJson(R"({ "stmts" : [ {
                "stmt": {"SelectStmt": {"op": "SETOP_NONE", "limitOption": "LIMIT_OPTION_DEFAULT",
                  "whereClause": null,
                  "targetList": [{"ResTarget": {"val":
                    {"ColumnRef": {"fields": [{"String": {"sval": "\u0061\u00e9"}}]}}}}]}}
              } ] })"),
            "SELECT \"a\xC3\xA9\"");
  EXPECT_EQ(FromJson(R"({"stmts":[]})"), "");
}

// {"stmts":[{"stmt":{"SelectStmt":{"targetList":[{"ResTarget":<target>}]}}}]}
std::string Target(const std::string& target) {
  return R"({"stmts":[{"stmt":{"SelectStmt":{"targetList":[{"ResTarget":)" + target + "}]}}}]}";
}

TEST(TreeReader, FaultsOfJsonNameThePath) {
  const std::string path = "stmts[0].stmt.SelectStmt.targetList[0].ResTarget";
  EXPECT_EQ(FromJson(Target(R"({"vall":{}})")), path + ": there is no such field (\"vall\")");
  EXPECT_EQ(FromJson(Target(R"({"name":1})")), path + ".name: the value is of another type");
  EXPECT_EQ(FromJson(Target(R"({"location":"1"})")), path + ".location: the field is no string");
  EXPECT_EQ(FromJson(Target(R"({"location":1.5})")),
            path + ".location: the field takes whole numbers only");
  EXPECT_EQ(FromJson(Target(R"({"location":3000000000})")),
            path + ".location: the number does not fit the field");
  EXPECT_EQ(FromJson(Target(R"({"name":"a","name":"b"})")),
            path + ".name: the field is there twice");
  EXPECT_EQ(FromJson(Target(R"({"val":{"Columnref":{}}})")),
            path + ".val: there is no such kind of node (\"Columnref\")");
  EXPECT_EQ(FromJson(Target(R"({"val":{}})")), path + ".val: the node is empty");
  EXPECT_EQ(FromJson(Target(R"({"val":{"Null":{},"String":{}}})")),
            path + ".val: the node is of two kinds");
  EXPECT_EQ(FromJson(Target(R"({"name":"a\u0000b"})")),
            path + ".name: the string is no UTF-8, or has a NUL byte");
  EXPECT_EQ(FromJson(Target(R"({"val":{"A_Const":{"sval":{"sval":"a"},"boolval":{}}}})")),
            path + ".val.A_Const.boolval: a constant has one value only");
  EXPECT_EQ(FromJson(R"({"stmts":[{"stmt":{"SelectStmt":{"op":"SETOP_SOME"}}}]})"),
            "stmts[0].stmt.SelectStmt.op: the enum has no value of this name (\"SETOP_SOME\")");
  EXPECT_THAT(FromJson(R"({"stmts":[)"), StartsWith("the tree is no JSON"));
  EXPECT_EQ(FromJson("[]"), "the tree: it is no object with `stmts`");
  EXPECT_THAT(FromJson(R"({"version":90600,"stmts":[]})"), HasSubstr("is of grammar 9 "));
}

TEST(TreeReader, FaultsOfProtobufNameThePath) {
  const auto query = Parse("SELECT a");
  std::string tree(query->LibraryProtobuf().value());
  EXPECT_EQ(FromProtobuf(tree), "SELECT a");
  const size_t name = tree.find(
      "\x0A\x01"
      "a");
  ASSERT_NE(name, std::string::npos);
  const std::string path =
      "stmts[0].stmt.SelectStmt.targetList[0].ResTarget.val.ColumnRef.fields[0].String";
  std::string broken = tree;
  broken[name] = '\x7A';  // field 15
  EXPECT_EQ(FromProtobuf(broken), path + ": the message has a field that is not in its schema");
  broken = tree;
  broken[name + 2] = '\xFF';
  EXPECT_EQ(FromProtobuf(broken), path + ".sval: the string is no UTF-8, or has a NUL byte");
  broken = tree;
  broken[name + 1] = '\x02';
  EXPECT_EQ(FromProtobuf(broken), path + ".sval: the bytes end in the middle, or are no protobuf");
  EXPECT_THAT(FromProtobuf("SELECT a"), HasSubstr("pg_query.ParseResult"));
}

// {"stmts":[{"stmt":<statement>}]}
std::string Statement(const std::string& statement) {
  return R"({"stmts":[{"stmt":)" + statement + "}]}";
}

TEST(TreeReader, RefusesWhatIsNeverMissing) {
  const std::string path = "stmts[0].stmt.SelectStmt.targetList[0].ResTarget.val";
  EXPECT_EQ(FromJson(Target(R"({"val":{"ColumnRef":{}}})")),
            path + ".ColumnRef.fields: the field is missing");
  EXPECT_EQ(FromJson(Target(R"({"val":{"ColumnRef":{"fields":[]}}})")),
            path + ".ColumnRef.fields: the field is missing");
  EXPECT_EQ(FromJson(Statement(R"({"SelectStmt":{"fromClause":[{"RangeVar":{"relname":""}}]}})")),
            "stmts[0].stmt.SelectStmt.fromClause[0].RangeVar.relname: the field is missing");
  EXPECT_EQ(FromJson(R"({"stmts":[{}]})"), "stmts[0].stmt: the field is missing");
}

TEST(TreeReader, RefusesNodesOfOtherKinds) {
  const std::string path = "stmts[0].stmt.SelectStmt.targetList";
  EXPECT_EQ(FromJson(Target(R"({"val":{"ColumnRef":{"fields":[{"Integer":{"ival":7}}]}}})")),
            path + "[0].ResTarget.val.ColumnRef.fields[0]: no node of this kind belongs here");
  EXPECT_EQ(FromJson(Statement(R"({"SelectStmt":{"targetList":[{"A_Star":{}}]}})")),
            path + "[0]: no node of this kind belongs here");
  EXPECT_EQ(FromJson(Statement(R"({"SelectStmt":{"targetList":[{}]}})")),
            path + "[0]: the node is empty");
}

TEST(TreeReader, RefusesNodesWhosePartsDoNotAgree) {
  const std::string operands = R"("name":[{"String":{"sval":"BETWEEN"}}],
      "lexpr":{"ParamRef":{"number":1}},"rexpr":{"ParamRef":{"number":2}}})";
  EXPECT_EQ(FromJson(Target(R"({"val":{"A_Expr":{"kind":"AEXPR_BETWEEN",)" + operands + "}}")),
            "stmts[0].stmt.SelectStmt.targetList[0].ResTarget.val.A_Expr.rexpr: no node of this "
            "kind belongs here");
  EXPECT_EQ(FromJson(Statement(R"({"DropStmt":{"removeType":"OBJECT_TYPE",
                "objects":[{"String":{"sval":"a"}}]}})")),
            "stmts[0].stmt.DropStmt.objects[0]: no node of this kind belongs here");
  EXPECT_EQ(FromJson(Statement(R"({"DoStmt":{"args":[
                {"DefElem":{"defname":"as","arg":{"Integer":{"ival":7}}}}]}})")),
            "stmts[0].stmt.DoStmt.args[0].DefElem.arg: no node of this kind belongs here");
  EXPECT_EQ(FromJson(Statement(R"({"TransactionStmt":{"kind":"TRANS_STMT_SAVEPOINT"}})")),
            "stmts[0].stmt.TransactionStmt.savepoint_name: the field is missing");
  EXPECT_EQ(FromJson(Statement(R"({"SelectStmt":{"op":"SETOP_UNION"}})")),
            "stmts[0].stmt.SelectStmt.larg: the field is missing");
}

// Neither protobuf nor JSON has them in every grammar.
TEST(TreeReader, EmptyLiteralsAreNotMissing) {
  for (const std::string sql : {"CREATE TABLESPACE a LOCATION ''", "SELECT ''"}) {
    const auto query = Parse(sql);
    EXPECT_EQ(FromProtobuf(std::string(query->LibraryProtobuf().value())), sql);
    EXPECT_EQ(FromJson(std::string(query->LibraryJson().value())), sql);
  }
}

TEST(TreeReader, CopyOptionsOfAnyKindDoNotKill) {
  const auto query = Parse("COPY a FROM STDIN (delimiter 3)");
  LibraryScope scope;
  std::vector<LibraryText> results;
  const auto statements = ReadProtobufTree(scope, query->LibraryProtobuf().value());
  ASSERT_TRUE(statements.ok()) << statements.error().message;
  const auto printed = PrintStatements(scope, statements.value(), {}, {}, false, results);
  if (PGPARSED_GRAMMAR >= 18) return;
  ASSERT_FALSE(printed.ok());
  EXPECT_EQ(printed.error().reason, Reason::kDeparseMismatch);
}

TEST(TreeReader, NoChangeOfABytePassesItsBounds) {
  const auto query = Parse(kQueries[0]);
  const std::string protobuf(query->LibraryProtobuf().value());
  const std::string json(query->LibraryJson().value());
  for (size_t at = 0; at < protobuf.size(); ++at) {
    LibraryScope scope;
    (void)ReadProtobufTree(scope, std::string_view(protobuf).substr(0, at));
    for (const int flip : {1, 2, 8, 0x80, 0xFF}) {
      std::string changed = protobuf;
      changed[at] = static_cast<char>(changed[at] ^ flip);
      (void)ReadProtobufTree(scope, changed);
    }
  }
  for (size_t at = 0; at < json.size(); at += 3) {
    LibraryScope scope;
    EXPECT_FALSE(ReadJsonTree(scope, std::string_view(json).substr(0, at)).ok());
    std::string changed = json;
    changed[at] = static_cast<char>(changed[at] ^ 2);
    (void)ReadJsonTree(scope, changed);
  }
}

void OnStack(size_t bytes, const std::function<void()>& body) {
  struct Task {
    size_t bytes;
    const std::function<void()>& body;
  } task{bytes, body};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, bytes);
  pthread_t thread;
  const auto run = [](void* argument) -> void* {
    const auto& own = *static_cast<Task*>(argument);
    pgparsed_set_stack_limit(static_cast<char*>(__builtin_frame_address(0)) - own.bytes / 16 * 15);
    own.body();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, run, &task), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

TEST(TreeReader, DepthIsNoLimitButTheStack) {
  std::string sql = "SELECT x";
  for (int i = 0; i < 50000; ++i) sql += "+x";
  std::string protobuf, json;
  OnStack(size_t{256} << 20, [&] {
    const auto query = Parse(sql);
    std::vector<char> region(32u << 20);
    const auto tree = WriteProtobuf(query->statements(), {sql, text::Encoding::kUtf8}, region);
    protobuf.assign(region.end() - static_cast<ptrdiff_t>(tree.value().bytes), region.end());
    json = query->LibraryJson().value();
    LibraryScope scope;
    for (const auto& read : {ReadProtobufTree(scope, protobuf), ReadJsonTree(scope, json)}) {
      ASSERT_TRUE(read.ok()) << read.error().message;
      EXPECT_EQ(FirstDifference(query->statements(), read.value()), std::nullopt);
    }
  });
  OnStack(size_t{1} << 20, [&] {
    LibraryScope scope;
    for (const auto& read : {ReadProtobufTree(scope, protobuf), ReadJsonTree(scope, json)}) {
      ASSERT_FALSE(read.ok());
      EXPECT_EQ(read.error().reason, Reason::kNestingTooDeep);
    }
  });
}

TEST(TreeCompare, FindsTheFirstDifference) {
  const auto difference = [](const std::string& a, const std::string& b) {
    return FirstDifference(Parse(a)->statements(), Parse(b)->statements());
  };
  EXPECT_EQ(difference("SELECT 1", "  SELECT  1 -- x"), std::nullopt);
  EXPECT_EQ(difference("SELECT 1", "SELECT 2"),
            "stmts[0].RawStmt.stmt.SelectStmt.targetList[0].ResTarget.val.A_Const.ival.ival");
  EXPECT_EQ(difference("SELECT 1", "SELECT '1'"),
            "stmts[0].RawStmt.stmt.SelectStmt.targetList[0].ResTarget.val.A_Const.val");
  EXPECT_EQ(difference("SELECT a", "SELECT a, b"),
            "stmts[0].RawStmt.stmt.SelectStmt.targetList[1]");
  EXPECT_EQ(difference("SELECT a", "DELETE FROM a"), "stmts[0].RawStmt.stmt");
  EXPECT_EQ(difference("SELECT a; SELECT b", "SELECT a"), "stmts[1]");
}

TEST(Verify, FindsSqlThatSaysSomethingElse) {
  const auto query = Parse("SELECT * FROM t FOR UPDATE OF t NOWAIT");
  EXPECT_EQ(Verify("SELECT * FROM t FOR UPDATE OF t NOWAIT", query->statements()), std::nullopt);
  const auto other = Verify("SELECT * FROM t FOR UPDATE OF tNOWAIT", query->statements());
  ASSERT_TRUE(other.has_value());
  EXPECT_EQ(other->reason, Reason::kDeparseMismatch);
  EXPECT_THAT(other->message, HasSubstr("lockingClause[0].LockingClause.lockedRels[0]"));
  const auto broken = Verify("SELECT * FROM", query->statements());
  ASSERT_TRUE(broken.has_value());
  EXPECT_EQ(broken->reason, Reason::kDeparseMismatch);
}

}  // namespace
}  // namespace pgparsed::grammar
