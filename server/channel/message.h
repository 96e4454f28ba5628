// What the front and a worker say to each other: a job and its answer, as plain structs in shared
// memory. Both ends are built from the same source; the version number catches a mixed
// installation.
//
// A job is a JobHeader, then the text (SQL, or the tree for Deparse), then the comments for
// Deparse (see below). A job of several items has their texts in a row instead, a NUL behind each,
// and in place of the comments the length of each as a u32. An answer is an AnswerHeader, then
// sections: SectionHeader, payload, padding to 8 bytes (sections.h writes and reads them). What is
// written back to front stands at the end of the answer region: the tail, a section without a
// header of its own.
//
// Security: the front trusts nothing of an answer. Every struct is copied out of shared memory
// once, then checked, and only the copy is used. A worker trusts the front.
#pragma once

#include <cstdint>
#include <type_traits>

namespace pgparsed::channel {

inline constexpr uint32_t kProtocolVersion = 4;

// Bits of JobHeader::operations. A job does one or several of them.
enum Operation : uint32_t {
  kOpParse = 1u << 0,
  kOpParsePlpgsql = 1u << 1,
  kOpFingerprint = 1u << 2,
  kOpNormalize = 1u << 3,
  kOpScan = 1u << 4,
  kOpSplit = 1u << 5,
  kOpFormat = 1u << 6,
  kOpExtractComments = 1u << 7,
  kOpSummarize = 1u << 8,
  kOpDeparse = 1u << 9,    // alone: the text is a tree
  kOpDescribe = 1u << 10,  // alone: who are you (GrammarDescription)
  kOpSchema = 1u << 11,    // alone: the grammar's schema
  kOpCheck = 1u << 12,     // the raw parse, for its error alone
};

enum class TreeFormat : uint32_t { kJson = 1, kProtobuf = 2, kColumnar = 3 };
enum class Conversion : uint32_t { kDefault = 0, kDirect = 1, kLibrary = 2 };
enum class SplitMethod : uint32_t { kDefault = 0, kTolerant = 1, kParser = 2, kScanner = 3 };
enum class PositionEncoding : uint32_t { kUtf8 = 1, kUtf16 = 2, kUtf32 = 3 };

// The values are those of the proto enum, less one: PostgreSQL's RawParseMode.
enum class ParseMode : uint32_t {
  kDefault = 0,
  kTypeName = 1,
  kPlpgsqlExpr = 2,
  kPlpgsqlAssign1 = 3,
  kPlpgsqlAssign2 = 4,
  kPlpgsqlAssign3 = 5,
};

// Bits of JobHeader::flags.
enum JobFlag : uint32_t {
  kFlagNoBackslashQuote = 1u << 0,
  kFlagNoStandardConformingStrings = 1u << 1,
  kFlagNoEscapeStringWarning = 1u << 2,
  kFlagFingerprintIgnoreAliases = 1u << 3,
  kFlagFingerprintIncludeSchema = 1u << 4,
  kFlagFingerprintFullRelname = 1u << 5,
  kFlagNormalizeUtilityOnly = 1u << 6,
  kFlagLayoutPretty = 1u << 7,
  kFlagLayoutTrailingNewline = 1u << 8,
  kFlagLayoutCommasStartOfLine = 1u << 9,
  kFlagDropComments = 1u << 10,
  kFlagVerify = 1u << 11,
  // The tree leaves in pieces while it is written (channel_layout.h), but for protobuf, which is
  // whole before its first byte is known. kTreePieces stands in the answer instead of it.
  kFlagTreeInPieces = 1u << 12,
};

struct JobHeader {
  uint32_t version = kProtocolVersion;
  uint32_t operations = 0;
  uint32_t flags = 0;
  ParseMode parse_mode = ParseMode::kDefault;
  TreeFormat tree_format = TreeFormat::kJson;  // of the answer, or of the text for kOpDeparse
  Conversion conversion = Conversion::kDefault;
  SplitMethod split_method = SplitMethod::kDefault;
  PositionEncoding position_encoding = PositionEncoding::kUtf8;
  uint32_t indent_size = 0;      // 0: the default
  uint32_t max_line_length = 0;  // 0: the default
  uint32_t truncate_limit = 0;   // 0: no truncated text
  uint32_t comment_count = 0;
  uint32_t item_count = 0;  // 0: one text, its results in sections of their own
  uint32_t reserved = 0;
  uint64_t text_bytes = 0;
  uint64_t comments_bytes = 0;    // of comments or of items' lengths, behind the text
  uint64_t max_answer_bytes = 0;  // a larger answer is kResultTooLarge
};

// A comment in a job (for kOpDeparse) or in a kComments section: the record, the text, padding to
// 8 bytes; as many as the count says.
struct CommentRecord {
  int32_t match_location = 0;
  uint32_t newlines_before = 0;
  uint32_t newlines_after = 0;
  uint32_t text_bytes = 0;
};

// What a section holds. All numbers are little-endian u32 unless said otherwise; positions are in
// the encoding that the job asked for.
enum class SectionKind : uint32_t {
  kError = 1,                // ErrorRecord, then its four strings: message, function, file, context
  kTreeJson = 2,             // text
  kTreeProtobuf = 3,         // bytes
  kTreeColumnar = 4,         // a serialized pgparsed.v1.ColumnarTree
  kWarnings = 5,             // text, one warning a line
  kPlpgsqlJson = 6,          // text
  kFingerprint = 7,          // u64
  kNormalized = 8,           // text
  kTokenStart = 9,           // a column
  kTokenEnd = 10,            // a column
  kTokenNumber = 11,         // a column
  kTokenName = 12,           // a column: index into kTokenNames
  kTokenKeyword = 13,        // a column: values of pgparsed.v1.KeywordKind
  kTokenNames = 14,          // names, each ended by a NUL byte
  kPieceStart = 15,          // a column
  kPieceLength = 16,         // a column
  kPieceLine = 17,           // a column
  kPieceKind = 18,           // a column: values of pgparsed.v1.PieceKind; absent: all statements
  kPieceIncomplete = 19,     // empty: its presence says so
  kFormatted = 20,           // text
  kComments = 21,            // CommentRecords with their texts
  kSummary = 22,             // a serialized pgparsed.v1.Summary
  kDeparsed = 23,            // text
  kDescription = 24,         // DescriptionRecord, then its three strings
  kSchemaDescriptor = 25,    // a serialized google.protobuf.FileDescriptorSet
  kSchemaText = 26,          // text
  kSchemaTokenNumbers = 27,  // a column
  kSchemaTokenNames = 28,    // names, each ended by a NUL byte
  kSchemaNodeNumbers = 29,   // a column
  kSchemaNodeNames = 30,     // names, each ended by a NUL byte
  kTreePieces = 31,          // u64: the bytes of all pieces

