// Sends every statement of the corpus through a server of its own and compares each answer with
// libpg_query's (the oracle): the same bytes, or the same message at the same place.
//
//   conformance --grammar N --server-bin PATH --worker-dir DIR --oracle PATH --proto PATH
//               --corpus DIR --known-differences PATH [--every N]
//
// Operations: Parse as JSON and as protobuf, Fingerprint, Normalize, Scan. Calls are asynchronous,
// kCallsInFlight at a time. Position encodings take turns, and the expected positions are computed
// here from the library's. Statements that are no query text (invalid UTF-8) must be refused with
// INVALID_QUERY_TEXT by every operation.
//
// Prints counts and, for each difference, where the statement stands, never its text. Ends with 0
// when every difference is listed in --known-differences and every listed one differs, else 1; 2
// when the test could not run. --every N takes each N-th statement only.
#include <array>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cpp/private_server.h"
#include "pgparsed/client.h"
#include "tests/conformance/corpus.h"
#include "tests/conformance/direct_calls.h"
#include "tests/conformance/oracle_client.h"
#include "tests/conformance/scan_tokens.h"

namespace pgparsed::conformance {
namespace {

constexpr int kCallsInFlight = 16;
constexpr size_t kStatementsAtOnce = 64;

struct Arguments {
  uint32_t grammar = 0;
  std::string server_bin;
  std::string worker_dir;
  std::string oracle;
  std::string proto;
  std::string corpus;
  std::string known_differences;
  size_t every = 1;
};

struct OperationInfo {
  OracleOperation operation;
  const char* name;
  const char* method;
};

constexpr OperationInfo kOperations[] = {
    {OracleOperation::kParseJson, "parse_json", "Parse"},
    {OracleOperation::kParseProtobuf, "parse_protobuf", "Parse"},
    {OracleOperation::kFingerprint, "fingerprint", "Fingerprint"},
    {OracleOperation::kNormalize, "normalize", "Normalize"},
    {OracleOperation::kScan, "scan", "Scan"},
};
constexpr size_t kOperationCount = std::size(kOperations);

constexpr v1::PositionEncoding kEncodings[] = {
    v1::POSITION_ENCODING_UTF32, v1::POSITION_ENCODING_UTF8, v1::POSITION_ENCODING_UTF16};

// What the service said to one call.
struct ServiceAnswer {
  absl::Status status;
  v1::PositionEncoding encoding = v1::POSITION_ENCODING_UTF8;
  std::string bytes;  // JSON, protobuf, normalized text, or the fingerprint's hex.
  uint64_t fingerprint = 0;
  v1::TokenColumns tokens;
};

// The place of byte `offset` in `text`, counted in `encoding`.
uint32_t UnitsBefore(std::string_view text, size_t offset, v1::PositionEncoding encoding) {
  uint32_t units = 0;
  for (size_t i = 0; i < offset && i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool starts_character = (byte & 0xC0) != 0x80;
    switch (encoding) {
      case v1::POSITION_ENCODING_UTF16:
        units += starts_character ? (byte >= 0xF0 ? 2 : 1) : 0;
        break;
      case v1::POSITION_ENCODING_UTF32:
        units += starts_character ? 1 : 0;
        break;
      default:
        ++units;
    }
  }
  return units;
}

// The byte at which character `index` (from 0) begins.
size_t ByteOfCharacter(std::string_view text, size_t index) {
  size_t seen = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80 && seen++ == index) return i;
  }
  return text.size();
}

// The library's error as the service must report it.
SqlError ExpectedError(const OracleError& error, std::string_view sql,
                       v1::PositionEncoding encoding) {
  SqlError expected;
  expected.message = error.message;
  expected.source_function = error.funcname.value_or("");
  expected.source_file = error.filename.value_or("");
  expected.source_line = static_cast<uint32_t>(error.lineno);
  expected.context = error.context.value_or("");
  if (error.cursorpos > 0) {
    const size_t byte = ByteOfCharacter(sql, static_cast<size_t>(error.cursorpos) - 1);
    const size_t line_start = byte == 0 ? 0 : sql.substr(0, byte).rfind('\n') + 1;
    expected.position = UnitsBefore(sql, byte, encoding);
    expected.line = 1;
    for (const char c : sql.substr(0, byte)) expected.line += c == '\n' ? 1 : 0;
    expected.column = UnitsBefore(sql.substr(line_start), byte - line_start, encoding) + 1;
  }
  return expected;
}

