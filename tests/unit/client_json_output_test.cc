#include "cli/json_output.h"

#include <gtest/gtest.h>

#include "cli/exit_code.h"
#include "nlohmann/json.hpp"
#include "pgparsed/errors.h"

namespace pgparsed::cli {
namespace {

using Json = nlohmann::json;

TEST(JsonOutput, TreesStandInItAsJson) {
  v1::ParseResponse response;
  response.set_grammar(18);
  response.set_postgres_version_num(180006);
  response.set_json(R"({"version":180006,"stmts":[]})");
  response.add_warnings("careful");
  response.mutable_timing()->set_queue_ns(1);
  EXPECT_EQ(
      ToJson(response),
      R"({"grammar":18,"postgres_version_num":180006,"timing":{"queue_ns":1,"parse_ns":0,)"
      R"("convert_ns":0,"total_ns":0,"bytes_produced":0},"tree":{"version":180006,"stmts":[]},)"
      R"("warnings":["careful"]})");
}

TEST(JsonOutput, BinaryTreesAreBase64) {
  v1::ParseResponse response;
  response.set_protobuf("\xFF\x01");
  EXPECT_EQ(Json::parse(ToJson(response))["tree_base64"], "/wE=");
}

TEST(JsonOutput, FingerprintsAreHexAndDecimal) {
  v1::FingerprintResponse response;
  response.set_fingerprint(0x0fde20626009aba5);
  const Json json = Json::parse(ToJson(response));
  EXPECT_EQ(json["fingerprint"], "0fde20626009aba5");
  EXPECT_EQ(json["value"], std::to_string(0x0fde20626009aba5));
}

TEST(JsonOutput, TokensAreObjectsWithTheirText) {
  v1::ScanResponse response;
  v1::TokenColumns& tokens = *response.mutable_tokens();
  tokens.add_names("SELECT");
  tokens.add_names("SCONST");
  tokens.add_start(0);
  tokens.add_end(6);
  tokens.add_token(653);
  tokens.add_name(0);
  tokens.add_keyword_kind(v1::KEYWORD_KIND_RESERVED);
  tokens.add_start(7);
  tokens.add_end(11);  // UTF-16 units
  tokens.add_token(261);
  tokens.add_name(1);
  tokens.add_keyword_kind(v1::KEYWORD_KIND_UNSPECIFIED);
  const Json json =
      Json::parse(ToJson(response, "SELECT '\xF0\x9F\x98\x80', 1", v1::POSITION_ENCODING_UTF16));
  EXPECT_EQ(json["tokens"],
            Json::parse(R"([{"start":0,"end":6,"token":"SELECT","number":653,)"
                        R"("keyword":"reserved","text":"SELECT"},)"
                        "{\"start\":7,\"end\":11,\"token\":\"SCONST\",\"number\":261,"
                        "\"text\":\"'\xF0\x9F\x98\x80'\"}]"));
}

TEST(JsonOutput, PiecesAreObjectsWithTheirText) {
  v1::SplitResponse response;
  v1::PieceColumns& pieces = *response.mutable_pieces();
  pieces.add_start(0);
  pieces.add_length(8);
  pieces.add_line(1);
  pieces.add_start(9);
  pieces.add_length(9);
  pieces.add_line(1);
  pieces.add_kind(v1::PIECE_KIND_STATEMENT);
  pieces.add_kind(v1::PIECE_KIND_META_COMMAND);
  const Json json = Json::parse(ToJson(response, "SELECT 1;\\connect", v1::POSITION_ENCODING_UTF8));
  EXPECT_EQ(json["pieces"][0]["text"], "SELECT 1");
  EXPECT_EQ(json["pieces"][1]["kind"], "meta-command");
  EXPECT_EQ(json["pieces"][1]["text"], "\\connect");
}

TEST(JsonOutput, ColumnsOfAServerThatErrsDoNotCrash) {
  v1::ScanResponse response;
  v1::TokenColumns& tokens = *response.mutable_tokens();
  tokens.add_start(100);
  tokens.add_end(2);
  tokens.add_name(9);
  EXPECT_EQ(Json::parse(ToJson(response, "abc", v1::POSITION_ENCODING_UTF8))["tokens"][0]["text"],
            "");
}

TEST(JsonOutput, AnalyzeListsWhatFailed) {
  v1::AnalyzeResponse response;
  response.set_fingerprint(1);
  v1::OperationError& error = *response.add_errors();
  error.set_operation(v1::OPERATION_PARSE);
  error.set_reason("SQL_SYNTAX_ERROR");
  error.set_message("syntax error");
  error.mutable_sql_error()->set_message("syntax error");
  error.mutable_sql_error()->set_position(3);
  const Json json = Json::parse(ToJson(response, "x", v1::POSITION_ENCODING_UTF8));
  EXPECT_EQ(json["fingerprint"], "0000000000000001");
  EXPECT_EQ(json["errors"][0]["operation"], "parse");
  EXPECT_EQ(json["errors"][0]["sql_error"]["position"], 3);
  EXPECT_FALSE(json.contains("tree"));
}

TEST(JsonOutput, ErrorsTellEverything) {
  SqlError sql;
  sql.message = "syntax error";
  sql.position = 9;
  sql.line = 1;
  sql.column = 10;
  absl::Status status = MakeSqlError(Reason::kSqlSyntaxError, sql);
  AddErrorMetadata(status, "key", "value");
  const Json json = Json::parse(ErrorToJson(status))["error"];
  EXPECT_EQ(json["code"], "INVALID_ARGUMENT");
  EXPECT_EQ(json["reason"], "SQL_SYNTAX_ERROR");
  EXPECT_EQ(json["metadata"]["key"], "value");
  EXPECT_EQ(json["sql_error"]["position"], 9);
}

TEST(ExitCode, FollowsTheReason) {
  const auto code = [](Reason reason) { return ExitCodeOf(MakeError(reason, "x")); };
  EXPECT_EQ(ExitCodeOf(absl::OkStatus()), 0);
  EXPECT_EQ(code(Reason::kSqlSyntaxError), 1);
  EXPECT_EQ(code(Reason::kNestingTooDeep), 1);
  EXPECT_EQ(code(Reason::kUnsupportedOption), 2);
  EXPECT_EQ(code(Reason::kInvalidTree), 2);
  EXPECT_EQ(code(Reason::kUnavailable), 3);
  EXPECT_EQ(code(Reason::kParserTimeLimit), 3);
  EXPECT_EQ(code(Reason::kDeparseMismatch), 4);
  EXPECT_EQ(ExitCodeOf(absl::ResourceExhaustedError("message larger than max")), 3);
  EXPECT_EQ(ExitCodeOf(absl::UnknownError("x")), 4);
}

}  // namespace
}  // namespace pgparsed::cli
