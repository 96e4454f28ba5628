#include "service/requests.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "pgparsed/errors.h"
#include "text/utf8.h"
#include "text/views.h"

namespace pgparsed::service {
namespace {

using channel::JobHeader;

absl::Status InvalidEnum(std::string_view field) {
  return MakeError(Reason::kInvalidRequest,
                   absl::StrCat("the request's ", text::ToAbsl(field),
                                " has a value that this server does not "
                                "know; use one of its version of the contract"));
}

void SetFlag(JobHeader& header, bool on, channel::JobFlag flag) {
  if (on) header.flags |= flag;
}

absl::Status SetPositions(v1::PositionEncoding encoding, JobHeader& header) {
  switch (encoding) {
    case v1::POSITION_ENCODING_UNSPECIFIED:
    case v1::POSITION_ENCODING_UTF8:
      header.position_encoding = channel::PositionEncoding::kUtf8;
      return absl::OkStatus();
    case v1::POSITION_ENCODING_UTF16:
      header.position_encoding = channel::PositionEncoding::kUtf16;
      return absl::OkStatus();
    case v1::POSITION_ENCODING_UTF32:
      header.position_encoding = channel::PositionEncoding::kUtf32;
      return absl::OkStatus();
    default:
      return InvalidEnum("position_encoding");
  }
}

absl::Status SetParserOptions(const v1::ParserOptions& options, JobHeader& header) {
  if (!v1::ParseMode_IsValid(options.mode())) return InvalidEnum("parser_options.mode");
  // channel::ParseMode counts from the default; the contract has UNSPECIFIED before it.
  header.parse_mode = static_cast<channel::ParseMode>(std::max(options.mode() - 1, 0));
  SetFlag(header, options.has_backslash_quote() && !options.backslash_quote(),
          channel::kFlagNoBackslashQuote);
  SetFlag(header,
          options.has_standard_conforming_strings() && !options.standard_conforming_strings(),
          channel::kFlagNoStandardConformingStrings);
  SetFlag(header, options.has_escape_string_warning() && !options.escape_string_warning(),
          channel::kFlagNoEscapeStringWarning);
  return absl::OkStatus();
}

absl::Status SetTreeFormat(v1::TreeFormat format, JobHeader& header) {
  switch (format) {
    case v1::TREE_FORMAT_UNSPECIFIED:
    case v1::TREE_FORMAT_JSON:
      header.tree_format = channel::TreeFormat::kJson;
      return absl::OkStatus();
    case v1::TREE_FORMAT_PROTOBUF:
      header.tree_format = channel::TreeFormat::kProtobuf;
      return absl::OkStatus();
    case v1::TREE_FORMAT_COLUMNAR:
      header.tree_format = channel::TreeFormat::kColumnar;
      return absl::OkStatus();
    default:
      return InvalidEnum("format");
  }
}

absl::Status SetConversion(v1::Conversion conversion, JobHeader& header) {
  switch (conversion) {
    case v1::CONVERSION_UNSPECIFIED:
      header.conversion = channel::Conversion::kDefault;
      return absl::OkStatus();
    case v1::CONVERSION_DIRECT:
      header.conversion = channel::Conversion::kDirect;
      return absl::OkStatus();
    case v1::CONVERSION_LIBRARY:
      header.conversion = channel::Conversion::kLibrary;
      return absl::OkStatus();
    default:
      return InvalidEnum("conversion");
  }
}

absl::Status SetSplitMethod(v1::SplitMethod method, JobHeader& header) {
  switch (method) {
    case v1::SPLIT_METHOD_UNSPECIFIED:
      header.split_method = channel::SplitMethod::kDefault;
      return absl::OkStatus();
    case v1::SPLIT_METHOD_TOLERANT:
      header.split_method = channel::SplitMethod::kTolerant;
      return absl::OkStatus();
    case v1::SPLIT_METHOD_PARSER:
      header.split_method = channel::SplitMethod::kParser;
      return absl::OkStatus();
    case v1::SPLIT_METHOD_SCANNER:
      header.split_method = channel::SplitMethod::kScanner;
      return absl::OkStatus();
    default:
      return InvalidEnum("split method");
  }
}

void SetFingerprintOptions(const v1::FingerprintOptions& options, JobHeader& header) {
  SetFlag(header, options.rangevar_ignore_aliases(), channel::kFlagFingerprintIgnoreAliases);
  SetFlag(header, options.rangevar_include_schema(), channel::kFlagFingerprintIncludeSchema);
  SetFlag(header, options.full_relname(), channel::kFlagFingerprintFullRelname);
}

absl::Status SetLayout(const v1::LayoutOptions& layout, JobHeader& header) {
  constexpr uint32_t kMaxIndent = 64;
  constexpr uint32_t kMaxLine = 10'000;
  if (layout.indent_size() > kMaxIndent) {
    return MakeError(Reason::kInvalidRequest,
                     absl::StrCat("layout.indent_size is over ", kMaxIndent, "; use less"));
  }
  if (layout.max_line_length() > kMaxLine) {
    return MakeError(Reason::kInvalidRequest,
                     absl::StrCat("layout.max_line_length is over ", kMaxLine, "; use less"));
  }
  SetFlag(header, layout.pretty(), channel::kFlagLayoutPretty);
  SetFlag(header, layout.trailing_newline(), channel::kFlagLayoutTrailingNewline);
  SetFlag(header, layout.commas_start_of_line(), channel::kFlagLayoutCommasStartOfLine);
  header.indent_size = layout.indent_size();
  header.max_line_length = layout.max_line_length();
  return absl::OkStatus();
}

// Whether the text is one comment and nothing else (PostgreSQL's lexer rules: block comments nest).
bool IsOneComment(std::string_view text) {
  if (text.substr(0, 2) == "--") return text.find_first_of("\r\n") >= text.size() - 1;
  if (text.substr(0, 2) != "/*") return false;
  int depth = 0;
  for (size_t i = 0; i + 1 < text.size(); ++i) {
    if (text[i] == '/' && text[i + 1] == '*') {
      ++depth;
      ++i;
    } else if (text[i] == '*' && text[i + 1] == '/') {
      ++i;
      if (--depth == 0) return i + 1 == text.size();
    }
  }
  return false;
}

// Comments as the channel holds them: a record, the text, padding to 8 bytes.
absl::Status SetComments(const google::protobuf::RepeatedPtrField<v1::Comment>& comments,
                         pool::Job& job) {
  constexpr uint32_t kMaxNewlines = 1000;
  std::string packed;
  for (const v1::Comment& comment : comments) {
    if (text::FindInvalid(comment.text())) {
      return MakeError(Reason::kInvalidQueryText,
                       "a comment holds a NUL byte or invalid UTF-8; send valid text");
    }
    if (!IsOneComment(comment.text())) {
      return MakeError(Reason::kInvalidRequest,
                       "the text of a comment is not one closed comment; send them as "
                       "ExtractComments gives them");
    }
    if (comment.newlines_before() > kMaxNewlines || comment.newlines_after() > kMaxNewlines) {
      return MakeError(Reason::kInvalidRequest,
                       absl::StrCat("a comment has more than ", kMaxNewlines,
                                    " line breaks around it; send fewer"));
    }
    const channel::CommentRecord record{.match_location = comment.match_location(),
                                        .newlines_before = comment.newlines_before(),
                                        .newlines_after = comment.newlines_after(),
                                        .text_bytes = static_cast<uint32_t>(comment.text().size())};
    packed.append(reinterpret_cast<const char*>(&record), sizeof(record));
    packed.append(comment.text());
    packed.resize((packed.size() + 7) & ~size_t{7});
    if (packed.size() > kMaxCommentBytes) {
      return MakeError(
          Reason::kInvalidRequest,
          absl::StrCat("the comments take more than ", kMaxCommentBytes, " bytes; send fewer"));
    }
  }
  job.header.comment_count = static_cast<uint32_t>(comments.size());
  job.comments = std::move(packed);
  return absl::OkStatus();
}

// What every request with a query shares.
template <typename Request>
absl::Status FillQuery(Request& request, const Limits& limits, uint32_t operations,
                       pool::Job& job) {
  if (absl::Status status = CheckQuery(request.query(), limits); !status.ok()) return status;
  if (absl::Status status = SetPositions(request.position_encoding(), job.header); !status.ok()) {
    return status;
  }
  if constexpr (requires { request.parser_options(); }) {
    if (absl::Status status = SetParserOptions(request.parser_options(), job.header);
        !status.ok()) {
      return status;
    }
  }
  job.header.operations = operations;
  job.header.max_answer_bytes = limits.max_unary_result_bytes;
  job.text = std::move(*request.mutable_query());
  return absl::OkStatus();
}

absl::StatusOr<uint32_t> OperationBit(int operation) {
  switch (operation) {
    case v1::OPERATION_PARSE:
      return channel::kOpParse;
    case v1::OPERATION_PARSE_PLPGSQL:
      return channel::kOpParsePlpgsql;
    case v1::OPERATION_FINGERPRINT:
      return channel::kOpFingerprint;
    case v1::OPERATION_NORMALIZE:
      return channel::kOpNormalize;
    case v1::OPERATION_SCAN:
      return channel::kOpScan;
    case v1::OPERATION_SPLIT:
      return channel::kOpSplit;
    case v1::OPERATION_FORMAT:
      return channel::kOpFormat;
    case v1::OPERATION_EXTRACT_COMMENTS:
      return channel::kOpExtractComments;
    case v1::OPERATION_SUMMARIZE:
      return channel::kOpSummarize;
    case v1::OPERATION_CHECK:
      return channel::kOpCheck;
    default:
      return InvalidEnum("operations");
  }
}

// The operations of Analyze and of streams, and what they take.
template <typename Options>
absl::Status SetOperations(const Options& options, JobHeader& header) {
  for (const int operation : options.operations()) {
    const absl::StatusOr<uint32_t> bit = OperationBit(operation);
    if (!bit.ok()) return bit.status();
    if (header.operations & *bit) {
      return MakeError(Reason::kInvalidRequest,
                       absl::StrCat("operations names ",
                                    v1::Operation_Name(static_cast<v1::Operation>(operation)),
                                    " twice; name each once"));
    }
    header.operations |= *bit;
  }
  if (absl::Status status = SetTreeFormat(options.format(), header); !status.ok()) return status;
  if (absl::Status status = SetConversion(options.conversion(), header); !status.ok()) {
    return status;
  }
  if (absl::Status status = SetSplitMethod(options.split_method(), header); !status.ok()) {
    return status;
  }
  if (absl::Status status = SetLayout(options.layout(), header); !status.ok()) return status;
  SetFingerprintOptions(options.fingerprint_options(), header);
  SetFlag(header, options.utility_only(), channel::kFlagNormalizeUtilityOnly);
  SetFlag(header, options.drop_comments(), channel::kFlagDropComments);
  // Format verifies here as it does by default alone.
  SetFlag(header, (header.operations & channel::kOpFormat) != 0, channel::kFlagVerify);
  header.truncate_limit = options.truncate_limit();
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<uint32_t> ChooseGrammar(uint32_t requested,
                                       std::span<const pool::GrammarStatus> grammars) {
  if (requested == 0) return grammars.front().major;
  std::vector<uint32_t> majors;
  for (const pool::GrammarStatus& grammar : grammars) {
    if (grammar.major == requested) return requested;
    majors.push_back(grammar.major);
  }
  const std::string list = absl::StrJoin(majors, ", ");
  absl::Status status =
      MakeError(Reason::kUnsupportedGrammar,
                absl::StrCat("this server has no grammar ", requested, "; it has ", list));
  AddErrorMetadata(status, "grammars", list);
  return status;
}

absl::Status CheckQuery(std::string_view query, const Limits& limits) {
  if (query.size() > limits.max_query_bytes) {
    absl::Status status = MakeError(
        Reason::kQueryTooLarge,
        absl::StrCat("the query has ", query.size(), " bytes and this server takes ",
                     limits.max_query_bytes, "; send it in parts or raise --max-query-bytes"));
    AddErrorMetadata(status, "bytes", absl::StrCat(query.size()));
    AddErrorMetadata(status, "limit", absl::StrCat(limits.max_query_bytes));
    return status;
  }
  if (const std::optional<size_t> offset = text::FindInvalid(query)) {
    const bool is_nul = query[*offset] == '\0';
    absl::Status status =
        MakeError(Reason::kInvalidQueryText,
                  absl::StrCat("the query holds ", is_nul ? "a NUL byte" : "invalid UTF-8",
                               " at byte ", *offset, "; send valid UTF-8 without NUL bytes"));
    AddErrorMetadata(status, "byte", absl::StrCat(*offset));
    return status;
  }
  return absl::OkStatus();
}

absl::Status FillJob(v1::ParseRequest& request, const Limits& limits, pool::Job& job) {
  if (absl::Status status = SetTreeFormat(request.format(), job.header); !status.ok()) {
    return status;
  }
  if (absl::Status status = SetConversion(request.conversion(), job.header); !status.ok()) {
    return status;
  }
  return FillQuery(request, limits, channel::kOpParse, job);
}

absl::Status FillJob(v1::ParsePlpgsqlRequest& request, const Limits& limits, pool::Job& job) {
  return FillQuery(request, limits, channel::kOpParsePlpgsql, job);
}

absl::Status FillJob(v1::FingerprintRequest& request, const Limits& limits, pool::Job& job) {
  SetFingerprintOptions(request.options(), job.header);
  return FillQuery(request, limits, channel::kOpFingerprint, job);
}

absl::Status FillJob(v1::NormalizeRequest& request, const Limits& limits, pool::Job& job) {
  SetFlag(job.header, request.utility_only(), channel::kFlagNormalizeUtilityOnly);
  return FillQuery(request, limits, channel::kOpNormalize, job);
}

absl::Status FillJob(v1::ScanRequest& request, const Limits& limits, pool::Job& job) {
  return FillQuery(request, limits, channel::kOpScan, job);
}

absl::Status FillJob(v1::SplitRequest& request, const Limits& limits, pool::Job& job) {
  if (absl::Status status = SetSplitMethod(request.method(), job.header); !status.ok()) {
    return status;
  }
  return FillQuery(request, limits, channel::kOpSplit, job);
}

absl::Status FillJob(v1::DeparseRequest& request, const Limits& limits, pool::Job& job) {
  std::string* tree = nullptr;
  switch (request.tree_case()) {
    case v1::DeparseRequest::kProtobuf:
      job.header.tree_format = channel::TreeFormat::kProtobuf;
      tree = request.mutable_protobuf();
      break;
    case v1::DeparseRequest::kJson:
      job.header.tree_format = channel::TreeFormat::kJson;
      tree = request.mutable_json();
      break;
    case v1::DeparseRequest::TREE_NOT_SET:
      return MakeError(Reason::kInvalidRequest, "the request holds no tree; set protobuf or json");
  }
  if (tree->size() > limits.max_query_bytes) {
    absl::Status status =
        MakeError(Reason::kQueryTooLarge,
                  absl::StrCat("the tree has ", tree->size(), " bytes and this server takes ",
                               limits.max_query_bytes, "; send less or raise --max-query-bytes"));
    AddErrorMetadata(status, "bytes", absl::StrCat(tree->size()));
    AddErrorMetadata(status, "limit", absl::StrCat(limits.max_query_bytes));
    return status;
  }
  if (absl::Status status = SetLayout(request.layout(), job.header); !status.ok()) return status;
  if (absl::Status status = SetConversion(request.conversion(), job.header); !status.ok()) {
    return status;
  }
  if (absl::Status status = SetComments(request.comments(), job); !status.ok()) return status;
  SetFlag(job.header, request.verify(), channel::kFlagVerify);
  job.header.operations = channel::kOpDeparse;
  job.header.max_answer_bytes = limits.max_unary_result_bytes;
  job.text = std::move(*tree);
  return absl::OkStatus();
}

absl::Status FillJob(v1::FormatRequest& request, const Limits& limits, pool::Job& job) {
  if (absl::Status status = SetLayout(request.layout(), job.header); !status.ok()) return status;
  SetFlag(job.header, request.drop_comments(), channel::kFlagDropComments);
  SetFlag(job.header, !request.has_verify() || request.verify(), channel::kFlagVerify);
  return FillQuery(request, limits, channel::kOpFormat, job);
}

absl::Status FillJob(v1::ExtractCommentsRequest& request, const Limits& limits, pool::Job& job) {
  return FillQuery(request, limits, channel::kOpExtractComments, job);
}

absl::Status FillJob(v1::SummarizeRequest& request, const Limits& limits, pool::Job& job) {
  job.header.truncate_limit = request.truncate_limit();
  return FillQuery(request, limits, channel::kOpSummarize, job);
}

absl::Status FillJob(v1::AnalyzeRequest& request, const Limits& limits, pool::Job& job) {
  if (absl::Status status = SetOperations(request, job.header); !status.ok()) return status;
  if (job.header.operations == 0) {
    return MakeError(Reason::kInvalidRequest, "operations is empty; name at least one");
  }
  return FillQuery(request, limits, job.header.operations, job);
}

absl::Status FillStreamHeader(const v1::StreamOptions& options, const Limits& limits,
                              channel::JobHeader& header) {
  if (absl::Status status = SetPositions(options.position_encoding(), header); !status.ok()) {
    return status;
  }
  if (absl::Status status = SetParserOptions(options.parser_options(), header); !status.ok()) {
    return status;
  }
  header.max_answer_bytes = limits.max_unary_result_bytes;
  return SetOperations(options, header);
}

absl::Status FillJob(v1::ParseChunkedRequest& request, const Limits& limits, pool::Job& job) {
  if (absl::Status status = SetTreeFormat(request.format(), job.header); !status.ok()) {
    return status;
  }
  if (absl::Status status = SetConversion(request.conversion(), job.header); !status.ok()) {
    return status;
  }
  SetFlag(job.header, true, channel::kFlagTreeInPieces);
  if (absl::Status status = FillQuery(request, limits, channel::kOpParse, job); !status.ok()) {
    return status;
  }
  job.header.max_answer_bytes = limits.max_chunked_protobuf_bytes;
  return absl::OkStatus();
}

absl::Status FillJob(v1::GetGrammarSchemaRequest&, const Limits& limits, pool::Job& job) {
  job.header.operations = channel::kOpSchema;
  job.header.max_answer_bytes = limits.max_unary_result_bytes;
  return absl::OkStatus();
}

}  // namespace pgparsed::service