Reason ExpectedReason(const OracleError& error) {
  const std::string_view message = error.message;
  const bool too_deep = message.starts_with("memory exhausted") ||
                        message.find("stack depth limit") != std::string_view::npos ||
                        message.find("nested too deeply") != std::string_view::npos;
  return too_deep ? Reason::kNestingTooDeep : Reason::kSqlSyntaxError;
}

std::string BytesDiffer(std::string_view expected, std::string_view got) {
  size_t at = 0;
  while (at < expected.size() && at < got.size() && expected[at] == got[at]) ++at;
  return absl::StrCat("bytes differ from ", at, " on (", expected.size(), " expected, ", got.size(),
                      " came)");
}

class Conformance {
 public:
  explicit Conformance(Arguments arguments) : arguments_(std::move(arguments)) {}

  int Run() {
    if (absl::Status status = SetUp(); !status.ok()) {
      std::fprintf(stderr, "conformance: %s\n", status.ToString().c_str());
      return 2;
    }
    std::vector<CorpusStatement> taken;
    for (size_t i = 0; i < corpus_.size(); i += arguments_.every) {
      taken.push_back(std::move(corpus_[i]));
    }
    corpus_ = std::move(taken);
    for (size_t first = 0; first < corpus_.size(); first += kStatementsAtOnce) {
      if (absl::Status status = RunSome(first); !status.ok()) {
        std::fprintf(stderr, "conformance: %s\n", status.ToString().c_str());
        return 2;
      }
    }
    return Report();
  }

 private:
  struct Counts {
    long equal = 0;
    long errors_equal = 0;
    long refused_text = 0;
    long known = 0;
    long different = 0;
  };
  // Operation name and file:line of a statement.
  using Place = std::pair<std::string, std::string>;

  absl::Status SetUp() {
    absl::StatusOr<std::vector<CorpusStatement>> corpus = LoadCorpus(arguments_.corpus);
    if (!corpus.ok()) return corpus.status();
    corpus_ = *std::move(corpus);
    if (absl::Status status = ReadKnownDifferences(); !status.ok()) return status;
    absl::StatusOr<std::unique_ptr<OracleClient>> oracle = OracleClient::Start(arguments_.oracle);
    if (!oracle.ok()) return oracle.status();
    oracle_ = *std::move(oracle);
    absl::StatusOr<std::unique_ptr<ScanTokenReader>> tokens =
        ScanTokenReader::Load(arguments_.proto);
    if (!tokens.ok()) return tokens.status();
    tokens_ = *std::move(tokens);
    absl::StatusOr<std::unique_ptr<PrivateServer>> server =
        PrivateServer::Start({.binary = arguments_.server_bin,
                              .flags = {"--worker-dir", arguments_.worker_dir, "--default-grammar",
                                        std::to_string(arguments_.grammar)}});
    if (!server.ok()) return server.status();
    server_ = *std::move(server);
    absl::StatusOr<std::unique_ptr<Client>> client =
        Client::Connect({.address = server_->address(), .grammar = arguments_.grammar});
    if (!client.ok()) return client.status();
    client_ = *std::move(client);
    direct_ = std::make_unique<DirectCalls>(client_->options().address);
    return absl::OkStatus();
  }

  absl::Status ReadKnownDifferences() {
    std::ifstream in(arguments_.known_differences);
    if (!in) return absl::NotFoundError("cannot read " + arguments_.known_differences);
    for (std::string line; std::getline(in, line);) {
      if (line.empty() || line[0] == '#') continue;
      std::istringstream words(line);
      uint32_t grammar = 0;
      Place place;
      std::string why;
      if (!(words >> grammar >> place.first >> place.second >> why)) {
        return absl::InvalidArgumentError("a known difference without a reason: " + line);
      }
      if (grammar == arguments_.grammar) known_.insert(place);
    }
    return absl::OkStatus();
  }

