#include "cli/commands.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/columnar_table.h"
#include "cli/diagnostic.h"
#include "cli/item_results.h"
#include "cli/json_output.h"
#include "cli/stats_table.h"
#include "cli/stream_commands.h"
#include "cli/tables.h"
#include "cli/tree_view.h"
#include "cli/units.h"
#include "cli/utf8_display.h"
#include "cpp/chunked_tree.h"
#include "pgparsed/columnar_tree.h"

namespace pgparsed::cli {
namespace {

void WriteToStandardError(std::string_view text) {
  Output error(STDERR_FILENO);
  error.Write(text);
  // There is nowhere left to say that this failed.
  error.Finish().IgnoreError();
}

std::string Duration(uint64_t nanoseconds) {
  if (nanoseconds < 10'000'000)
    return absl::StrFormat("%.1f us", static_cast<double>(nanoseconds) / 1e3);
  return absl::StrFormat("%.1f ms", static_cast<double>(nanoseconds) / 1e6);
}

void WriteTiming(const v1::Timing& timing) {
  WriteToStandardError(absl::StrCat(
      "timing: queue ", Duration(timing.queue_ns()), ", parse ", Duration(timing.parse_ns()),
      ", convert ", Duration(timing.convert_ns()), ", total ", Duration(timing.total_ns()), ", ",
      timing.bytes_produced(), " bytes produced\n"));
}

// One run of a command: what its steps share.
class Run {
 public:
  Run(const Arguments& arguments, const Input& input, Client& client, Output& out,
      std::vector<absl::Status>* partial)
      : arguments_(arguments), input_(input), client_(client), out_(out), partial_(partial) {}

  absl::Status Parse();
  absl::Status ParseAsItComes(v1::ParseRequest request);
  absl::Status Plpgsql();
  absl::Status Fingerprint();
  absl::Status Normalize();
  absl::Status Scan();
  absl::Status Split();
  absl::Status Deparse();
  absl::Status Format();
  absl::Status Analyze();
  absl::Status Comments();
  absl::Status Summarize();
  absl::Status Grammars();
  absl::Status Stats();
  absl::Status Schema();

 private:
  // A request with the fields that it shares with the others.
  template <typename Request>
  Request Make() const {
    Request request;
    request.set_grammar(arguments_.grammar);
    if constexpr (requires { request.set_query(std::string()); }) {
      request.set_query(input_.text);
      request.set_position_encoding(arguments_.positions);
    }
    if constexpr (requires { request.set_want_timing(true); }) {
      request.set_want_timing(arguments_.timing);
    }
    if constexpr (requires { request.mutable_parser_options(); }) {
      if (arguments_.parser_options.ByteSizeLong() > 0) {
        *request.mutable_parser_options() = arguments_.parser_options;
      }
    }
    return request;
  }

  // The answer as JSON if that is asked for. False: it is for people and still to be written.
  template <typename Response, typename... More>
  bool WriteAsJson(const Response& response, const More&... more) {
    if (!arguments_.json) {
      if constexpr (requires { response.timing(); }) {
        if (response.has_timing()) WriteTiming(response.timing());
      }
      return false;
    }
    out_.Write(ToJson(response, more...));
    out_.Write("\n");
    return true;
  }

  absl::Status WriteBinary(const std::string& bytes, std::string_view what) {
    if (out_.is_terminal()) {
      return MakeError(Reason::kInvalidRequest,
                       absl::StrCat(std::string(what),
                                    " is binary and not for a terminal: redirect it (> FILE), or "
                                    "choose another --format"));
    }
    out_.Write(bytes);
    return absl::OkStatus();
  }

  absl::Status WriteTree(const std::string& json) {
    if (arguments_.format == ParseFormat::kTree) {
      return WriteTreeView(json, out_.colour(),
                           [this](std::string_view piece) { return out_.Write(piece); });
    }
    WriteLine(json);
    return absl::OkStatus();
  }

  // Without a second line break behind one that is there.
  void WriteLine(std::string_view text) {
    out_.Write(text);
    if (!text.ends_with('\n')) out_.Write("\n");
  }

  void WriteWarnings(const google::protobuf::RepeatedPtrField<std::string>& warnings) {
    for (const std::string& warning : warnings) {
      WriteToStandardError(absl::StrCat("warning: ", Printable(warning), "\n"));
    }
  }

