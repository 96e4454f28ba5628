#include "tests/chaos/queries.h"

#include <algorithm>
#include <utility>

#include "tests/conformance/corpus.h"
#include "tests/conformance/oracle_client.h"

namespace pgparsed::chaos {

using conformance::OracleAnswer;
using conformance::OracleOperation;

absl::StatusOr<std::vector<Query>> LoadQueries(const std::string& corpus, const std::string& oracle,
                                               size_t count) {
  auto statements = conformance::LoadCorpus(corpus);
  if (!statements.ok()) return statements.status();
  auto client = conformance::OracleClient::Start(oracle);
  if (!client.ok()) return client.status();
  std::vector<Query> queries;
  const size_t step = std::max<size_t>(1, statements->size() / count);
  for (size_t i = 0; i < statements->size() && queries.size() < count; i += step) {
    Query query{.sql = (*statements)[i].sql};
    if (!conformance::IsQueryText(query.sql)) continue;
    const auto answers =
        (*client)->Ask(Mask(OracleOperation::kParseJson) | Mask(OracleOperation::kParseProtobuf) |
                           Mask(OracleOperation::kFingerprint),
                       query.sql);
    if (!answers.ok()) return answers.status();
    const auto answer = [&](OracleOperation operation) -> const OracleAnswer& {
      return answers->at(operation);
    };
    if (answer(OracleOperation::kParseJson).state == OracleAnswer::State::kOk &&
        answer(OracleOperation::kParseProtobuf).state == OracleAnswer::State::kOk) {
      query.parses = true;
      query.json = answer(OracleOperation::kParseJson).bytes;
      query.protobuf = answer(OracleOperation::kParseProtobuf).bytes;
      query.fingerprint = answer(OracleOperation::kFingerprint).fingerprint;
    } else if (answer(OracleOperation::kParseJson).state != OracleAnswer::State::kError) {
      continue;  // the library itself has no answer
    }
    queries.push_back(std::move(query));
  }
  return queries;
}

}  // namespace pgparsed::chaos