  // Sends some statements, asks the oracle meanwhile, and compares when all answers are there.
  absl::Status RunSome(size_t first) {
    const size_t last = std::min(first + kStatementsAtOnce, corpus_.size());
    std::vector<std::array<ServiceAnswer, kOperationCount>> answers(last - first);
    for (size_t i = first; i < last; ++i) {
      if (!IsQueryText(corpus_[i].sql)) continue;
      for (size_t k = 0; k < kOperationCount; ++k) {
        answers[i - first][k].encoding = kEncodings[(i + k) % std::size(kEncodings)];
        Send(kOperations[k].operation, corpus_[i].sql, answers[i - first][k]);
      }
    }
    uint32_t mask = 0;
    for (const OperationInfo& info : kOperations) mask |= Mask(info.operation);
    std::vector<OracleAnswers> expected(last - first);
    absl::Status failed;
    for (size_t i = first; i < last && failed.ok(); ++i) {
      if (!IsQueryText(corpus_[i].sql)) continue;
      absl::StatusOr<OracleAnswers> one = oracle_->Ask(mask, corpus_[i].sql);
      if (one.ok()) {
        expected[i - first] = *std::move(one);
      } else {
        failed = one.status();
      }
    }
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return in_flight_ == 0; });
    }
    if (!failed.ok()) return failed;
    for (size_t i = first; i < last; ++i) {
      if (!IsQueryText(corpus_[i].sql)) {
        ExpectRefused(corpus_[i]);
        continue;
      }
      for (size_t k = 0; k < kOperationCount; ++k) {
        Compare(corpus_[i], kOperations[k], expected[i - first].at(kOperations[k].operation),
                answers[i - first][k]);
      }
    }
    return absl::OkStatus();
  }

  // Starts a call when there is room. `answer` must stay until in_flight_ is 0.
  void Send(OracleOperation operation, const std::string& sql, ServiceAnswer& answer) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return in_flight_ < kCallsInFlight; });
      ++in_flight_;
    }
    switch (operation) {
      case OracleOperation::kParseJson:
      case OracleOperation::kParseProtobuf: {
        // Locations in trees are the library's: bytes.
        answer.encoding = v1::POSITION_ENCODING_UTF8;
        auto request = Request<v1::ParseRequest>(sql, answer.encoding);
        request.set_format(operation == OracleOperation::kParseJson ? v1::TREE_FORMAT_JSON
                                                                    : v1::TREE_FORMAT_PROTOBUF);
        client_->ParseAsync(std::move(request), [&](absl::StatusOr<v1::ParseResponse> response) {
          if (response.ok()) {
            answer.bytes = response->has_json() ? response->json() : response->protobuf();
          }
          Done(response, answer);
        });
        return;
      }
      case OracleOperation::kFingerprint:
        client_->FingerprintAsync(Request<v1::FingerprintRequest>(sql, answer.encoding),
                                  [&](absl::StatusOr<v1::FingerprintResponse> response) {
                                    if (response.ok()) {
                                      answer.bytes = response->hex();
                                      answer.fingerprint = response->fingerprint();
                                    }
                                    Done(response, answer);
                                  });
        return;
      case OracleOperation::kNormalize:
        client_->NormalizeAsync(Request<v1::NormalizeRequest>(sql, answer.encoding),
                                [&](absl::StatusOr<v1::NormalizeResponse> response) {
                                  if (response.ok()) answer.bytes = response->query();
                                  Done(response, answer);
                                });
        return;
      default:
        client_->ScanAsync(Request<v1::ScanRequest>(sql, answer.encoding),
                           [&](absl::StatusOr<v1::ScanResponse> response) {
                             if (response.ok()) answer.tokens = response->tokens();
                             Done(response, answer);
                           });
    }
  }

  template <typename T>
  T Request(const std::string& sql, v1::PositionEncoding encoding) const {
    T request;
    request.set_query(sql);
    request.set_grammar(arguments_.grammar);
    request.set_position_encoding(encoding);
    return request;
  }

  template <typename T>
  void Done(const absl::StatusOr<T>& response, ServiceAnswer& answer) {
    answer.status = response.status();
    if (response.ok() && response->grammar() != arguments_.grammar) {
      answer.status = absl::InternalError("another grammar answered");
    }
    std::lock_guard lock(mutex_);
    --in_flight_;
    changed_.notify_all();
  }

  void ExpectRefused(const CorpusStatement& statement) {
    for (const OperationInfo& info : kOperations) {
      const absl::Status status = direct_->Unary(info.method, statement.sql, arguments_.grammar);
      if (ReasonOf(status) == Reason::kInvalidQueryText) {
        ++counts_[info.name].refused_text;
      } else {
        Different(statement, info,
                  absl::StrCat("no query text, but the answer is ", status.ToString()));
      }
    }
  }

  void Compare(const CorpusStatement& statement, const OperationInfo& info,
               const OracleAnswer& expected, const ServiceAnswer& got) {
    std::string difference;
    if (expected.state == OracleAnswer::State::kOk) {
      difference = CompareResult(statement, info, expected, got);
    } else if (expected.state == OracleAnswer::State::kError) {
      difference = CompareError(statement, expected.error, got);
    } else {
      difference = "the library itself crashes on it";
    }
    if (!difference.empty()) {
      Different(statement, info, difference);
    } else if (expected.state == OracleAnswer::State::kOk) {
      ++counts_[info.name].equal;
    } else {
      ++counts_[info.name].errors_equal;
    }
  }

  std::string CompareResult(const CorpusStatement& statement, const OperationInfo& info,
                            const OracleAnswer& expected, const ServiceAnswer& got) const {
    if (!got.status.ok()) return "refused: " + got.status.ToString();
    if (info.operation == OracleOperation::kScan) {
      return CompareTokens(statement.sql, expected.bytes, got);
    }
    if (expected.bytes != got.bytes) return BytesDiffer(expected.bytes, got.bytes);
    if (expected.fingerprint != got.fingerprint) return "the fingerprint's number differs";
    return "";
  }

  std::string CompareTokens(std::string_view sql, const std::string& scan_result,
                            const ServiceAnswer& got) const {
    absl::StatusOr<std::vector<ScannedToken>> expected = tokens_->Read(scan_result);
    if (!expected.ok()) return expected.status().ToString();
    const v1::TokenColumns& columns = got.tokens;
    const int count = static_cast<int>(expected->size());
    if (columns.start_size() != count || columns.end_size() != count ||
        columns.token_size() != count || columns.name_size() != count ||
        columns.keyword_kind_size() != count) {
      return absl::StrCat(count, " tokens expected, ", columns.start_size(), " came");
    }
    for (int i = 0; i < count; ++i) {
      const ScannedToken& token = (*expected)[static_cast<size_t>(i)];
      const bool name_fits = columns.name(i) < static_cast<uint32_t>(columns.names_size());
      if (columns.start(i) != UnitsBefore(sql, token.start, got.encoding) ||
          columns.end(i) != UnitsBefore(sql, token.end, got.encoding) ||
          columns.token(i) != token.token ||
          static_cast<uint32_t>(columns.keyword_kind(i)) != token.keyword_kind || !name_fits ||
          columns.names(static_cast<int>(columns.name(i))) != token.name) {
        return absl::StrCat("token ", i, " differs");
      }
    }
    return "";
  }

  static std::string CompareError(const CorpusStatement& statement, const OracleError& error,
                                  const ServiceAnswer& got) {
    if (got.status.ok()) return "taken, but the library rejects it: " + error.message;
    if (ReasonOf(got.status) != ExpectedReason(error)) {
      return "another reason: " + got.status.ToString();
    }
    const std::optional<SqlError> sql_error = SqlErrorOf(got.status);
    if (!sql_error.has_value()) return "no SqlError in the status";
    const SqlError expected = ExpectedError(error, statement.sql, got.encoding);
    if (*sql_error == expected) return "";
    const auto place = [](const SqlError& e) {
      return absl::StrCat(
          "\"", e.message, "\" at ", e.position.has_value() ? absl::StrCat(*e.position) : "-", " (",
          e.line, ":", e.column, "), ", e.source_function, " ", e.source_file, ":", e.source_line);
    };
    return absl::StrCat("error ", place(*sql_error), " instead of ", place(expected));
  }

  void Different(const CorpusStatement& statement, const OperationInfo& info,
                 const std::string& difference) {
    const Place place(info.name, absl::StrCat(statement.file, ":", statement.line));
    if (known_.contains(place)) {
      ++counts_[info.name].known;
      seen_.insert(place);
      return;
    }
    // Many differences have one cause: some are enough to find it.
    if (++counts_[info.name].different <= 20) {
      std::printf("DIFFERENT %s %s: %s\n", info.name, place.second.c_str(), difference.c_str());
    }
  }

  int Report() {
    bool failed = false;
    std::printf("grammar %u, %zu statements\n", arguments_.grammar, corpus_.size());
    std::printf("%-15s %8s %13s %13s %6s %10s\n", "operation", "equal", "errors equal",
                "text refused", "known", "different");
    for (const OperationInfo& info : kOperations) {
      const Counts& count = counts_[info.name];
      std::printf("%-15s %8ld %13ld %13ld %6ld %10ld\n", info.name, count.equal, count.errors_equal,
                  count.refused_text, count.known, count.different);
      failed |= count.different > 0;
    }
    if (arguments_.every == 1) {
      for (const Place& place : known_) {
        if (seen_.contains(place)) continue;
        std::printf("%s %s is listed as different, but is not: take it off the list\n",
                    place.first.c_str(), place.second.c_str());
        failed = true;
      }
    }
    return failed ? 1 : 0;
  }

  const Arguments arguments_;
  std::vector<CorpusStatement> corpus_;
  std::set<Place> known_;
  std::set<Place> seen_;
  std::map<std::string, Counts> counts_;
  std::unique_ptr<OracleClient> oracle_;
  std::unique_ptr<ScanTokenReader> tokens_;
  std::unique_ptr<PrivateServer> server_;
  std::unique_ptr<Client> client_;
  std::unique_ptr<DirectCalls> direct_;

  std::mutex mutex_;
  std::condition_variable changed_;
  int in_flight_ = 0;  // Guarded by mutex_.
};

