// The command line of pgparse.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "cli/workload/log_reader.h"
#include "pgparsed/tls.h"
#include "pgparsed/v1/common.pb.h"
#include "pgparsed/v1/operations.pb.h"
#include "pgparsed/v1/streams.pb.h"

namespace pgparsed::cli {

enum class Command {
  kParse,
  kFingerprint,
  kNormalize,
  kScan,
  kSplit,
  kDeparse,
  kFormat,
  kAnalyze,
  kPlpgsql,
  kComments,
  kSummarize,
  kBatch,
  kScript,
  kWorkload,
  kGrammars,
  kSchema,
  kStats,
};

enum class ParseFormat { kJson, kProtobuf, kColumnar, kTree };
// What separates the queries of a batch.
enum class QueryFormat { kLines, kNul, kJsonLines };

enum class SchemaFormat { kProto, kDescriptor };

// What the command line says. A field that the command has no option for keeps its default.
struct Arguments {
  Command command = Command::kParse;

  // The server.
  std::string address;                        // empty: none was named, see connection.h
  std::chrono::milliseconds timeout{30'000};  // zero: none
  uint32_t grammar = 0;                       // 0: the server's default
  bool tls = false;                           // also with any of these files or the name
  TlsFiles tls_files;
  std::string tls_server_name;

  // The input.
  std::optional<std::string> text;  // the argument
  std::optional<std::string> file;
  std::vector<std::string> files;  // of batch, script and workload; none: standard input

  // The output.
  bool json = false;
  bool timing = false;
  std::optional<std::chrono::milliseconds> watch;  // of stats: the pause between two looks
  v1::PositionEncoding positions = v1::POSITION_ENCODING_UTF8;

  // The operations' own.
  v1::ParserOptions parser_options;
  ParseFormat format = ParseFormat::kJson;
  v1::Conversion conversion = v1::CONVERSION_UNSPECIFIED;
  v1::FingerprintOptions fingerprint_options;
  bool utility_only = false;
  v1::SplitMethod split_method = v1::SPLIT_METHOD_UNSPECIFIED;
  v1::LayoutOptions layout;
  bool drop_comments = false;
  bool verify = false;     // deparse
  bool no_verify = false;  // format
  bool tree_is_json = false;
  std::vector<v1::Operation> operations;
  uint32_t truncate_limit = 0;
  SchemaFormat schema_format = SchemaFormat::kProto;
  QueryFormat query_format = QueryFormat::kLines;
  bool check = false;                   // script: errors only
  bool quiet = false;                   // no progress and no summary
  std::optional<size_t> chunk_queries;  // batch: at most so many in a chunk

  // workload
  LogOptions log;
  std::vector<v1::WorkloadKey> keys;
  v1::WorkloadOrder order = v1::WORKLOAD_ORDER_UNSPECIFIED;
  uint32_t top = 20;
  std::vector<std::string> merge;  // reports
  std::optional<std::string> save;
  bool csv = false;
};

// The name of an operation on the command line and in JSON: "parse", "fingerprint" and so on.
std::string OperationName(v1::Operation operation);

// Whether a result of it can be printed as a text of one line.
bool HasTextForm(v1::Operation operation);

// There is nothing to do but to print `text`: help or the version on standard output with exit
// code 0, what is wrong on standard error with kExitUsage.
struct Notice {
  std::string text;
  int exit_code = 0;
};

// Reads PGPARSED_ADDRESS and PGPARSED_GRAMMAR too.
std::variant<Arguments, Notice> ParseArguments(int argc, const char* const* argv);

}  // namespace pgparsed::cli
