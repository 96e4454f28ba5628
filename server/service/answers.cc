#include "service/answers.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "pgparsed/errors.h"
#include "service/rpc_status.h"

namespace pgparsed::service {
namespace {

using channel::Section;
using channel::SectionKind;

// Reads a payload once, front to back, within its bounds.
class PayloadReader {
 public:
  explicit PayloadReader(std::string_view payload) : rest_(payload) {}

  template <typename T>
  bool Read(T& value) {
    if (rest_.size() < sizeof(T)) return false;
    std::memcpy(&value, rest_.data(), sizeof(T));
    rest_.remove_prefix(sizeof(T));
    return true;
  }

  bool ReadText(uint64_t bytes, std::string& text) {
    if (rest_.size() < bytes) return false;
    text.assign(rest_.substr(0, bytes));
    rest_.remove_prefix(bytes);
    return true;
  }

  void SkipPadding(uint64_t bytes) {
    rest_.remove_prefix(std::min<uint64_t>(rest_.size(), (8 - bytes % 8) % 8));
  }

  bool done() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

absl::Status ReadColumn(const Section& section, google::protobuf::RepeatedField<uint32_t>& column) {
  if (section.payload.size() % sizeof(uint32_t) != 0) return MalformedAnswer();
  const int count = static_cast<int>(section.payload.size() / sizeof(uint32_t));
  column.Resize(count, 0);
  if (count > 0) std::memcpy(column.mutable_data(), section.payload.data(), section.payload.size());
  return absl::OkStatus();
}

// Values of an enum: an open proto3 enum takes any int32, so a worker's nonsense stays nonsense
// and harms nobody.
absl::Status ReadEnumColumn(const Section& section, google::protobuf::RepeatedField<int>& column) {
  if (section.payload.size() % sizeof(int) != 0) return MalformedAnswer();
  const int count = static_cast<int>(section.payload.size() / sizeof(int));
  column.Resize(count, 0);
  if (count > 0) std::memcpy(column.mutable_data(), section.payload.data(), section.payload.size());
  return absl::OkStatus();
}

// Names, each ended by a NUL byte. The payload is copied first: it may change under the reader.
absl::StatusOr<std::vector<std::string>> ReadNames(const Section& section) {
  const std::string copy(section.payload);
  if (copy.empty()) return std::vector<std::string>();
  if (copy.back() != '\0') return MalformedAnswer();
  return std::vector<std::string>(
      absl::StrSplit(absl::string_view(copy).substr(0, copy.size() - 1), '\0'));
}

struct OperationFailure {
  channel::ErrorRecord record;
  Reason reason = Reason::kInternal;
  std::string message;
  std::optional<SqlError> sql;
};

absl::StatusOr<OperationFailure> ReadError(const Section& section) {
  PayloadReader reader(section.payload);
  OperationFailure failure;
  std::string function, file, context;
  const channel::ErrorRecord& record = failure.record;
  if (!reader.Read(failure.record) || !reader.ReadText(record.message_bytes, failure.message) ||
      !reader.ReadText(record.function_bytes, function) ||
      !reader.ReadText(record.file_bytes, file) ||
      !reader.ReadText(record.context_bytes, context)) {
    return MalformedAnswer();
  }
  failure.reason = static_cast<Reason>(record.reason);
  if (record.reason == 0 || ReasonName(failure.reason) == ReasonName(Reason::kNone)) {
    return MalformedAnswer();
  }
  if (record.is_sql_error) {
    failure.sql = SqlError{.message = failure.message,
                           .position = record.position == channel::kNoPosition
                                           ? std::nullopt
                                           : std::optional<uint32_t>(record.position),
                           .line = record.line,
                           .column = record.column,
                           .source_function = std::move(function),
                           .source_file = std::move(file),
                           .source_line = record.source_line,
                           .context = std::move(context)};
  }
  return failure;
}

v1::Operation ToProto(uint32_t operation) {
  switch (operation) {
    case channel::kOpParse:
      return v1::OPERATION_PARSE;
    case channel::kOpParsePlpgsql:
      return v1::OPERATION_PARSE_PLPGSQL;
    case channel::kOpFingerprint:
      return v1::OPERATION_FINGERPRINT;
    case channel::kOpNormalize:
      return v1::OPERATION_NORMALIZE;
    case channel::kOpScan:
      return v1::OPERATION_SCAN;
    case channel::kOpSplit:
      return v1::OPERATION_SPLIT;
    case channel::kOpFormat:
      return v1::OPERATION_FORMAT;
    case channel::kOpExtractComments:
      return v1::OPERATION_EXTRACT_COMMENTS;
    case channel::kOpSummarize:
      return v1::OPERATION_SUMMARIZE;
    case channel::kOpCheck:
      return v1::OPERATION_CHECK;
    default:
      return v1::OPERATION_UNSPECIFIED;
  }
}

}  // namespace

absl::Status MalformedAnswer() {
  return MakeError(Reason::kInternal,
                   "a worker's answer is malformed; this is a fault of pgparsed, please report it");
}

absl::Status FirstError(const channel::Answer& answer) {
  for (const Section& section : answer.sections) {
    if (section.kind != SectionKind::kError) continue;
    const absl::StatusOr<OperationFailure> failure = ReadError(section);
    if (!failure.ok()) return failure.status();
    if (failure->sql) return MakeSqlError(failure->reason, *failure->sql);
    absl::Status status = MakeError(failure->reason, failure->message);
    if (failure->record.needed_bytes != 0) {
      AddErrorMetadata(status, "bytes", absl::StrCat(failure->record.needed_bytes));
    }
    if (failure->reason == Reason::kResultTooLarge) {
      AddErrorMetadata(status, "use", "pgparsed.v1.ParserService/ParseChunked");
    }
    return status;
  }
  return absl::OkStatus();
}

absl::Status AddError(const Section& section, v1::OperationError& error) {
  const absl::StatusOr<OperationFailure> failure = ReadError(section);
  if (!failure.ok()) return failure.status();
  error.set_operation(ToProto(failure->record.operation));
  error.set_reason(std::string(ReasonName(failure->reason)));
  error.set_message(failure->message);
  if (failure->sql) *error.mutable_sql_error() = service::ToProto(*failure->sql);
  return absl::OkStatus();
}

absl::Status AddTokenSection(const Section& section, v1::TokenColumns& tokens) {
  switch (section.kind) {
    case SectionKind::kTokenStart:
      return ReadColumn(section, *tokens.mutable_start());
    case SectionKind::kTokenEnd:
      return ReadColumn(section, *tokens.mutable_end());
    case SectionKind::kTokenNumber:
      return ReadColumn(section, *tokens.mutable_token());
    case SectionKind::kTokenName:
      return ReadColumn(section, *tokens.mutable_name());
    case SectionKind::kTokenKeyword:
      return ReadEnumColumn(section, *tokens.mutable_keyword_kind());
    case SectionKind::kTokenNames: {
      absl::StatusOr<std::vector<std::string>> names = ReadNames(section);
      if (!names.ok()) return names.status();
      for (std::string& name : *names) tokens.add_names(std::move(name));
      return absl::OkStatus();
    }
    default:
      return MalformedAnswer();
  }
}

absl::Status AddPieceSection(const Section& section, v1::PieceColumns& pieces) {
  switch (section.kind) {
    case SectionKind::kPieceStart:
      return ReadColumn(section, *pieces.mutable_start());
    case SectionKind::kPieceLength:
      return ReadColumn(section, *pieces.mutable_length());
    case SectionKind::kPieceLine:
      return ReadColumn(section, *pieces.mutable_line());
    case SectionKind::kPieceKind:
      return ReadEnumColumn(section, *pieces.mutable_kind());
    case SectionKind::kPieceIncomplete:
      pieces.set_incomplete(true);
      return absl::OkStatus();
    default:
      return MalformedAnswer();
  }
}

absl::Status AddComments(const Section& section,
                         google::protobuf::RepeatedPtrField<v1::Comment>& comments) {
  PayloadReader reader(section.payload);
  while (!reader.done()) {
    channel::CommentRecord record;
    std::string text;
    if (!reader.Read(record) || !reader.ReadText(record.text_bytes, text)) return MalformedAnswer();
    reader.SkipPadding(record.text_bytes);
    v1::Comment* comment = comments.Add();
    comment->set_match_location(record.match_location);
    comment->set_newlines_before(record.newlines_before);
    comment->set_newlines_after(record.newlines_after);
    comment->set_text(std::move(text));
  }
  return absl::OkStatus();
}

absl::Status AddWarnings(const Section& section,
                         google::protobuf::RepeatedPtrField<std::string>& warnings) {
  const std::string copy(section.payload);
  for (const absl::string_view line : absl::StrSplit(copy, '\n', absl::SkipEmpty())) {
    warnings.Add(std::string(line));
  }
  return absl::OkStatus();
}

absl::Status FillAnswer(const channel::Answer& answer, v1::GetGrammarSchemaResponse& response,
                        std::vector<RawField>& raw) {
  if (absl::Status status = FirstError(answer); !status.ok()) return status;
  google::protobuf::RepeatedField<uint32_t> token_numbers, node_numbers;
  std::vector<std::string> token_names, node_names;
  for (const Section& section : answer.sections) {
    absl::Status status;
    absl::StatusOr<std::vector<std::string>> names;
    switch (section.kind) {
      case SectionKind::kSchemaDescriptor:
        raw.push_back(
            {v1::GetGrammarSchemaResponse::kFileDescriptorSetFieldNumber, section.payload});
        break;
      case SectionKind::kSchemaText:
        raw.push_back({v1::GetGrammarSchemaResponse::kProtoTextFieldNumber, section.payload});
        break;
      case SectionKind::kSchemaTokenNumbers:
        status = ReadColumn(section, token_numbers);
        break;
      case SectionKind::kSchemaNodeNumbers:
        status = ReadColumn(section, node_numbers);
        break;
      case SectionKind::kSchemaTokenNames:
        names = ReadNames(section);
        if (names.ok())
          token_names = *std::move(names);
        else
          status = names.status();
        break;
      case SectionKind::kSchemaNodeNames:
        names = ReadNames(section);
        if (names.ok())
          node_names = *std::move(names);
        else
          status = names.status();
        break;
      default:
        status = MalformedAnswer();
    }
    if (!status.ok()) return status;
  }
  if (token_numbers.size() != static_cast<int>(token_names.size()) ||
      node_numbers.size() != static_cast<int>(node_names.size())) {
    return MalformedAnswer();
  }
  const auto add = [](const google::protobuf::RepeatedField<uint32_t>& numbers,
                      std::vector<std::string>& names,
                      google::protobuf::RepeatedPtrField<v1::GrammarName>& out) {
    for (int i = 0; i < numbers.size(); ++i) {
      v1::GrammarName* name = out.Add();
      name->set_number(numbers[i]);
      name->set_name(std::move(names[i]));
    }
  };
  add(token_numbers, token_names, *response.mutable_tokens());
  add(node_numbers, node_names, *response.mutable_nodes());
  return absl::OkStatus();
}

}  // namespace pgparsed::service
