// OracleClient: asks one grammar's oracle process (oracle.c) what libpg_query itself answers.
//
// The conformance drivers own one per grammar. Ask blocks until the oracle has answered. An oracle
// that dies while it works is part of the answer: the operation that killed it is found by asking
// each wanted operation alone, reported as kCrashed with the signal, and a fresh process takes the
// next question.
//
// Not thread-safe: one thread at a time.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace pgparsed::conformance {

// The values are the oracle's bit mask.
enum class OracleOperation : uint32_t {
  kParseJson = 1u << 0,
  kParseProtobuf = 1u << 1,
  kFingerprint = 1u << 2,
  kNormalize = 1u << 3,
  kScan = 1u << 4,
  kSplitParser = 1u << 5,
  kSplitScanner = 1u << 6,
  kDeparse = 1u << 7,
  kParsePlpgsql = 1u << 8,
  kNormalizeUtility = 1u << 9,
};

constexpr uint32_t Mask(OracleOperation operation) { return static_cast<uint32_t>(operation); }

// libpg_query's PgQueryError.
struct OracleError {
  std::string message;
  int cursorpos = 0;  // Characters, from 1; 0 when the library gives none.
  std::optional<std::string> funcname;
  std::optional<std::string> filename;
  int lineno = 0;
  std::optional<std::string> context;
};

struct OracleAnswer {
  enum class State { kOk, kError, kUnsupported, kCrashed };
  State state = State::kOk;
  std::string bytes;         // kOk: the result; for the fingerprint its 16 hex digits.
  uint64_t fingerprint = 0;  // kOk of kFingerprint only.
  OracleError error;         // kError only.
  int signal = 0;            // kCrashed only: the signal, 0 when the process exited by itself.
  uint64_t nanoseconds = 0;  // Spent in the library's call.
};

using OracleAnswers = std::map<OracleOperation, OracleAnswer>;

// A statement of one of the two splits: bytes from 0.
struct OracleSplit {
  int location = 0;
  int length = 0;
};

class OracleClient {
 public:
  // Starts `program`, the oracle of one grammar.
  static absl::StatusOr<std::unique_ptr<OracleClient>> Start(std::string program);

  OracleClient(const OracleClient&) = delete;
  OracleClient& operator=(const OracleClient&) = delete;
  ~OracleClient();

  // Asks for every operation in `mask`. `sql` must hold no NUL: the library would see the text up
  // to it only. An error status means that the oracle could not be run or broke its protocol.
  absl::StatusOr<OracleAnswers> Ask(uint32_t mask, std::string_view sql);

  // How often the oracle died so far.
  int crashes() const { return crashes_; }

 private:
  explicit OracleClient(std::string program) : program_(std::move(program)) {}

  absl::Status Spawn();
  // Closes the pipes and reaps the process; returns the signal that ended it, or 0.
  int Reap();
  // nullopt: the process died before the answer was complete.
  std::optional<OracleAnswers> AskProcess(uint32_t mask, std::string_view sql);
  bool WriteAll(const void* bytes, size_t length);
  bool ReadAll(void* bytes, size_t length);
  bool ReadString(std::optional<std::string>* text);

  const std::string program_;
  pid_t pid_ = -1;
  int to_oracle_ = -1;
  int from_oracle_ = -1;
  int crashes_ = 0;
};

// Decodes the bytes of a kSplitParser or kSplitScanner answer.
std::vector<OracleSplit> DecodeSplits(std::string_view bytes);

}  // namespace pgparsed::conformance