  // Of a job of several items. Each but the first and the last is a repeated field of
  // pgparsed.v1.ResultColumns in protobuf's wire format, an element for each item.
  kItemFingerprints = 40,  // u64, one for each item
  kItemTrees = 41,
  kItemPlpgsql = 42,
  kItemNormalized = 43,
  kItemTokens = 44,
  kItemPieces = 45,
  kItemFormatted = 46,
  kItemComments = 47,
  kItemSummaries = 48,
  kItemErrors =
      49,  // ItemErrorRecord, then a kError payload, padding to 8 bytes; in ascending order
};

struct AnswerHeader {
  uint32_t version = kProtocolVersion;
  uint32_t section_count = 0;
  uint64_t total_bytes = 0;  // header and sections, without the tail
  uint64_t parse_ns = 0;
  uint64_t convert_ns = 0;
  uint64_t tail_bytes = 0;  // 0: there is none
  SectionKind tail_kind{};
  uint32_t reserved = 0;
};

struct SectionHeader {
  SectionKind kind{};
  uint32_t reserved = 0;
  uint64_t bytes = 0;  // of the payload, without padding
};

inline constexpr uint32_t kNoPosition = 0xFFFFFFFF;

// One operation failed; the others may have answered.
struct ErrorRecord {
  uint32_t operation = 0;  // one bit of Operation
  uint32_t reason = 0;     // pgparsed::Reason
  uint32_t position = kNoPosition;
  uint32_t line = 0;
  uint32_t column = 0;
  uint32_t source_line = 0;
  uint32_t is_sql_error = 0;  // whether the message is PostgreSQL's
  uint32_t message_bytes = 0;
  uint32_t function_bytes = 0;
  uint32_t file_bytes = 0;
  uint32_t context_bytes = 0;
  uint32_t padding = 0;
  uint64_t needed_bytes = 0;  // for kResultTooLarge: what the answer would have taken, if known
};

// The error of one item. ErrorRecord::operation is 0 when all operations failed by it.
struct ItemErrorRecord {
  uint32_t item = 0;   // index in the job
  uint32_t bytes = 0;  // of the payload that follows
};

// Bits of DescriptionRecord::features.
enum Feature : uint32_t {
  kFeatureParserOptions = 1u << 0,
  kFeatureFingerprintOptions = 1u << 1,
  kFeaturePrettyPrint = 1u << 2,
  kFeatureComments = 1u << 3,
  kFeatureNormalizeUtility = 1u << 4,
  kFeatureSummary = 1u << 5,
  kFeatureDirectConversion = 1u << 6,
  kFeatureColumnar = 1u << 7,
  kFeatureDeparseJson = 1u << 8,
  kFeatureVerify = 1u << 9,
};

// What a worker says of itself. Strings: library version, PostgreSQL version, allocator.
struct DescriptionRecord {
  uint32_t major = 0;
  uint32_t postgres_version_num = 0;
  uint32_t features = 0;
  uint32_t library_version_bytes = 0;
  uint32_t postgres_version_bytes = 0;
  uint32_t allocator_bytes = 0;
};

static_assert(std::is_trivially_copyable_v<JobHeader> && sizeof(JobHeader) == 80);
static_assert(std::is_trivially_copyable_v<AnswerHeader> && sizeof(AnswerHeader) == 48);
static_assert(std::is_trivially_copyable_v<SectionHeader> && sizeof(SectionHeader) == 16);
static_assert(std::is_trivially_copyable_v<ErrorRecord> && sizeof(ErrorRecord) == 56);

}  // namespace pgparsed::channel
