#include "cli/commands.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/diagnostic.h"
#include "cli/json_output.h"
#include "cli/tree_view.h"
#include "cli/units.h"
#include "cli/utf8_display.h"
#include "cpp/rpc_errors.h"

namespace pgparsed::cli {
namespace {

// Columns of SQL beside a table of numbers.
constexpr int kTextColumns = 60;

void WriteToStandardError(std::string_view text) {
  Output error(STDERR_FILENO);
  error.Write(text);
  // There is nowhere left to say that this failed.
  error.Finish().IgnoreError();
}

std::string Duration(uint64_t nanoseconds) {
  if (nanoseconds < 10'000'000) return absl::StrFormat("%.1f us", static_cast<double>(nanoseconds) / 1e3);
  return absl::StrFormat("%.1f ms", static_cast<double>(nanoseconds) / 1e6);
}

void WriteTiming(const v1::Timing& timing) {
  WriteToStandardError(absl::StrCat(
      "timing: queue ", Duration(timing.queue_ns()), ", parse ", Duration(timing.parse_ns()),
      ", convert ", Duration(timing.convert_ns()), ", total ", Duration(timing.total_ns()), ", ",
      timing.bytes_produced(), " bytes produced\n"));
}

// An error of the SQL is the same for every operation; the others name theirs.
absl::Status StatusOf(const v1::OperationError& error) {
  Reason reason = ReasonFromName(error.reason());
  if (reason == Reason::kNone) reason = Reason::kInternal;
  if (error.has_sql_error()) return MakeSqlError(reason, client::FromProto(error.sql_error()));
  return MakeError(reason, absl::StrCat(OperationName(error.operation()), ": ", error.message()));
}

// One run of a command: what its steps share.
class Run {
 public:
  Run(const Arguments& arguments, const Input& input, Client& client, Output& out,
      std::vector<absl::Status>* partial)
      : arguments_(arguments), input_(input), client_(client), out_(out), partial_(partial) {}

  absl::Status Parse();
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

