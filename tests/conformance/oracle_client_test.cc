#include "tests/conformance/oracle_client.h"

#include <gtest/gtest.h>

#include <csignal>
#include <string>

namespace pgparsed::conformance {
namespace {

// The oracles that were built, "15,17,18", in PGPARSED_ORACLE_DIR.
std::vector<std::string> Grammars() {
  std::vector<std::string> grammars(1);
  for (const char c : std::string(PGPARSED_ORACLE_GRAMMARS)) {
    if (c == ',') {
      grammars.emplace_back();
    } else {
      grammars.back().push_back(c);
    }
  }
  return grammars;
}

class OracleClientTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    auto client = OracleClient::Start(std::string(PGPARSED_ORACLE_DIR "/oracle-") + GetParam());
    ASSERT_TRUE(client.ok()) << client.status();
    client_ = *std::move(client);
  }

  OracleAnswer Ask(OracleOperation operation, const std::string& sql) {
    auto answers = client_->Ask(Mask(operation), sql);
    EXPECT_TRUE(answers.ok()) << answers.status();
    return answers.ok() ? answers->at(operation) : OracleAnswer();
  }

  std::unique_ptr<OracleClient> client_;
};

TEST_P(OracleClientTest, AnswersEveryOperationAskedForAndNoOther) {
  const auto answers =
      client_->Ask(Mask(OracleOperation::kParseJson) | Mask(OracleOperation::kFingerprint) |
                       Mask(OracleOperation::kNormalize) | Mask(OracleOperation::kDeparse) |
                       Mask(OracleOperation::kSplitParser),
                   "SELECT 1; SELECT a");
  ASSERT_TRUE(answers.ok()) << answers.status();
  ASSERT_EQ(answers->size(), 5u);
  const auto bytes = [&](OracleOperation operation) { return answers->at(operation).bytes; };
  EXPECT_EQ(bytes(OracleOperation::kParseJson).rfind("{\"version\":" + GetParam(), 0), 0u);
  EXPECT_EQ(bytes(OracleOperation::kNormalize), "SELECT $1; SELECT a");
  EXPECT_EQ(bytes(OracleOperation::kDeparse), "SELECT 1; SELECT a");
  const std::vector<OracleSplit> splits = DecodeSplits(bytes(OracleOperation::kSplitParser));
  ASSERT_EQ(splits.size(), 2u);
  EXPECT_EQ(splits[0].length, 8);
  // 15 and 17 count the white space before a statement in.
  EXPECT_EQ(splits[1].location + splits[1].length, 18);
  const OracleAnswer& fingerprint = answers->at(OracleOperation::kFingerprint);
  EXPECT_EQ(std::stoull(fingerprint.bytes, nullptr, 16), fingerprint.fingerprint);
}

TEST_P(OracleClientTest, HandsOverTheLibrarysError) {
  const OracleAnswer answer = Ask(OracleOperation::kParseProtobuf, "SELECT 'é' FORM @");
  ASSERT_EQ(answer.state, OracleAnswer::State::kError);
  EXPECT_EQ(answer.error.message, "syntax error at or near \"@\"");
  EXPECT_EQ(answer.error.cursorpos, 17);
  EXPECT_EQ(answer.error.funcname, "scanner_yyerror");
  EXPECT_EQ(answer.error.filename, "scan.l");
  EXPECT_GT(answer.error.lineno, 0);
  EXPECT_FALSE(answer.error.context.has_value());
}

TEST_P(OracleClientTest, TellsWhichOperationDiedAndGoesOn) {
  // A body that is SQL: 15 and 17 abort.
  const std::string sql = "CREATE FUNCTION f() RETURNS int LANGUAGE sql RETURN 1";
  const auto answers =
      client_->Ask(Mask(OracleOperation::kParseJson) | Mask(OracleOperation::kParsePlpgsql), sql);
  ASSERT_TRUE(answers.ok()) << answers.status();
  EXPECT_EQ(answers->at(OracleOperation::kParseJson).state, OracleAnswer::State::kOk);
  const OracleAnswer& plpgsql = answers->at(OracleOperation::kParsePlpgsql);
  if (GetParam() == "15" || GetParam() == "17") {
    EXPECT_EQ(plpgsql.state, OracleAnswer::State::kCrashed);
    EXPECT_EQ(plpgsql.signal, SIGABRT);
    EXPECT_EQ(client_->crashes(), 1);
  } else {
    EXPECT_EQ(plpgsql.state, OracleAnswer::State::kOk);
    EXPECT_EQ(client_->crashes(), 0);
  }
  EXPECT_EQ(Ask(OracleOperation::kNormalize, "SELECT 1").bytes, "SELECT $1");
}

TEST_P(OracleClientTest, TakesTextLongerThanAPipeHolds) {
  std::string sql = "SELECT 1";
  for (int i = 0; i < 200'000; ++i) sql += ",1";
  const OracleAnswer answer = Ask(OracleOperation::kParseJson, sql);
  EXPECT_EQ(answer.state, OracleAnswer::State::kOk);
  EXPECT_GT(answer.bytes.size(), sql.size());
}

INSTANTIATE_TEST_SUITE_P(Grammar, OracleClientTest, testing::ValuesIn(Grammars()));

TEST(OracleClient, SaysThatTheProgramIsMissing) {
  EXPECT_FALSE(OracleClient::Start("/nonexistent/oracle").ok());
}

}  // namespace
}  // namespace pgparsed::conformance
