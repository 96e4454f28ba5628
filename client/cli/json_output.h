// Answers and errors as JSON: what --json prints. One object on one line.
//
// Field names are those of the contract. Differences to protobuf's own JSON: trees stand in it as
// JSON and not as a string, columns of tokens and pieces as a list of objects with their text,
// 64-bit fingerprints as 16 hexadecimal digits and, under "value", as a decimal string.
//
// Pure functions. No text of theirs ends with a line break.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "pgparsed/v1/admin.pb.h"
#include "pgparsed/v1/grammar.pb.h"
#include "pgparsed/v1/parser.pb.h"
#include "pgparsed/v1/streams.pb.h"

namespace pgparsed::cli {

// `query` and `positions` are what the request said: they give tokens and pieces their text.
std::string ToJson(const v1::ParseResponse& response);
std::string ToJson(const v1::ParsePlpgsqlResponse& response);
std::string ToJson(const v1::FingerprintResponse& response);
std::string ToJson(const v1::NormalizeResponse& response);
std::string ToJson(const v1::ScanResponse& response, std::string_view query,
                   v1::PositionEncoding positions);
std::string ToJson(const v1::SplitResponse& response, std::string_view query,
                   v1::PositionEncoding positions);
std::string ToJson(const v1::DeparseResponse& response);
std::string ToJson(const v1::FormatResponse& response);
std::string ToJson(const v1::ExtractCommentsResponse& response);
std::string ToJson(const v1::SummarizeResponse& response);
std::string ToJson(const v1::AnalyzeResponse& response, std::string_view query,
                   v1::PositionEncoding positions);
std::string ToJson(const v1::ListGrammarsResponse& response);
std::string ToJson(const v1::GetGrammarSchemaResponse& response);
std::string ToJson(const v1::GetStatsResponse& response);

// An item of a stream: `head` comes first (names, and values that are JSON already), then the
// results of the operations that did not fail, under the names that analyze has, then "errors".
struct StreamItem {
  std::vector<std::pair<const char*, std::string>> head;
  const v1::ResultColumns& results;
  int item = 0;
  const std::vector<v1::Operation>& operations;
  const std::vector<v1::OperationError>& errors;
  std::string_view query;  // for tokens and pieces only
  v1::PositionEncoding positions = v1::POSITION_ENCODING_UTF8;
};
std::string ToJson(StreamItem item);

// A text as JSON, with its quotes.
std::string JsonText(std::string_view text);

// {"error": {"code", "reason", "message", "metadata", "sql_error"}}
std::string ErrorToJson(const absl::Status& status);

// "reserved", "unreserved" and so on; empty for a token that is no keyword.
std::string KeywordName(v1::KeywordKind kind);

// "statement", "meta-command", "copy-data", "between".
std::string PieceName(v1::PieceKind kind);

// A fingerprint as 16 hexadecimal digits.
std::string FingerprintHex(uint64_t fingerprint);

}  // namespace pgparsed::cli