  void WriteTokens(const v1::TokenColumns& tokens);
  void WritePieces(const v1::PieceColumns& pieces);
  void WriteComments(const google::protobuf::RepeatedPtrField<v1::Comment>& comments);
  void WriteSummary(const v1::Summary& summary);
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
  request.set_format(protobuf ? v1::TREE_FORMAT_PROTOBUF : v1::TREE_FORMAT_JSON);
  request.set_conversion(arguments_.conversion);
  const auto response = client_.Parse(request);
  if (!response.ok()) return response.status();
  if (WriteAsJson(*response)) return absl::OkStatus();
  WriteWarnings(response->warnings());
  if (protobuf) return WriteBinary(response->protobuf(), "A protobuf tree");
  return WriteTree(response->json());
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
  if (!WriteAsJson(*response, input_.text, arguments_.positions)) WriteTokens(response->tokens());
  return absl::OkStatus();
}

absl::Status Run::Split() {
  auto request = Make<v1::SplitRequest>();
  request.set_method(arguments_.split_method);
  const auto response = client_.Split(request);
  if (!response.ok()) return response.status();
  if (!WriteAsJson(*response, input_.text, arguments_.positions)) WritePieces(response->pieces());
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
  if (!WriteAsJson(*response)) WriteComments(response->comments());
  return absl::OkStatus();
}

absl::Status Run::Summarize() {
  auto request = Make<v1::SummarizeRequest>();
  request.set_truncate_limit(arguments_.truncate_limit);
  const auto response = client_.Summarize(request);
  if (!response.ok()) return response.status();
  if (!WriteAsJson(*response)) WriteSummary(response->summary());
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
    const bool failed =
        std::any_of(response->errors().begin(), response->errors().end(),
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
      WriteTokens(response.tokens());
      break;
    case v1::OPERATION_SPLIT:
      WritePieces(response.pieces());
      break;
    case v1::OPERATION_FORMAT:
      WriteLine(response.formatted_query());
      break;
    case v1::OPERATION_EXTRACT_COMMENTS:
      WriteComments(response.comments());
      break;
    case v1::OPERATION_SUMMARIZE:
      WriteSummary(response.summary());
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
  out_.Write(absl::StrFormat("%-8s %-11s %-12s %-15s %7s  %s\n", "grammar", "PostgreSQL",
                             "libpg_query", "allocator", "workers", "extras"));
  for (const v1::Grammar& grammar : response->grammars()) {
    const v1::GrammarFeatures& features = grammar.features();
    std::string extras;
    const auto add = [&](bool has, const char* name) {
      if (has) absl::StrAppend(&extras, extras.empty() ? "" : ", ", name);
    };
    add(features.parser_options(), "parser options");
    add(features.fingerprint_options(), "fingerprint options");
    add(features.pretty_print(), "pretty print");
    add(features.comments(), "comments");
    add(features.normalize_utility(), "utility-only");
    add(features.summary(), "summary");
    out_.Write(absl::StrFormat("%-8s %-11s %-12s %-15s %7d  %s\n",
                               absl::StrCat(grammar.major(), grammar.is_default() ? "*" : ""),
                               Printable(grammar.postgres_version()),
                               Printable(grammar.library_version()),
                               Printable(grammar.allocator()), grammar.workers(), extras));
  }
  const v1::Limits& limits = response->limits();
  out_.Write(absl::StrCat("* answers by default\npgparsed ", Printable(response->server_version()),
                          "; limits: query ", limits.max_query_bytes(), " bytes, result ",
                          limits.max_unary_result_bytes(), " bytes, job ", limits.max_job_ms(),
                          " ms\n"));
  return absl::OkStatus();
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

void Run::WriteTokens(const v1::TokenColumns& tokens) {
  int names_width = 5;
  for (const std::string& name : tokens.names()) {
    names_width = std::max(names_width, static_cast<int>(name.size()));
  }
  out_.Write(absl::StrFormat("%8s %8s  %-*s  %-14s  %s\n", "start", "end", names_width, "token",
                             "keyword", "text"));
  ByteMapper mapper(input_.text, arguments_.positions);
  for (int i = 0; i < tokens.start_size() && i < tokens.end_size(); ++i) {
    const size_t begin = mapper.ByteOf(tokens.start(i));
    const size_t end = mapper.ByteOf(tokens.end(i));
    const bool named = i < tokens.name_size() &&
                       tokens.name(i) < static_cast<uint32_t>(tokens.names_size());
    const std::string name = named ? tokens.names(static_cast<int>(tokens.name(i))) : "?";
    const std::string keyword =
        i < tokens.keyword_kind_size() ? KeywordName(tokens.keyword_kind(i)) : std::string();
    const std::string_view text = std::string_view(input_.text).substr(begin, end - begin);
    if (!out_.Write(absl::StrFormat("%8d %8d  %-*s  %-14s  %s\n", tokens.start(i), tokens.end(i),
                                    names_width, name, keyword,
                                    PrintableLine(text, kTextColumns)))) {
      return;
    }
  }
}

void Run::WritePieces(const v1::PieceColumns& pieces) {
  out_.Write(absl::StrFormat("%6s %7s %9s %9s  %-12s  %s\n", "#", "line", "start", "length", "kind",
                             "text"));
  ByteMapper mapper(input_.text, arguments_.positions);
  for (int i = 0; i < pieces.start_size() && i < pieces.length_size(); ++i) {
    const size_t begin = mapper.ByteOf(pieces.start(i));
    const size_t end = mapper.ByteOf(uint64_t{pieces.start(i)} + pieces.length(i));
    std::string_view text = std::string_view(input_.text).substr(begin, end - begin);
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    const std::string kind =
        PieceName(i < pieces.kind_size() ? pieces.kind(i) : v1::PIECE_KIND_STATEMENT);
    if (!out_.Write(absl::StrFormat("%6d %7d %9d %9d  %-12s  %s\n", i + 1,
                                    i < pieces.line_size() ? pieces.line(i) : 0, pieces.start(i),
                                    pieces.length(i), kind, PrintableLine(text, kTextColumns)))) {
      return;
    }
  }
  if (pieces.incomplete()) out_.Write("the text ends inside the last one\n");
}

void Run::WriteComments(const google::protobuf::RepeatedPtrField<v1::Comment>& comments) {
  out_.Write(absl::StrFormat("%14s %7s %7s  %s\n", "match_location", "before", "after", "text"));
  for (const v1::Comment& comment : comments) {
    out_.Write(absl::StrFormat("%14d %7d %7d  %s\n", comment.match_location(),
                               comment.newlines_before(), comment.newlines_after(),
                               PrintableLine(comment.text(), kTextColumns)));
  }
}

void Run::WriteSummary(const v1::Summary& summary) {
  const auto qualified = [](const std::string& schema, const std::string& name) {
    return Printable(schema.empty() ? name : absl::StrCat(schema, ".", name));
  };
  const auto context = [](v1::TableContext value) {
    switch (value) {
      case v1::TABLE_CONTEXT_SELECT:
        return " (read)";
      case v1::TABLE_CONTEXT_DML:
        return " (written)";
      case v1::TABLE_CONTEXT_DDL:
        return " (defined)";
      case v1::TABLE_CONTEXT_CALL:
        return " (called)";
      default:
        return "";
    }
  };
  const auto times = [](uint32_t count) {
    return count > 1 ? absl::StrCat(" x ", count) : std::string();
  };
  const auto list = [this](const char* title, const std::vector<std::string>& entries) {
    if (entries.empty()) return;
    out_.Write(absl::StrCat(title, ":\n"));
    for (const std::string& entry : entries) out_.Write(absl::StrCat("  ", entry, "\n"));
  };
  std::vector<std::string> statements, tables, aliases, ctes, functions, columns;
  for (const auto& type : summary.statement_types()) statements.push_back(Printable(type));
  for (const auto& table : summary.tables()) {
    tables.push_back(absl::StrCat(qualified(table.schema(), table.name()), context(table.context()),
                                  times(table.count())));
  }
  for (const auto& alias : summary.aliases()) {
    aliases.push_back(absl::StrCat(Printable(alias.alias()), " = ", Printable(alias.table())));
  }
  for (const auto& name : summary.cte_names()) ctes.push_back(Printable(name));
  for (const auto& function : summary.functions()) {
    functions.push_back(absl::StrCat(qualified(function.schema(), function.name()),
                                     context(function.context()), times(function.count())));
  }
  for (const auto& column : summary.filter_columns()) {
    columns.push_back(absl::StrCat(
        column.table().empty() ? "" : absl::StrCat(qualified(column.schema(), column.table()), "."),
        Printable(column.column()), times(column.count())));
  }
  list("statements", statements);
  list("tables", tables);
  list("aliases", aliases);
  list("common table expressions", ctes);
  list("functions", functions);
  list("columns in conditions", columns);
  if (!summary.truncated_query().empty()) list("query", {Printable(summary.truncated_query())});
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
        std::from_chars(byte->second.data(), byte->second.data() + byte->second.size(), offset).ec ==
            std::errc()) {
      return PlaceOfByte(text, offset);
    }
  }
  return std::nullopt;
}

}  // namespace

bool NeedsInput(Command command) {
  return command != Command::kGrammars && command != Command::kSchema;
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
    case Command::kGrammars:
      return run.Grammars();
    case Command::kSchema:
      return run.Schema();
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
