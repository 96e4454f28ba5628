#include "worker/operations.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "channel/channel_layout.h"
#include "channel/sections.h"
#include "grammar/deparse.h"
#include "grammar/operations.h"
#include "grammar/parsed_query.h"
#include "grammar/plpgsql.h"
#include "grammar/schema.h"
#include "grammar/tree_reader.h"
#include "grammar/tree_writer.h"
#include "splitter/split_text.h"
#include "text/positions.h"
#include "text/utf8.h"
#include "worker/allocator.h"
#include "worker/item_job.h"
#include "worker/memory.h"
#include "worker/region_sink.h"

namespace pgparsed::worker {
namespace {

using channel::JobHeader;
using channel::SectionKind;
using grammar::GrammarError;
using grammar::MakeGrammarError;
using grammar::Result;

// What is kept free for errors: each has two texts of kMaxErrorText and small ones.
constexpr uint64_t kRoomForErrors = 128u << 10;
// PostgreSQL's messages name the token at which the parser stopped, however long that is.
constexpr size_t kMaxErrorText = 4096;

grammar::ParserOptions ParserOptionsOf(const JobHeader& header) {
  return {
      .mode = static_cast<grammar::ParseMode>(header.parse_mode),
      .backslash_quote = !(header.flags & channel::kFlagNoBackslashQuote),
      .standard_conforming_strings = !(header.flags & channel::kFlagNoStandardConformingStrings),
      .escape_string_warning = !(header.flags & channel::kFlagNoEscapeStringWarning)};
}

grammar::FingerprintOptions FingerprintOptionsOf(const JobHeader& header) {
  return {.ignore_aliases = (header.flags & channel::kFlagFingerprintIgnoreAliases) != 0,
          .include_schema = (header.flags & channel::kFlagFingerprintIncludeSchema) != 0,
          .full_relname = (header.flags & channel::kFlagFingerprintFullRelname) != 0};
}

grammar::Layout LayoutOf(const JobHeader& header) {
  return {.pretty = (header.flags & channel::kFlagLayoutPretty) != 0,
          .indent_size = header.indent_size,
          .max_line_length = header.max_line_length,
          .trailing_newline = (header.flags & channel::kFlagLayoutTrailingNewline) != 0,
          .commas_start_of_line = (header.flags & channel::kFlagLayoutCommasStartOfLine) != 0};
}

// `text` cut to kMaxErrorText bytes, between characters.
std::string_view Shortened(std::string_view text) {
  if (text.size() <= kMaxErrorText) return text;
  size_t end = kMaxErrorText;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end);
}

std::string JoinNames(const std::vector<std::string_view>& names) {
  std::string joined;
  for (const std::string_view name : names) {
    joined += name;
    joined += '\0';
  }
  return joined;
}

// Views of a record; it must outlive the use.
template <typename T>
std::string_view BytesOf(const T& record) {
  return {reinterpret_cast<const char*>(&record), sizeof(record)};
}

uint64_t PadTo8(uint64_t bytes) { return (bytes + 7) & ~uint64_t{7}; }

// The comments of a job. The texts are views into the job.
std::optional<std::vector<grammar::Comment>> ReadComments(std::string_view bytes, uint32_t count) {
  std::vector<grammar::Comment> comments;
  for (uint32_t i = 0; i < count; ++i) {
    channel::CommentRecord record;
    if (bytes.size() < sizeof(record)) return std::nullopt;
    std::memcpy(&record, bytes.data(), sizeof(record));
    bytes.remove_prefix(sizeof(record));
    if (record.text_bytes > bytes.size()) return std::nullopt;
    comments.push_back({.match_location = record.match_location,
                        .newlines_before = record.newlines_before,
                        .newlines_after = record.newlines_after,
                        .text = bytes.substr(0, record.text_bytes)});
    bytes.remove_prefix(std::min<uint64_t>(PadTo8(record.text_bytes), bytes.size()));
  }
  return comments;
}

class JobRun {
 public:
  JobRun(const JobHeader& header, std::string_view text, std::string_view comments,
         std::span<std::byte> answer, grammar::ByteSink* pieces)
      : header_(header),
        pieces_(pieces),
        text_(text),
        comments_(comments),
        encoding_(static_cast<text::Encoding>(header.position_encoding)),
        parser_options_(ParserOptionsOf(header)),
        limit_(std::min<uint64_t>(answer.size() - kRoomForErrors, header.max_answer_bytes > 0
                                                                      ? header.max_answer_bytes
                                                                      : answer.size())),
        writer_(answer, answer.size()) {}

