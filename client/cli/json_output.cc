#include "cli/json_output.h"

#include <google/protobuf/util/json_util.h>

#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/arguments.h"
#include "cli/item_results.h"
#include "cli/units.h"
#include "cpp/rpc_errors.h"
#include "nlohmann/json.hpp"
#include "pgparsed/errors.h"

namespace pgparsed::cli {
namespace {

using Json = nlohmann::ordered_json;

// An object that is written member by member, because some members are JSON already and too large
// to be read again.
class Object {
 public:
  void Add(const char* name, const Json& value) {
    AddRaw(name, value.dump(-1, ' ', false, Json::error_handler_t::replace));
  }

  void AddRaw(const char* name, std::string_view json) {
    absl::StrAppend(&text_, text_.empty() ? "{\"" : ",\"", name, "\":");
    text_.append(json);
  }

  std::string Finish() && { return text_.empty() ? "{}" : std::move(text_) + "}"; }

 private:
  std::string text_;
};

// What every answer begins with.
template <typename Response>
Object Begin(const Response& response) {
  Object object;
  object.Add("grammar", response.grammar());
  object.Add("postgres_version_num", response.postgres_version_num());
  if constexpr (requires { response.timing(); }) {
    if (response.has_timing()) {
      const v1::Timing& timing = response.timing();
      object.Add("timing", Json{{"queue_ns", timing.queue_ns()},
                                {"parse_ns", timing.parse_ns()},
                                {"convert_ns", timing.convert_ns()},
                                {"total_ns", timing.total_ns()},
                                {"bytes_produced", timing.bytes_produced()}});
    }
  }
  return object;
}

template <typename Response>
void AddTree(Object& object, const Response& response) {
  if (response.has_json()) object.AddRaw("tree", response.json());
  if (response.has_protobuf()) {
    object.Add("tree_base64", absl::Base64Escape(response.protobuf()));
  }
}

Json StringList(const google::protobuf::RepeatedPtrField<std::string>& strings) {
  Json list = Json::array();
  for (const std::string& text : strings) list.push_back(text);
  return list;
}

void AddFingerprint(Object& object, uint64_t fingerprint) {
  object.Add("fingerprint", FingerprintHex(fingerprint));
  object.Add("value", absl::StrCat(fingerprint));
}

std::string_view Slice(std::string_view text, size_t begin, size_t end) {
  if (begin >= text.size() || end <= begin) return {};
  return text.substr(begin, end - begin);
}

Json Tokens(const v1::TokenColumns& tokens, std::string_view query,
            v1::PositionEncoding positions) {
  Json list = Json::array();
  ByteMapper mapper(query, positions);
  for (int i = 0; i < tokens.start_size() && i < tokens.end_size(); ++i) {
    const size_t begin = mapper.ByteOf(tokens.start(i));
    const size_t end = mapper.ByteOf(tokens.end(i));
    Json token = {{"start", tokens.start(i)}, {"end", tokens.end(i)}};
    if (i < tokens.name_size() && tokens.name(i) < static_cast<uint32_t>(tokens.names_size())) {
      token["token"] = tokens.names(static_cast<int>(tokens.name(i)));
    }
    if (i < tokens.token_size()) token["number"] = tokens.token(i);
    if (i < tokens.keyword_kind_size()) {
      const std::string keyword = KeywordName(tokens.keyword_kind(i));
      if (!keyword.empty()) token["keyword"] = keyword;
    }
    token["text"] = std::string(Slice(query, begin, end));
    list.push_back(std::move(token));
  }
  return list;
}

Json Pieces(const v1::PieceColumns& pieces, std::string_view query,
            v1::PositionEncoding positions) {
  Json list = Json::array();
  ByteMapper mapper(query, positions);
  for (int i = 0; i < pieces.start_size() && i < pieces.length_size(); ++i) {
    const size_t begin = mapper.ByteOf(pieces.start(i));
    const size_t end = mapper.ByteOf(uint64_t{pieces.start(i)} + pieces.length(i));
    Json piece = {{"start", pieces.start(i)}, {"length", pieces.length(i)}};
    if (i < pieces.line_size()) piece["line"] = pieces.line(i);
    piece["kind"] = PieceName(i < pieces.kind_size() ? pieces.kind(i) : v1::PIECE_KIND_STATEMENT);
    piece["text"] = std::string(Slice(query, begin, end));
    list.push_back(std::move(piece));
  }
  return list;
}

Json Comments(const google::protobuf::RepeatedPtrField<v1::Comment>& comments) {
  Json list = Json::array();
  for (const v1::Comment& comment : comments) {
    list.push_back({{"match_location", comment.match_location()},
                    {"newlines_before", comment.newlines_before()},
                    {"newlines_after", comment.newlines_after()},
                    {"text", comment.text()}});
  }
  return list;
}

std::string SummaryJson(const v1::Summary& summary) {
  google::protobuf::util::JsonPrintOptions options;
  options.always_print_primitive_fields = true;
  options.preserve_proto_field_names = true;
  std::string json;
  if (!google::protobuf::util::MessageToJsonString(summary, &json, options).ok()) return "null";
  return json;
}

Json SqlErrorJson(const SqlError& error) {
  Json json = {{"message", error.message}};
  if (error.position.has_value()) {
    json["position"] = *error.position;
    json["line"] = error.line;
    json["column"] = error.column;
  }
  json["source_function"] = error.source_function;
  json["source_file"] = error.source_file;
  json["source_line"] = error.source_line;
  json["context"] = error.context;
  return json;
}

template <typename Errors>
Json ErrorList(const Errors& errors) {
  Json list = Json::array();
  for (const v1::OperationError& error : errors) {
    Json entry = {{"operation", OperationName(error.operation())},
                  {"reason", error.reason()},
                  {"message", error.message()}};
    if (error.operation() == v1::OPERATION_UNSPECIFIED) entry.erase("operation");
    if (error.has_sql_error())
      entry["sql_error"] = SqlErrorJson(client::FromProto(error.sql_error()));
    list.push_back(std::move(entry));
  }
  return list;
}

void AddResult(Object& object, const StreamItem& item, v1::Operation operation) {
  const v1::ResultColumns& results = item.results;
  const int i = item.item;
  switch (operation) {
    case v1::OPERATION_PARSE:
      if (i < results.trees_size()) object.AddRaw("tree", results.trees(i));
      break;
    case v1::OPERATION_PARSE_PLPGSQL:
      if (i < results.plpgsql_json_size()) object.AddRaw("functions", results.plpgsql_json(i));
      break;
    case v1::OPERATION_FINGERPRINT:
      if (i < results.fingerprints_size()) AddFingerprint(object, results.fingerprints(i));
      break;
    case v1::OPERATION_NORMALIZE:
      if (i < results.normalized_size()) object.Add("normalized_query", results.normalized(i));
      break;
    case v1::OPERATION_SCAN:
      if (i < results.tokens_size()) {
        object.Add("tokens", Tokens(results.tokens(i), item.query, item.positions));
      }
      break;
    case v1::OPERATION_SPLIT:
      if (i < results.pieces_size()) {
        object.Add("pieces", Pieces(results.pieces(i), item.query, item.positions));
        object.Add("incomplete", results.pieces(i).incomplete());
      }
      break;
    case v1::OPERATION_FORMAT:
      if (i < results.formatted_size()) object.Add("formatted_query", results.formatted(i));
      break;
    case v1::OPERATION_EXTRACT_COMMENTS:
      if (i < results.comments_size()) {
        object.Add("comments", Comments(results.comments(i).comments()));
      }
      break;
    case v1::OPERATION_SUMMARIZE:
      if (i < results.summaries_size()) object.AddRaw("summary", SummaryJson(results.summaries(i)));
      break;
    default:
      break;
  }
}

// In lower case and without the prefix, "-" for "_".
std::string ShortName(std::string name, size_t prefix) {
  name.erase(0, prefix);
  for (char& c : name) c = c == '_' ? '-' : static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  return name;
}

}  // namespace

std::string KeywordName(v1::KeywordKind kind) {
  if (kind == v1::KEYWORD_KIND_UNSPECIFIED || !v1::KeywordKind_IsValid(kind)) return {};
  return ShortName(v1::KeywordKind_Name(kind), sizeof "KEYWORD_KIND_" - 1);
}

std::string PieceName(v1::PieceKind kind) {
  if (!v1::PieceKind_IsValid(kind)) return "unknown";
  return ShortName(v1::PieceKind_Name(kind), sizeof "PIECE_KIND_" - 1);
}

std::string FingerprintHex(uint64_t fingerprint) { return absl::StrFormat("%016x", fingerprint); }

std::string ToJson(const v1::ParseResponse& response) {
  Object object = Begin(response);
  AddTree(object, response);
  object.Add("warnings", StringList(response.warnings()));
  return std::move(object).Finish();
}

std::string ToJson(const v1::ParsePlpgsqlResponse& response) {
  Object object = Begin(response);
  object.AddRaw("functions", response.json());
  return std::move(object).Finish();
}

std::string ToJson(const v1::FingerprintResponse& response) {
  Object object = Begin(response);
  AddFingerprint(object, response.fingerprint());
  return std::move(object).Finish();
}

std::string ToJson(const v1::NormalizeResponse& response) {
  Object object = Begin(response);
  object.Add("query", response.query());
  return std::move(object).Finish();
}

std::string ToJson(const v1::ScanResponse& response, std::string_view query,
                   v1::PositionEncoding positions) {
  Object object = Begin(response);
  object.Add("tokens", Tokens(response.tokens(), query, positions));
  return std::move(object).Finish();
}

std::string ToJson(const v1::SplitResponse& response, std::string_view query,
                   v1::PositionEncoding positions) {
  Object object = Begin(response);
  object.Add("pieces", Pieces(response.pieces(), query, positions));
  object.Add("incomplete", response.pieces().incomplete());
  return std::move(object).Finish();
}

std::string ToJson(const v1::DeparseResponse& response) {
  Object object = Begin(response);
  object.Add("query", response.query());
  return std::move(object).Finish();
}

std::string ToJson(const v1::FormatResponse& response) {
  Object object = Begin(response);
  object.Add("query", response.query());
  return std::move(object).Finish();
}

std::string ToJson(const v1::ExtractCommentsResponse& response) {
  Object object = Begin(response);
  object.Add("comments", Comments(response.comments()));
  return std::move(object).Finish();
}

std::string ToJson(const v1::SummarizeResponse& response) {
  Object object = Begin(response);
  object.AddRaw("summary", SummaryJson(response.summary()));
  return std::move(object).Finish();
}

std::string ToJson(const v1::AnalyzeResponse& response, std::string_view query,
                   v1::PositionEncoding positions) {
  Object object = Begin(response);
  if (response.has_fingerprint()) AddFingerprint(object, response.fingerprint());
  if (response.has_normalized_query()) {
    object.Add("normalized_query", response.normalized_query());
  }
  if (response.has_formatted_query()) object.Add("formatted_query", response.formatted_query());
  AddTree(object, response);
  object.Add("warnings", StringList(response.warnings()));
  if (response.has_plpgsql_json()) object.AddRaw("functions", response.plpgsql_json());
  if (response.has_tokens()) object.Add("tokens", Tokens(response.tokens(), query, positions));
  if (response.has_pieces()) {
    object.Add("pieces", Pieces(response.pieces(), query, positions));
    object.Add("incomplete", response.pieces().incomplete());
  }
  if (response.comments_size() > 0) object.Add("comments", Comments(response.comments()));
  if (response.has_summary()) object.AddRaw("summary", SummaryJson(response.summary()));
  object.Add("errors", ErrorList(response.errors()));
  return std::move(object).Finish();
}

std::string ToJson(const v1::GetStatsResponse& response) {
  Json workers = Json::array();
  for (const v1::WorkerStats& worker : response.workers()) {
    workers.push_back({{"grammar", worker.grammar()},
                       {"pid", worker.pid()},
                       {"jobs", worker.jobs()},
                       {"rss_bytes", worker.rss_bytes()},
                       {"pss_bytes", worker.pss_bytes()},
                       {"allocated_bytes", worker.allocated_bytes()},
                       {"resident_bytes", worker.resident_bytes()},
                       {"retained_bytes", worker.retained_bytes()},
                       {"channel_bytes", worker.channel_bytes()},
                       {"busy", worker.busy()},
                       {"age_ms", worker.age_ms()},
                       {"allocator", worker.allocator()}});
  }
  Json recycles = Json::array();
  for (const v1::RecycleCount& recycle : response.recycles()) {
    recycles.push_back(
        {{"grammar", recycle.grammar()}, {"reason", recycle.reason()}, {"count", recycle.count()}});
  }
  Object object;
  object.Add("workers", workers);
  object.Add("recycles", recycles);
  object.Add("queue_length", response.queue_length());
  object.Add("jobs_done", response.jobs_done());
  object.Add("jobs_retried", response.jobs_retried());
  object.Add("jobs_refused", response.jobs_refused());
  object.Add("cache_hits", response.cache_hits());
  object.Add("cache_misses", response.cache_misses());
  object.Add("cache_bytes", response.cache_bytes());
  object.Add("front_rss_bytes", response.front_rss_bytes());
  object.Add("front_pss_bytes", response.front_pss_bytes());
  object.Add("uptime_ms", response.uptime_ms());
  return std::move(object).Finish();
}

std::string ToJson(const v1::ListGrammarsResponse& response) {
  Json grammars = Json::array();
  for (const v1::Grammar& grammar : response.grammars()) {
    const v1::GrammarFeatures& features = grammar.features();
    grammars.push_back({{"major", grammar.major()},
                        {"library_version", grammar.library_version()},
                        {"postgres_version", grammar.postgres_version()},
                        {"postgres_version_num", grammar.postgres_version_num()},
                        {"allocator", grammar.allocator()},
                        {"is_default", grammar.is_default()},
                        {"workers", grammar.workers()},
                        {"features",
                         {{"parser_options", features.parser_options()},
                          {"fingerprint_options", features.fingerprint_options()},
                          {"pretty_print", features.pretty_print()},
                          {"comments", features.comments()},
                          {"normalize_utility", features.normalize_utility()},
                          {"summary", features.summary()}}}});
  }
  const v1::Limits& limits = response.limits();
  Object object;
  object.Add("server_version", response.server_version());
  object.Add("grammars", grammars);
  object.Add("limits", Json{{"max_query_bytes", limits.max_query_bytes()},
                            {"max_unary_result_bytes", limits.max_unary_result_bytes()},
                            {"max_chunk_bytes", limits.max_chunk_bytes()},
                            {"max_job_ms", limits.max_job_ms()},
                            {"max_batch_queries", limits.max_batch_queries()},
                            {"max_batch_bytes", limits.max_batch_bytes()}});
  return std::move(object).Finish();
}

std::string ToJson(const v1::GetGrammarSchemaResponse& response) {
  const auto names = [](const google::protobuf::RepeatedPtrField<v1::GrammarName>& entries) {
    Json list = Json::array();
    for (const v1::GrammarName& entry : entries) {
      list.push_back({{"number", entry.number()}, {"name", entry.name()}});
    }
    return list;
  };
  Object object = Begin(response);
  object.Add("proto_text", response.proto_text());
  object.Add("file_descriptor_set_base64", absl::Base64Escape(response.file_descriptor_set()));
  object.Add("tokens", names(response.tokens()));
  object.Add("nodes", names(response.nodes()));
  return std::move(object).Finish();
}

std::string ToJson(StreamItem item) {
  Object object;
  for (const auto& [name, json] : item.head) object.AddRaw(name, json);
  for (const v1::Operation operation : item.operations) {
    if (!Failed(item.errors, operation)) AddResult(object, item, operation);
  }
  object.Add("errors", ErrorList(item.errors));
  return std::move(object).Finish();
}

std::string JsonText(std::string_view text) {
  return Json(std::string(text)).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string ErrorToJson(const absl::Status& status) {
  Json error = {{"code", absl::StatusCodeToString(status.code())},
                {"reason", std::string(ReasonName(ReasonOf(status)))},
                {"message", std::string(status.message())}};
  Json metadata = Json::object();
  for (const auto& [key, value] : ErrorMetadataOf(status)) metadata[key] = value;
  error["metadata"] = std::move(metadata);
  if (const auto sql_error = SqlErrorOf(status)) error["sql_error"] = SqlErrorJson(*sql_error);
  Object object;
  object.Add("error", error);
  return std::move(object).Finish();
}

}  // namespace pgparsed::cli
