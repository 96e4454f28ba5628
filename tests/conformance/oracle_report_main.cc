// Prints what one grammar's libpg_query itself makes of the corpus: how many statements it parses,
// rejects and dies of, by operation, with the time spent in the library.
//
//   oracle_report --oracle PATH --corpus DIR [--list]
//
// --list names the statements that crash the library and those that are no valid query text.
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <string_view>

#include "tests/conformance/corpus.h"
#include "tests/conformance/oracle_client.h"

namespace pgparsed::conformance {
namespace {

struct Counts {
  long ok = 0;
  long rejected = 0;
  long crashed = 0;
  long unsupported = 0;
  double seconds = 0;
};

constexpr std::pair<OracleOperation, const char*> kOperations[] = {
    {OracleOperation::kParseJson, "parse (JSON)"},
    {OracleOperation::kParseProtobuf, "parse (protobuf)"},
    {OracleOperation::kFingerprint, "fingerprint"},
    {OracleOperation::kNormalize, "normalize"},
    {OracleOperation::kNormalizeUtility, "normalize utility"},
    {OracleOperation::kScan, "scan"},
    {OracleOperation::kSplitParser, "split by parser"},
    {OracleOperation::kSplitScanner, "split by scanner"},
    {OracleOperation::kDeparse, "deparse"},
    {OracleOperation::kParsePlpgsql, "parse PL/pgSQL"},
};

int Run(const std::string& oracle_program, const std::string& corpus_directory, bool list) {
  absl::StatusOr<std::vector<CorpusStatement>> corpus = LoadCorpus(corpus_directory);
  if (!corpus.ok()) {
    std::fprintf(stderr, "%s\n", corpus.status().ToString().c_str());
    return 2;
  }
  absl::StatusOr<std::unique_ptr<OracleClient>> oracle = OracleClient::Start(oracle_program);
  if (!oracle.ok()) {
    std::fprintf(stderr, "%s\n", oracle.status().ToString().c_str());
    return 2;
  }
  uint32_t mask = 0;
  for (const auto& [operation, name] : kOperations) mask |= Mask(operation);
  std::map<OracleOperation, Counts> counts;
  long bad_text = 0;
  for (const CorpusStatement& statement : *corpus) {
    if (!IsQueryText(statement.sql)) {
      ++bad_text;
      if (list) std::printf("not query text: %s:%zu\n", statement.file.c_str(), statement.line);
      if (statement.sql.find('\0') != std::string::npos) continue;
    }
    absl::StatusOr<OracleAnswers> answers = (*oracle)->Ask(mask, statement.sql);
    if (!answers.ok()) {
      std::fprintf(stderr, "%s\n", answers.status().ToString().c_str());
      return 2;
    }
    for (const auto& [operation, name] : kOperations) {
      const OracleAnswer& answer = answers->at(operation);
      Counts& count = counts[operation];
      count.seconds += static_cast<double>(answer.nanoseconds) * 1e-9;
      switch (answer.state) {
        case OracleAnswer::State::kOk:
          ++count.ok;
          break;
        case OracleAnswer::State::kError:
          ++count.rejected;
          break;
        case OracleAnswer::State::kUnsupported:
          ++count.unsupported;
          break;
        case OracleAnswer::State::kCrashed:
          ++count.crashed;
          if (list) {
            std::printf("crash (%s, signal %d): %s:%zu\n", name, answer.signal,
                        statement.file.c_str(), statement.line);
          }
          break;
      }
    }
  }
  std::printf("%zu statements, %ld of them no valid query text\n", corpus->size(), bad_text);
  std::printf("%-20s %8s %9s %8s %12s %9s\n", "operation", "ok", "rejected", "crashed",
              "unsupported", "seconds");
  for (const auto& [operation, name] : kOperations) {
    const Counts& count = counts[operation];
    std::printf("%-20s %8ld %9ld %8ld %12ld %9.2f\n", name, count.ok, count.rejected, count.crashed,
                count.unsupported, count.seconds);
  }
  return 0;
}

}  // namespace
}  // namespace pgparsed::conformance

int main(int argc, char** argv) {
  std::string oracle;
  std::string corpus;
  bool list = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--oracle" && i + 1 < argc) {
      oracle = argv[++i];
    } else if (argument == "--corpus" && i + 1 < argc) {
      corpus = argv[++i];
    } else if (argument == "--list") {
      list = true;
    } else {
      std::fprintf(stderr, "usage: oracle_report --oracle PATH --corpus DIR [--list]\n");
      return 2;
    }
  }
  return pgparsed::conformance::Run(oracle, corpus, list);
}