bool Parse(int argc, char** argv, Arguments& arguments) {
  std::map<std::string_view, std::string*> texts = {
      {"--server-bin", &arguments.server_bin},
      {"--worker-dir", &arguments.worker_dir},
      {"--oracle", &arguments.oracle},
      {"--proto", &arguments.proto},
      {"--corpus", &arguments.corpus},
      {"--known-differences", &arguments.known_differences},
  };
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view flag = argv[i];
    if (flag == "--grammar") {
      arguments.grammar = static_cast<uint32_t>(std::atoi(argv[i + 1]));
    } else if (flag == "--every") {
      arguments.every = static_cast<size_t>(std::max(1, std::atoi(argv[i + 1])));
    } else if (texts.contains(flag)) {
      *texts[flag] = argv[i + 1];
    } else {
      return false;
    }
  }
  for (const auto& [flag, value] : texts) {
    if (value->empty()) return false;
  }
  return argc % 2 == 1 && arguments.grammar != 0;
}

}  // namespace
}  // namespace pgparsed::conformance

int main(int argc, char** argv) {
  pgparsed::conformance::Arguments arguments;
  if (!pgparsed::conformance::Parse(argc, argv, arguments)) {
    std::fprintf(stderr,
                 "usage: conformance --grammar N --server-bin PATH --worker-dir DIR --oracle PATH\n"
                 "                   --proto PATH --corpus DIR --known-differences PATH "
                 "[--every N]\n");
    return 2;
  }
  return pgparsed::conformance::Conformance(std::move(arguments)).Run();
}