  uint64_t Run() {
    const auto begin = Clock::now();
    if (header_.version != channel::kProtocolVersion) {
      AddError(header_.operations,
               MakeGrammarError(Reason::kInternal,
                                "pgparsed and its workers must be installed from one build"));
    } else if (header_.operations == channel::kOpDescribe) {
      Describe();
    } else if (header_.operations == channel::kOpSchema) {
      AddSchema();
    } else if (header_.operations == channel::kOpDeparse) {
      Deparse();
    } else {
      QueryOperations();
    }
    const uint64_t total_ns = NanosecondsSince(begin);
    return writer_.Finish(parse_ns_, total_ns - parse_ns_);
  }

 private:
  using Clock = std::chrono::steady_clock;

  static uint64_t NanosecondsSince(Clock::time_point begin) {
    return static_cast<uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin).count());
  }

  bool Asked(channel::Operation operation) const { return header_.operations & operation; }

  // ---- queries ----

  void QueryOperations() {
    ParsedTreeOperations();
    if (Asked(channel::kOpParsePlpgsql)) {
      if (auto error = RefuseParserOptions()) {
        AddError(channel::kOpParsePlpgsql, *error);
      } else {
        AddText(channel::kOpParsePlpgsql, SectionKind::kPlpgsqlJson,
                grammar::ParsePlpgsql(text_.data()));
      }
    }
    if (Asked(channel::kOpNormalize) && !NormalizesParsedTree()) {
      AddError(channel::kOpNormalize,
               MakeGrammarError(Reason::kUnsupportedOption,
                                "only statements can be normalized: leave the parse mode at the "
                                "default"));
    }
    if (Asked(channel::kOpScan)) Scan();
    if (Asked(channel::kOpSplit) && !SplitsWithParser()) SplitWithoutParser();
    if (Asked(channel::kOpExtractComments)) ExtractComments();
  }

  bool SplitsWithParser() const { return header_.split_method == channel::SplitMethod::kParser; }

  bool NormalizesParsedTree() const { return parser_options_.mode == grammar::ParseMode::kDefault; }

  // The operations that share one raw parse.
  void ParsedTreeOperations() {
    uint32_t sharing =
        header_.operations & (channel::kOpParse | channel::kOpFingerprint | channel::kOpFormat |
                              channel::kOpSummarize | channel::kOpCheck);
    if (SplitsWithParser()) sharing |= header_.operations & channel::kOpSplit;
    if (NormalizesParsedTree()) sharing |= header_.operations & channel::kOpNormalize;
    if (sharing == 0) return;
    const auto begin = Clock::now();
    const auto parsed = grammar::ParsedQuery::Parse(text_.data(), parser_options_);
    parse_ns_ = NanosecondsSince(begin);
    if (!parsed.ok()) {
      for (uint32_t bit = 1; bit != 0; bit <<= 1) {
        if (sharing & bit) AddError(bit, parsed.error());
      }
      return;
    }
    grammar::ParsedQuery& query = *parsed.value();
    if (sharing & channel::kOpParse) AddTree(query);
    if (sharing & channel::kOpFingerprint) AddFingerprint(query);
    if (sharing & channel::kOpFormat) AddFormatted(query);
    if (sharing & channel::kOpSplit) AddPieces(query.Split());
    if (sharing & channel::kOpNormalize) AddNormalized(query);
    if (sharing & channel::kOpSummarize) AddSummary(query);
  }

  void AddTree(grammar::ParsedQuery& query) {
    if (header_.conversion == channel::Conversion::kLibrary) return AddLibraryTree(query);
    const text::PositionIndex positions(text_, encoding_);
    if (header_.tree_format == channel::TreeFormat::kProtobuf) {
      const auto tree =
          grammar::WriteProtobuf(query.statements(), positions, writer_.TailRoom(kRoomForErrors));
      if (!tree.ok()) return AddError(channel::kOpParse, tree.error());
      writer_.AddTail(SectionKind::kTreeProtobuf, tree.value().bytes);
      const uint64_t needed = writer_.needed_bytes() - error_bytes_;
      if (needed <= limit_) return;
      writer_.DropTail();
      return AddTooLarge(channel::kOpParse, needed);
    }
    const bool columnar = header_.tree_format == channel::TreeFormat::kColumnar;
    if (pieces_ != nullptr) {
      const auto tree = columnar ? grammar::WriteColumnar(query.statements(), positions, *pieces_)
                                 : grammar::WriteJson(query.statements(), positions, *pieces_);
      if (!tree.ok()) return AddError(channel::kOpParse, tree.error());
      return writer_.Add(SectionKind::kTreePieces, BytesOf(tree.value().bytes));
    }
    const uint32_t sections = writer_.section_count();
    writer_.Begin(columnar ? SectionKind::kTreeColumnar : SectionKind::kTreeJson);
    RegionSink sink(writer_.Room(kRoomForErrors));
    const auto tree = columnar ? grammar::WriteColumnar(query.statements(), positions, sink)
                               : grammar::WriteJson(query.statements(), positions, sink);
    if (!tree.ok()) {
      writer_.TruncateTo(sections);
      return AddError(channel::kOpParse, tree.error());
    }
    writer_.Appended(tree.value().bytes);
    writer_.End();
    const uint64_t needed = writer_.needed_bytes() - error_bytes_;
    if (sink.fits() && needed <= limit_) return;
    writer_.TruncateTo(sections);
    AddTooLarge(channel::kOpParse, needed);
  }

  void AddLibraryTree(grammar::ParsedQuery& query) {
    if (header_.tree_format == channel::TreeFormat::kColumnar) {
      return AddError(channel::kOpParse,
                      MakeGrammarError(Reason::kUnsupportedOption,
                                       "the library has no columnar trees: ask for "
                                       "CONVERSION_DIRECT, or leave `conversion` out"));
    }
    if (encoding_ != text::Encoding::kUtf8) {
      return AddError(channel::kOpParse,
                      MakeGrammarError(Reason::kUnsupportedOption,
                                       "the library's trees have positions in bytes of UTF-8: ask "
                                       "for CONVERSION_DIRECT, or for POSITION_ENCODING_UTF8"));
    }
    if (header_.tree_format == channel::TreeFormat::kProtobuf) {
      AddText(channel::kOpParse, SectionKind::kTreeProtobuf, query.LibraryProtobuf());
    } else if (pieces_ != nullptr) {
      const auto json = query.LibraryJson();
      if (!json.ok()) return AddError(channel::kOpParse, json.error());
      PutInPieces(json.value());
      writer_.Add(SectionKind::kTreePieces, BytesOf(uint64_t{json.value().size()}));
    } else {
      AddText(channel::kOpParse, SectionKind::kTreeJson, query.LibraryJson());
    }
  }

  void PutInPieces(std::string_view bytes) {
    std::span<char> window = pieces_->Next(0);
    for (; bytes.size() > window.size(); window = pieces_->Next(window.size())) {
      std::memcpy(window.data(), bytes.data(), window.size());
      bytes.remove_prefix(window.size());
    }
    std::memcpy(window.data(), bytes.data(), bytes.size());
    pieces_->Finish(bytes.size());
  }

  void AddFingerprint(grammar::ParsedQuery& query) {
    const auto fingerprint = query.Fingerprint(FingerprintOptionsOf(header_));
    if (!fingerprint.ok()) return AddError(channel::kOpFingerprint, fingerprint.error());
    const uint64_t value = fingerprint.value();
    AddResult(channel::kOpFingerprint,
              [&] { writer_.Add(SectionKind::kFingerprint, BytesOf(value)); });
  }

  void AddFormatted(grammar::ParsedQuery& query) {
    grammar::Layout layout = LayoutOf(header_);
    layout.pretty = layout.pretty || grammar::kFeatures.pretty_print;
    const bool keep_comments = !(header_.flags & channel::kFlagDropComments);
    const bool verify = header_.flags & channel::kFlagVerify;
    AddText(channel::kOpFormat, SectionKind::kFormatted,
            query.Format(layout, keep_comments, verify));
  }

  void AddNormalized(const grammar::ParsedQuery& query) {
    const bool utility_only = header_.flags & channel::kFlagNormalizeUtilityOnly;
    AddText(channel::kOpNormalize, SectionKind::kNormalized, query.Normalize(utility_only));
  }

  void AddSummary(grammar::ParsedQuery& query) {
    const auto summary = query.Summarize(header_.truncate_limit);
    if (!summary.ok()) return AddError(channel::kOpSummarize, summary.error());
    AddResult(channel::kOpSummarize, [&] { writer_.Add(SectionKind::kSummary, summary.value()); });
  }

  void Scan() {
    const auto scanned = grammar::Scan(text_.data(), parser_options_);
    if (!scanned.ok()) return AddError(channel::kOpScan, scanned.error());
    const grammar::Tokens& tokens = scanned.value();
    text::PositionMapper mapper(text_, encoding_);
    std::vector<uint32_t> start;
    std::vector<uint32_t> end;
    for (size_t i = 0; i < tokens.start.size(); ++i) {
      start.push_back(mapper.FromByte(tokens.start[i]));
      end.push_back(mapper.FromByte(tokens.end[i]));
    }
    AddResult(channel::kOpScan, [&] {
      writer_.AddColumn(SectionKind::kTokenStart, start);
      writer_.AddColumn(SectionKind::kTokenEnd, end);
      writer_.AddColumn(SectionKind::kTokenNumber, tokens.number);
      writer_.AddColumn(SectionKind::kTokenName, tokens.name);
      writer_.AddColumn(SectionKind::kTokenKeyword, tokens.keyword);
      writer_.Add(SectionKind::kTokenNames, JoinNames(tokens.names));
    });
  }

  void SplitWithoutParser() {
    if (header_.split_method != channel::SplitMethod::kScanner) return SplitTolerantly();
    const auto pieces = grammar::SplitWithScanner(text_.data(), parser_options_);
    if (!pieces.ok()) return AddError(channel::kOpSplit, pieces.error());
    AddPieces(pieces.value());
  }

  void SplitTolerantly() {
    const splitter::SplitResult split = splitter::SplitText(
        text_, {.standard_conforming_strings = parser_options_.standard_conforming_strings});
    text::PositionMapper mapper(text_, encoding_);
    std::vector<uint32_t> start, length, line, kind;
    for (const splitter::Piece& piece : split.pieces) {
      start.push_back(mapper.FromByte(piece.offset));
      length.push_back(mapper.FromByte(piece.offset + piece.length) - start.back());
      line.push_back(static_cast<uint32_t>(piece.line));
      kind.push_back(static_cast<uint32_t>(piece.kind));
    }
    AddResult(channel::kOpSplit, [&] {
      writer_.AddColumn(SectionKind::kPieceStart, start);
      writer_.AddColumn(SectionKind::kPieceLength, length);
      writer_.AddColumn(SectionKind::kPieceLine, line);
      writer_.AddColumn(SectionKind::kPieceKind, kind);
      if (split.incomplete) writer_.Add(SectionKind::kPieceIncomplete, {});
    });
  }

  void AddPieces(const grammar::Pieces& pieces) {
    text::PositionMapper mapper(text_, encoding_);
    std::vector<uint32_t> start;
    std::vector<uint32_t> length;
    std::vector<uint32_t> line;
    size_t counted = 0;  // line breaks before it are in current_line
    uint32_t current_line = 1;
    for (size_t i = 0; i < pieces.start.size(); ++i) {
      const size_t begin = std::min<size_t>(pieces.start[i], text_.size());
      if (begin > counted) {
        const std::string_view between = text_.substr(counted, begin - counted);
        current_line += static_cast<uint32_t>(std::count(between.begin(), between.end(), '\n'));
        counted = begin;
      }
      start.push_back(mapper.FromByte(begin));
      length.push_back(mapper.FromByte(begin + pieces.length[i]) - start.back());
      line.push_back(current_line);
    }
    AddResult(channel::kOpSplit, [&] {
      writer_.AddColumn(SectionKind::kPieceStart, start);
      writer_.AddColumn(SectionKind::kPieceLength, length);
      writer_.AddColumn(SectionKind::kPieceLine, line);
    });
  }

  void ExtractComments() {
    const auto extracted = grammar::ExtractComments(text_.data(), parser_options_);
    if (!extracted.ok()) return AddError(channel::kOpExtractComments, extracted.error());
    AddResult(channel::kOpExtractComments, [&] {
      writer_.Begin(SectionKind::kComments);
      for (const grammar::Comment& comment : extracted.value().comments()) {
        const channel::CommentRecord record = {
            .match_location = comment.match_location,
            .newlines_before = comment.newlines_before,
            .newlines_after = comment.newlines_after,
            .text_bytes = static_cast<uint32_t>(comment.text.size())};
        writer_.Append(BytesOf(record));
        writer_.Append(comment.text);
        constexpr char kPadding[8] = {};
        writer_.Append({kPadding, PadTo8(comment.text.size()) - comment.text.size()});
      }
      writer_.End();
    });
  }

  // ---- trees ----

  void Deparse() {
    const auto comments = ReadComments(comments_, header_.comment_count);
    if (!comments) {
      return AddError(channel::kOpDeparse,
                      MakeGrammarError(Reason::kInternal, "the job's comments are malformed"));
    }
    grammar::LibraryScope scope;
    std::vector<grammar::LibraryText> results;
    const auto sql = DeparseTree(scope, *comments, results);
    if (sql.ok() && text::FindInvalid(sql.value())) {
      return AddError(channel::kOpDeparse,
                      MakeGrammarError(Reason::kInvalidTree,
                                       "the tree holds strings that are not valid UTF-8"));
    }
    AddText(channel::kOpDeparse, SectionKind::kDeparsed, sql);
  }

  Result<std::string_view> DeparseTree(grammar::LibraryScope& scope,
                                       const std::vector<grammar::Comment>& comments,
                                       std::vector<grammar::LibraryText>& results) {
    const grammar::Layout layout = LayoutOf(header_);
    const bool verify = header_.flags & channel::kFlagVerify;
    const bool json = header_.tree_format == channel::TreeFormat::kJson;
    if (!json && header_.tree_format != channel::TreeFormat::kProtobuf) {
      return MakeGrammarError(Reason::kUnsupportedOption, "trees to deparse are protobuf or JSON");
    }
    if (header_.conversion == channel::Conversion::kLibrary) {
      if (json || verify) {
        return MakeGrammarError(Reason::kUnsupportedOption,
                                "the library deparses protobuf without verification: leave "
                                "`conversion` out");
      }
      return grammar::DeparseByLibrary(scope, text_, layout, comments, results);
    }
    const auto begin = Clock::now();
    const auto statements =
        json ? grammar::ReadJsonTree(scope, text_) : grammar::ReadProtobufTree(scope, text_);
    parse_ns_ = NanosecondsSince(begin);
    if (!statements.ok()) return statements.error();
    return grammar::PrintStatements(scope, statements.value(), layout, comments, verify, results);
  }

  // ---- the grammar itself ----

  void Describe() {
    const grammar::Identity identity = grammar::GrammarIdentity();
    const std::string allocator = AllocatorName();
    uint32_t features = 0;
    const auto add = [&](bool has, channel::Feature feature) { features |= has ? feature : 0u; };
    add(grammar::kFeatures.parser_options, channel::kFeatureParserOptions);
    add(grammar::kFeatures.fingerprint_options, channel::kFeatureFingerprintOptions);
    add(grammar::kFeatures.pretty_print, channel::kFeaturePrettyPrint);
    add(grammar::kFeatures.comments, channel::kFeatureComments);
    add(grammar::kFeatures.normalize_utility, channel::kFeatureNormalizeUtility);
    add(grammar::kFeatures.summary, channel::kFeatureSummary);
    add(true, channel::kFeatureDirectConversion);
    add(true, channel::kFeatureColumnar);
    add(true, channel::kFeatureDeparseJson);
    add(true, channel::kFeatureVerify);
    const channel::DescriptionRecord record = {
        .major = identity.major,
        .postgres_version_num = identity.postgres_version_num,
        .features = features,
        .library_version_bytes = static_cast<uint32_t>(identity.library_version.size()),
        .postgres_version_bytes = static_cast<uint32_t>(identity.postgres_version.size()),
        .allocator_bytes = static_cast<uint32_t>(allocator.size())};
    AddResult(channel::kOpDescribe, [&] {
      writer_.Begin(SectionKind::kDescription);
      writer_.Append(BytesOf(record));
      writer_.Append(identity.library_version);
      writer_.Append(identity.postgres_version);
      writer_.Append(allocator);
      writer_.End();
    });
  }

  void AddSchema() {
    const grammar::Schema& schema = grammar::GrammarSchema();
    AddResult(channel::kOpSchema, [&] {
      writer_.Add(SectionKind::kSchemaDescriptor, schema.descriptor_set);
      writer_.Add(SectionKind::kSchemaText, schema.proto_text);
      writer_.AddColumn(SectionKind::kSchemaTokenNumbers, schema.tokens.numbers);
      writer_.Add(SectionKind::kSchemaTokenNames, schema.tokens.names);
      writer_.AddColumn(SectionKind::kSchemaNodeNumbers, schema.nodes.numbers);
      writer_.Add(SectionKind::kSchemaNodeNames, schema.nodes.names);
    });
  }

  // ---- options that this build or an operation does not take ----

  std::optional<GrammarError> RefuseParserOptions() const {
    if (parser_options_ == grammar::ParserOptions{}) return std::nullopt;
    return MakeGrammarError(Reason::kUnsupportedOption,
                            "this operation reads with the parser's default options only");
  }

  // ---- writing ----

  // Adds the sections that `write` writes, or the error that they do not fit.
  template <typename Write>
  void AddResult(channel::Operation operation, Write write) {
    const uint32_t sections = writer_.section_count();
    write();
    const uint64_t needed = writer_.needed_bytes() - error_bytes_;
    if (needed <= limit_) return;
    writer_.TruncateTo(sections);
    AddTooLarge(operation, needed);
  }

  void AddTooLarge(channel::Operation operation, uint64_t needed) {
    AddError(operation,
             MakeGrammarError(Reason::kResultTooLarge,
                              "the result is larger than a single answer may be; ask for it in "
                              "chunks (ParseChunked) or split the query"),
             needed);
  }

  static std::string_view View(std::string_view text) { return text; }
  static std::string_view View(const grammar::LibraryText& text) { return text.view(); }

  template <typename T>
  void AddText(channel::Operation operation, SectionKind kind, const Result<T>& result) {
    if (!result.ok()) return AddError(operation, result.error());
    AddResult(operation, [&] { writer_.Add(kind, View(result.value())); });
  }

  void AddError(uint32_t operation, const GrammarError& error, uint64_t needed_bytes = 0) {
    const bool is_sql_error = error.from_postgres && (error.reason == Reason::kSqlSyntaxError ||
                                                      error.reason == Reason::kNestingTooDeep);
    const std::string_view message = Shortened(error.message);
    const std::string_view context = Shortened(error.context);
    channel::ErrorRecord record = {
        .operation = operation,
        .reason = static_cast<uint32_t>(error.reason),
        .source_line = error.source_line,
        .is_sql_error = is_sql_error,
        .message_bytes = static_cast<uint32_t>(message.size()),
        .function_bytes = static_cast<uint32_t>(error.source_function.size()),
        .file_bytes = static_cast<uint32_t>(error.source_file.size()),
        .context_bytes = static_cast<uint32_t>(context.size()),
        .needed_bytes = needed_bytes};
    if (error.cursor > 0) {
      const size_t byte = text::ByteOfCodePoint(text_, error.cursor - 1);
      const text::LineColumn place = text::LineColumnOf(text_, byte, encoding_);
      record.position = text::PositionMapper(text_, encoding_).FromByte(byte);
      record.line = place.line;
      record.column = place.column;
    }
    const uint64_t bytes_before = writer_.needed_bytes();
    writer_.Begin(SectionKind::kError);
    writer_.Append(BytesOf(record));
    writer_.Append(message);
    writer_.Append(error.source_function);
    writer_.Append(error.source_file);
    writer_.Append(context);
    writer_.End();
    error_bytes_ += writer_.needed_bytes() - bytes_before;
  }

  const JobHeader& header_;
  grammar::ByteSink* const pieces_;  // null: the tree is a section
  const std::string_view text_;      // a NUL stands behind it
  const std::string_view comments_;
  const text::Encoding encoding_;
  const grammar::ParserOptions parser_options_;
  const uint64_t limit_;  // of the results; errors have room besides
  channel::AnswerWriter writer_;
  uint64_t error_bytes_ = 0;
  uint64_t parse_ns_ = 0;
};

}  // namespace

uint64_t AnswerJob(const JobHeader& header, std::string_view text, std::string_view comments,
                   std::span<std::byte> answer, grammar::ByteSink* pieces) {
  if (header.item_count > 0) return AnswerItems(header, text, comments, answer);
  const bool in_pieces = (header.flags & channel::kFlagTreeInPieces) != 0 &&
                         header.tree_format != channel::TreeFormat::kProtobuf;
  if (!in_pieces) return JobRun(header, text, comments, answer, nullptr).Run();
  // The windows for the pieces are the end of the region.
  return JobRun(header, text, comments, answer.first(answer.size() - channel::kPiecesBytes), pieces)
      .Run();
}

}  // namespace pgparsed::worker
