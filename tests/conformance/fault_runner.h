// Runs the cases of known faults against a server and checks everything that they expect.
//
// Owned by the faults driver; uses the server's pid to measure its workers. Not thread-safe. Every
// call blocks until the service has answered.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cpp/private_server.h"
#include "pgparsed/client.h"
#include "tests/conformance/direct_calls.h"
#include "tests/conformance/fault_case.h"

namespace pgparsed::conformance {

class FaultRunner {
 public:
  // `server` must outlive the runner.
  static absl::StatusOr<std::unique_ptr<FaultRunner>> Create(const PrivateServer* server,
                                                             uint32_t grammar);

  // What the service did otherwise than expected; empty when the case passes.
  std::vector<std::string> Run(const FaultCase& fault);

 private:
  // What came of the operation: the text that it made (empty for most), or the error.
  using Outcome = absl::StatusOr<std::string>;

  FaultRunner(const PrivateServer* server, uint32_t grammar) : server_(server), grammar_(grammar) {}

  // Runs the operation and notes failures of what its own expectations ask for.
  Outcome RunOperation(const FaultCase& fault);
  Outcome Parse(const FaultCase& fault);
  Outcome ParsePlpgsql(const FaultCase& fault);
  Outcome Normalize(const FaultCase& fault);
  Outcome Fingerprint(const FaultCase& fault);
  Outcome Scan(const FaultCase& fault);
  Outcome Split(const FaultCase& fault);
  Outcome ParseScript(const FaultCase& fault);
  Outcome DeparseRoundtrip(const FaultCase& fault);
  Outcome Format(const FaultCase& fault);

  // The JSON tree, by ParseChunked when it is too large for one message.
  Outcome ParseJson(const std::string& sql);
  Outcome ParseAs(const std::string& sql, const std::string& format);
  void CheckPositions(const FaultCase& fault);
  void CheckTokens(const FaultCase& fault, const char* key, v1::PositionEncoding encoding);
  void CheckSchemaPair();
  absl::StatusOr<uint64_t> FingerprintOf(const std::string& sql, bool pg17_compatible);

  void CheckOutcome(const FaultCase& fault, const Outcome& outcome);
  void CheckAnswers(const std::string& when);

  template <typename Request>
  Request Make(const std::string& sql) const {
    Request request;
    request.set_query(sql);
    request.set_grammar(grammar_);
    return request;
  }

  // The expectation `key`, or null; remembers that it was looked at.
  const nlohmann::json* Expect(const FaultCase& fault, const std::string& key);
  void Fail(const std::string& what) { failures_.push_back(what); }

  const PrivateServer* const server_;
  const uint32_t grammar_;
  std::unique_ptr<Client> client_;
  std::unique_ptr<DirectCalls> direct_;

  // Of the case that runs.
  std::vector<std::string> failures_;
  std::vector<std::string> looked_at_;
};

}  // namespace pgparsed::conformance