  absl::Status WriteAnalysis(v1::Operation operation, const v1::AnalyzeResponse& response);

  const Arguments& arguments_;
  const Input& input_;
  Client& client_;
  Output& out_;
  std::vector<absl::Status>* const partial_;
};

absl::Status Run::Parse() {
  auto request = Make<v1::ParseRequest>();
  const bool protobuf = arguments_.format == ParseFormat::kProtobuf;
  if (protobuf && !arguments_.json && out_.is_terminal()) return WriteBinary({}, "A protobuf tree");
  const bool columnar = arguments_.format == ParseFormat::kColumnar;
  request.set_format(protobuf   ? v1::TREE_FORMAT_PROTOBUF
                     : columnar ? v1::TREE_FORMAT_COLUMNAR
                                : v1::TREE_FORMAT_JSON);
  request.set_conversion(arguments_.conversion);
  const bool as_it_comes = protobuf || arguments_.format == ParseFormat::kJson;
  if (as_it_comes && !arguments_.json) return ParseAsItComes(std::move(request));
  const auto response = client_.Parse(request);
  if (!response.ok()) return response.status();
  if (WriteAsJson(*response)) return absl::OkStatus();
  WriteWarnings(response->warnings());
  if (columnar) {
    const auto tree = ColumnarTreeView::Open(response->columnar());
    if (!tree.ok()) return MakeError(Reason::kInternal, std::string(tree.status().message()));
    WriteColumnarTable(*tree, [this](std::string_view piece) { return out_.Write(piece); });
    return absl::OkStatus();
  }
  return WriteTree(response->json());
}

// A tree of any size, without ever holding all of it.
absl::Status Run::ParseAsItComes(v1::ParseRequest request) {
  const bool protobuf = request.format() == v1::TREE_FORMAT_PROTOBUF;
  const auto tree = client_.ParseChunked(
      client::ToChunked(std::move(request)), [this](const auto&, std::string_view chunk) {
        return out_.Write(chunk) ? absl::OkStatus() : OutputGone();
      });
  if (tree.status() == OutputGone()) return absl::OkStatus();
  if (!tree.ok()) return tree.status();
  if (!protobuf) out_.Write("\n");
  if (tree->trailer.has_timing()) WriteTiming(tree->trailer.timing());
  WriteWarnings(tree->trailer.warnings());
  return absl::OkStatus();
}

absl::Status Run::Plpgsql() {
  const auto response = client_.ParsePlpgsql(Make<v1::ParsePlpgsqlRequest>());
  if (!response.ok()) return response.status();
  if (WriteAsJson(*response)) return absl::OkStatus();
  return WriteTree(response->json());
}

absl::Status Run::Fingerprint() {
  auto request = Make<v1::FingerprintRequest>();
  *request.mutable_options() = arguments_.fingerprint_options;
  const auto response = client_.Fingerprint(request);
  if (!response.ok()) return response.status();
  if (!WriteAsJson(*response)) WriteLine(FingerprintHex(response->fingerprint()));
  return absl::OkStatus();
}

absl::Status Run::Normalize() {
  auto request = Make<v1::NormalizeRequest>();
  request.set_utility_only(arguments_.utility_only);
  const auto response = client_.Normalize(request);
  if (!response.ok()) return response.status();
  if (!WriteAsJson(*response)) WriteLine(response->query());
  return absl::OkStatus();
}

absl::Status Run::Scan() {
  const auto response = client_.Scan(Make<v1::ScanRequest>());
  if (!response.ok()) return response.status();
  if (!WriteAsJson(*response, input_.text, arguments_.positions))
    WriteTokens(response->tokens(), input_.text, arguments_.positions, out_);
  return absl::OkStatus();
}

absl::Status Run::Split() {
  auto request = Make<v1::SplitRequest>();
  request.set_method(arguments_.split_method);
  const auto response = client_.Split(request);
  if (!response.ok()) return response.status();
  if (!WriteAsJson(*response, input_.text, arguments_.positions))
    WritePieces(response->pieces(), input_.text, arguments_.positions, out_);
  return absl::OkStatus();
}

absl::Status Run::Deparse() {
  auto request = Make<v1::DeparseRequest>();
  if (arguments_.tree_is_json) {
    request.set_json(input_.text);
  } else {
    request.set_protobuf(input_.text);
  }
  *request.mutable_layout() = arguments_.layout;
  request.set_verify(arguments_.verify);
  request.set_conversion(arguments_.conversion);
  const auto response = client_.Deparse(request);
  if (!response.ok()) return response.status();
  if (!WriteAsJson(*response)) WriteLine(response->query());
  return absl::OkStatus();
}

absl::Status Run::Format() {
  auto request = Make<v1::FormatRequest>();
  *request.mutable_layout() = arguments_.layout;
  request.set_drop_comments(arguments_.drop_comments);
  if (arguments_.no_verify) request.set_verify(false);
  const auto response = client_.Format(request);
  if (!response.ok()) return response.status();
  if (!WriteAsJson(*response)) WriteLine(response->query());
  return absl::OkStatus();
}

absl::Status Run::Comments() {
  const auto response = client_.ExtractComments(Make<v1::ExtractCommentsRequest>());
  if (!response.ok()) return response.status();
  if (!WriteAsJson(*response)) WriteComments(response->comments(), out_);
  return absl::OkStatus();
}

absl::Status Run::Summarize() {
  auto request = Make<v1::SummarizeRequest>();
  request.set_truncate_limit(arguments_.truncate_limit);
  const auto response = client_.Summarize(request);
  if (!response.ok()) return response.status();
  if (!WriteAsJson(*response)) WriteSummary(response->summary(), out_);
  return absl::OkStatus();
}

absl::Status Run::Analyze() {
  auto request = Make<v1::AnalyzeRequest>();
  for (const v1::Operation operation : arguments_.operations) request.add_operations(operation);
  request.set_format(v1::TREE_FORMAT_JSON);
  request.set_conversion(arguments_.conversion);
  *request.mutable_fingerprint_options() = arguments_.fingerprint_options;
  request.set_utility_only(arguments_.utility_only);
  request.set_split_method(arguments_.split_method);
  *request.mutable_layout() = arguments_.layout;
  request.set_drop_comments(arguments_.drop_comments);
  const auto response = client_.Analyze(request);
  if (!response.ok()) return response.status();

  for (const v1::OperationError& error : response->errors()) {
    absl::Status status = StatusOf(error);
    const bool is_new = std::find(partial_->begin(), partial_->end(), status) == partial_->end();
    if (is_new) partial_->push_back(std::move(status));
  }
  if (WriteAsJson(*response, input_.text, arguments_.positions)) return absl::OkStatus();
  WriteWarnings(response->warnings());
  bool first = true;
  for (const v1::Operation operation : arguments_.operations) {
    const bool failed = std::any_of(
        response->errors().begin(), response->errors().end(),
        [&](const v1::OperationError& error) { return error.operation() == operation; });
    if (failed) continue;
    out_.Write(absl::StrCat(first ? "" : "\n", "[", OperationName(operation), "]\n"));
    first = false;
    if (absl::Status status = WriteAnalysis(operation, *response); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Run::WriteAnalysis(v1::Operation operation, const v1::AnalyzeResponse& response) {
  switch (operation) {
    case v1::OPERATION_PARSE:
      return WriteTree(response.json());
    case v1::OPERATION_PARSE_PLPGSQL:
      return WriteTree(response.plpgsql_json());
    case v1::OPERATION_FINGERPRINT:
      WriteLine(FingerprintHex(response.fingerprint()));
      break;
    case v1::OPERATION_NORMALIZE:
      WriteLine(response.normalized_query());
      break;
    case v1::OPERATION_SCAN:
      WriteTokens(response.tokens(), input_.text, arguments_.positions, out_);
      break;
    case v1::OPERATION_SPLIT:
      WritePieces(response.pieces(), input_.text, arguments_.positions, out_);
      break;
    case v1::OPERATION_FORMAT:
      WriteLine(response.formatted_query());
      break;
    case v1::OPERATION_EXTRACT_COMMENTS:
      WriteComments(response.comments(), out_);
      break;
    case v1::OPERATION_SUMMARIZE:
      WriteSummary(response.summary(), out_);
      break;
    default:
      break;
  }
  return absl::OkStatus();
}

absl::Status Run::Grammars() {
  const auto response = client_.ListGrammars();
  if (!response.ok()) return response.status();
  if (WriteAsJson(*response)) return absl::OkStatus();
  WriteGrammars(*response, out_);
  return absl::OkStatus();
}

// With --watch until the reader goes away, or Ctrl-C.
absl::Status Run::Stats() {
  for (;;) {
    const auto stats = client_.GetStats();
    if (!stats.ok()) return stats.status();
    std::string text = arguments_.json ? ToJson(*stats) + "\n" : StatsTable(*stats);
    constexpr std::string_view kClearScreen = "\x1b[H\x1b[2J";
    if (arguments_.watch && !arguments_.json) {
      if (out_.is_terminal()) out_.Write(kClearScreen);
      if (!out_.is_terminal()) text += "\n";
    }
    if (!out_.Write(text) || !arguments_.watch) return absl::OkStatus();
    if (absl::Status status = out_.Finish(); !status.ok()) return status;
    std::this_thread::sleep_for(*arguments_.watch);
  }
}

absl::Status Run::Schema() {
  const bool binary = arguments_.schema_format == SchemaFormat::kDescriptor;
  const auto response = client_.GetGrammarSchema(Make<v1::GetGrammarSchemaRequest>());
  if (!response.ok()) return response.status();
  if (WriteAsJson(*response)) return absl::OkStatus();
  if (binary) return WriteBinary(response->file_descriptor_set(), "A FileDescriptorSet");
  WriteLine(response->proto_text());
  return absl::OkStatus();
}

// Where an error is in the input, if it says so.
std::optional<Place> PlaceOf(const absl::Status& status, const Arguments& arguments,
                             std::string_view text) {
  if (const auto error = SqlErrorOf(status)) {
    if (!error->position.has_value()) return std::nullopt;
    return Place{ByteMapper(text, arguments.positions).ByteOf(*error->position),
                 std::max(error->line, 1u), std::max(error->column, 1u)};
  }
  if (ReasonOf(status) == Reason::kInvalidQueryText) {
    const auto metadata = ErrorMetadataOf(status);
    const auto byte = metadata.find("byte");
    size_t offset = 0;
    if (byte != metadata.end() &&
        std::from_chars(byte->second.data(), byte->second.data() + byte->second.size(), offset)
                .ec == std::errc()) {
      return PlaceOfByte(text, offset);
    }
  }
  return std::nullopt;
}

}  // namespace

bool NeedsInput(Command command) {
  return command != Command::kGrammars && command != Command::kSchema &&
         command != Command::kStats && !IsStreamCommand(command);
}

absl::Status RunCommand(const Arguments& arguments, const Input& input, Client& client, Output& out,
                        std::vector<absl::Status>* partial) {
  Run run(arguments, input, client, out, partial);
  switch (arguments.command) {
    case Command::kParse:
      return run.Parse();
    case Command::kFingerprint:
      return run.Fingerprint();
    case Command::kNormalize:
      return run.Normalize();
    case Command::kScan:
      return run.Scan();
    case Command::kSplit:
      return run.Split();
    case Command::kDeparse:
      return run.Deparse();
    case Command::kFormat:
      return run.Format();
    case Command::kAnalyze:
      return run.Analyze();
    case Command::kPlpgsql:
      return run.Plpgsql();
    case Command::kComments:
      return run.Comments();
    case Command::kSummarize:
      return run.Summarize();
    case Command::kBatch:
    case Command::kScript:
    case Command::kWorkload:
      break;  // RunStreamCommand
    case Command::kGrammars:
      return run.Grammars();
    case Command::kSchema:
      return run.Schema();
    case Command::kStats:
      return run.Stats();
  }
  return MakeError(Reason::kInternal, "an unknown command");
}

std::string RenderError(const absl::Status& status, const Arguments& arguments, const Input& input,
                        const Output& stream) {
  if (arguments.json) return absl::StrCat(ErrorToJson(status), "\n");
  DiagnosticStyle style;
  style.width = std::min(stream.width(), 160);
  style.colour = stream.colour();
  const std::optional<Place> place = PlaceOf(status, arguments, input.text);
  const bool about_the_text = place.has_value() || SqlErrorOf(status).has_value();
  std::string text = RenderDiagnostic(about_the_text ? input.label : "pgparse", input.text, place,
                                      std::string(status.message()), style);
  if (const auto error = SqlErrorOf(status); error.has_value() && !error->context.empty()) {
    absl::StrAppend(&text, Printable(error->context), "\n");
  }
  return text;
}

}  // namespace pgparsed::cli
