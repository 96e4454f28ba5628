#include "service/item_results.h"

#include <array>
#include <bit>
#include <cstring>
#include <string_view>
#include <utility>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include "channel/message.h"
#include "pgparsed/errors.h"
#include "pgparsed/v1/streams.pb.h"
#include "service/answers.h"
#include "service/rpc_status.h"

namespace pgparsed::service {
namespace {

using channel::Section;
using channel::SectionKind;
using google::protobuf::internal::WireFormatLite;

// A column: the operation that fills it and where it goes.
struct ColumnKind {
  channel::Operation operation;
  SectionKind section;
  int field;
};

constexpr std::array<ColumnKind, 8> kColumnKinds = {{
    {channel::kOpParse, SectionKind::kItemTrees, v1::ResultColumns::kTreesFieldNumber},
    {channel::kOpParsePlpgsql, SectionKind::kItemPlpgsql,
     v1::ResultColumns::kPlpgsqlJsonFieldNumber},
    {channel::kOpNormalize, SectionKind::kItemNormalized,
     v1::ResultColumns::kNormalizedFieldNumber},
    {channel::kOpScan, SectionKind::kItemTokens, v1::ResultColumns::kTokensFieldNumber},
    {channel::kOpSplit, SectionKind::kItemPieces, v1::ResultColumns::kPiecesFieldNumber},
    {channel::kOpFormat, SectionKind::kItemFormatted, v1::ResultColumns::kFormattedFieldNumber},
    {channel::kOpExtractComments, SectionKind::kItemComments,
     v1::ResultColumns::kCommentsFieldNumber},
    {channel::kOpSummarize, SectionKind::kItemSummaries, v1::ResultColumns::kSummariesFieldNumber},
}};

// All field numbers are below 16: a tag is one byte.
constexpr char Tag(int field) {
  return static_cast<char>(field << 3 | WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
}

void AppendVarint(uint64_t value, std::string& out) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

// Whether `bytes` are `count` elements of a field, and nothing else.
bool HasElements(std::string_view bytes, int field, uint32_t count) {
  for (; count > 0; --count) {
    if (bytes.empty() || bytes.front() != Tag(field)) return false;
    bytes.remove_prefix(1);
    uint64_t length = 0;
    size_t used = 0;
    for (bool more = true; more; ++used) {
      if (used >= bytes.size() || used >= 5) return false;
      const auto byte = static_cast<unsigned char>(bytes[used]);
      length |= uint64_t{byte & 0x7Fu} << (7 * used);
      more = (byte & 0x80) != 0;
    }
    if (length > bytes.size() - used) return false;
    bytes.remove_prefix(used + length);
  }
  return bytes.empty();
}

void AppendFingerprints(std::string_view values, std::string& columns) {
  static_assert(std::endian::native == std::endian::little);
  columns += Tag(v1::ResultColumns::kFingerprintsFieldNumber);
  AppendVarint(values.size(), columns);
  columns += values;
}

void AppendError(const v1::ItemError& error, std::string& columns) {
  columns += Tag(v1::ResultColumns::kErrorsFieldNumber);
  AppendVarint(error.ByteSizeLong(), columns);
  error.AppendToString(&columns);
}

absl::Status AppendErrors(const Section& section, uint32_t count, uint32_t first_item,
                          std::string& columns) {
  const std::string copy(section.payload);
  std::string_view rest(copy);
  uint32_t least_item = 0;
  while (!rest.empty()) {
    channel::ItemErrorRecord record;
    if (rest.size() < sizeof(record)) return MalformedAnswer();
    std::memcpy(&record, rest.data(), sizeof(record));
    rest.remove_prefix(sizeof(record));
    const uint64_t padded = (uint64_t{record.bytes} + 7) & ~uint64_t{7};
    if (record.item < least_item || record.item >= count || padded > rest.size()) {
      return MalformedAnswer();
    }
    least_item = record.item;
    v1::ItemError error;
    error.set_item(first_item + record.item);
    const Section one{.kind = SectionKind::kError, .payload = rest.substr(0, record.bytes)};
    if (absl::Status status = AddError(one, *error.mutable_error()); !status.ok()) return status;
    AppendError(error, columns);
    rest.remove_prefix(padded);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status AppendResults(const channel::Answer& answer, uint32_t operations, uint32_t count,
                           uint32_t first_item, std::string& columns) {
  const size_t before = columns.size();
  uint32_t found = 0;  // the operations whose columns there are
  bool has_errors = false;
  absl::Status status;
  for (const Section& section : answer.sections) {
    if (section.kind == SectionKind::kItemErrors) {
      status = std::exchange(has_errors, true)
                   ? MalformedAnswer()
                   : AppendErrors(section, count, first_item, columns);
    } else if (section.kind == SectionKind::kItemFingerprints) {
      if (section.payload.size() != count * sizeof(uint64_t) ||
          (found & channel::kOpFingerprint) != 0) {
        status = MalformedAnswer();
      }
      found |= channel::kOpFingerprint;
      AppendFingerprints(section.payload, columns);
    } else {
      const size_t begin = columns.size();
      columns += section.payload;
      status = MalformedAnswer();
      for (const ColumnKind& kind : kColumnKinds) {
        if (kind.section != section.kind || (found & kind.operation) != 0) continue;
        if (HasElements(std::string_view(columns).substr(begin), kind.field, count)) {
          status = absl::OkStatus();
        }
        found |= kind.operation;
      }
    }
    if (!status.ok()) break;
  }
  if (status.ok() && found != (operations & ~static_cast<uint32_t>(channel::kOpCheck))) {
    status = MalformedAnswer();
  }
  if (!status.ok()) columns.resize(before);
  return status;
}

void AppendFailedItem(uint32_t operations, uint32_t item, const absl::Status& error,
                      std::string& columns) {
  if (operations & channel::kOpFingerprint) {
    AppendFingerprints(std::string_view("\0\0\0\0\0\0\0\0", 8), columns);
  }
  for (const ColumnKind& kind : kColumnKinds) {
    if (!(operations & kind.operation)) continue;
    columns += Tag(kind.field);
    columns += '\0';
  }
  v1::ItemError item_error;
  item_error.set_item(item);
  v1::OperationError* what = item_error.mutable_error();
  what->set_reason(std::string(ReasonName(ReasonOf(error))));
  what->set_message(std::string(error.message()));
  AppendError(item_error, columns);
}

}  // namespace pgparsed::service
