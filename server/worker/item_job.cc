#include "worker/item_job.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>
#include <vector>

#include "channel/sections.h"
#include "grammar/wire.h"
#include "pgparsed/errors.h"
#include "worker/operations.h"

namespace pgparsed::worker {
namespace {

using channel::JobHeader;
using channel::Section;
using channel::SectionKind;
using grammar::WireWriter;

// What is kept free for errors, beside the results: messages name tokens of the texts, and a job of
// several items has 32 KiB of text.
uint64_t RoomForErrors(uint64_t region) { return std::min<uint64_t>(6u << 20, region / 2); }

uint64_t PadTo8(uint64_t bytes) { return (bytes + 7) & ~uint64_t{7}; }

template <typename T>
std::string_view BytesOf(const T& record) {
  return {reinterpret_cast<const char*>(&record), sizeof(record)};
}

// A column of the answer: the operation that fills it, the section that it becomes, and its field
// in pgparsed.v1.ResultColumns.
struct ColumnKind {
  channel::Operation operation;
  SectionKind section;
  uint32_t field;
};

constexpr std::array<ColumnKind, 8> kColumnKinds = {{
    {channel::kOpParse, SectionKind::kItemTrees, 1},
    {channel::kOpParsePlpgsql, SectionKind::kItemPlpgsql, 2},
    {channel::kOpNormalize, SectionKind::kItemNormalized, 4},
    {channel::kOpScan, SectionKind::kItemTokens, 5},
    {channel::kOpSplit, SectionKind::kItemPieces, 6},
    {channel::kOpFormat, SectionKind::kItemFormatted, 7},
    {channel::kOpExtractComments, SectionKind::kItemComments, 8},
    {channel::kOpSummarize, SectionKind::kItemSummaries, 9},
}};

// A section of u32 values as a packed field of varints.
void AddPacked(WireWriter& message, uint32_t field, std::string_view column) {
  std::string packed;
  for (size_t at = 0; at + sizeof(uint32_t) <= column.size(); at += sizeof(uint32_t)) {
    uint32_t value = 0;
    std::memcpy(&value, column.data() + at, sizeof(value));
    for (; value >= 0x80; value >>= 7) packed += static_cast<char>(value | 0x80);
    packed += static_cast<char>(value);
  }
  message.Bytes(field, packed);
}

// Names, each ended by a NUL byte, as a repeated field.
void AddNames(WireWriter& message, uint32_t field, std::string_view names) {
  for (size_t begin = 0; begin < names.size();) {
    const size_t end = names.find('\0', begin);
    message.Element(field, names.substr(begin, end - begin));
    begin = end + 1;
  }
}

// pgparsed.v1.CommentList.
std::string CommentList(std::string_view records) {
  WireWriter list;
  while (records.size() >= sizeof(channel::CommentRecord)) {
    channel::CommentRecord record;
    std::memcpy(&record, records.data(), sizeof(record));
    records.remove_prefix(sizeof(record));
    WireWriter comment;
    // Negative numbers are ten bytes long: int32 is sign-extended.
    comment.Number(1, static_cast<uint64_t>(int64_t{record.match_location}));
    comment.Number(2, record.newlines_before);
    comment.Number(3, record.newlines_after);
    comment.Bytes(4, records.substr(0, record.text_bytes));
    records.remove_prefix(std::min<uint64_t>(PadTo8(record.text_bytes), records.size()));
    list.Element(1, comment.message());
  }
  return list.message();
}

class ItemRun {
 public:
  ItemRun(const JobHeader& header, std::string_view texts, std::string_view lengths,
          std::span<std::byte> answer)
      : header_(header),
        texts_(texts),
        lengths_(lengths),
        answer_(answer),
        room_(answer.size() - RoomForErrors(answer.size())),
        item_limit_(header.max_answer_bytes > 0 ? header.max_answer_bytes : room_) {
    for (const ColumnKind& kind : kColumnKinds) {
      if (header.operations & kind.operation) columns_.push_back({kind, {}});
    }
  }

  uint64_t Run() {
    size_t at = 0;
    for (uint32_t item = 0; item < header_.item_count; ++item) {
      uint32_t length = 0;
      std::memcpy(&length, lengths_.data() + item * sizeof(length), sizeof(length));
      RunItem(item, texts_.substr(at, length));
      at += length + 1;
    }
    return Finish();
  }

 private:
  struct Column {
    ColumnKind kind;
    WireWriter elements;
  };

  void RunItem(uint32_t item, std::string_view text) {
    JobHeader header = header_;
    header.item_count = 0;
    const uint64_t used = std::min(UsedBytes(), room_);
    // 0 would be no limit.
    header.max_answer_bytes = std::clamp<uint64_t>(room_ - used, 1, item_limit_);
    const uint64_t bytes = AnswerJob(header, text, {}, answer_);
    const auto answer = channel::ReadAnswer({.region = answer_, .bytes = bytes});
    parse_ns_ += answer->header.parse_ns;
    convert_ns_ += answer->header.convert_ns;
    AddErrors(item, *answer);
    uint64_t fingerprint = 0;
    for (const Section& section : answer->sections) {
      if (section.kind == SectionKind::kFingerprint) {
        std::memcpy(&fingerprint, section.payload.data(), sizeof(fingerprint));
      }
    }
    if (header_.operations & channel::kOpFingerprint) fingerprints_.push_back(fingerprint);
    for (Column& column : columns_) AddElement(column, *answer);
  }

  uint64_t UsedBytes() const {
    uint64_t used = fingerprints_.size() * sizeof(uint64_t);
    for (const Column& column : columns_) used += column.elements.message().size();
    return used;
  }

  static void AddElement(Column& column, const channel::Answer& answer) {
    const uint32_t field = column.kind.field;
    switch (column.kind.operation) {
      case channel::kOpScan:
        return column.elements.Element(field, Tokens(answer));
      case channel::kOpSplit:
        return column.elements.Element(field, Pieces(answer));
      default:
        break;
    }
    for (const Section& section : answer.sections) {
      switch (section.kind) {
        case SectionKind::kTreeJson:
        case SectionKind::kTreeProtobuf:
        case SectionKind::kTreeColumnar:
          if (column.kind.operation != channel::kOpParse) continue;
          return column.elements.Element(field, section.payload);
        case SectionKind::kPlpgsqlJson:
          if (column.kind.operation != channel::kOpParsePlpgsql) continue;
          return column.elements.Element(field, section.payload);
        case SectionKind::kNormalized:
          if (column.kind.operation != channel::kOpNormalize) continue;
          return column.elements.Element(field, section.payload);
        case SectionKind::kFormatted:
          if (column.kind.operation != channel::kOpFormat) continue;
          return column.elements.Element(field, section.payload);
        case SectionKind::kComments:
          if (column.kind.operation != channel::kOpExtractComments) continue;
          return column.elements.Element(field, CommentList(section.payload));
        case SectionKind::kSummary:
          if (column.kind.operation != channel::kOpSummarize) continue;
          return column.elements.Element(field, section.payload);
        default:
          break;
      }
    }
    column.elements.Element(field, {});
  }

  // pgparsed.v1.TokenColumns.
  static std::string Tokens(const channel::Answer& answer) {
    WireWriter tokens;
    for (const Section& section : answer.sections) {
      if (section.kind == SectionKind::kTokenNames) {
        AddNames(tokens, 6, section.payload);
      } else if (section.kind >= SectionKind::kTokenStart &&
                 section.kind <= SectionKind::kTokenKeyword) {
        const auto column =
            static_cast<uint32_t>(section.kind) - static_cast<uint32_t>(SectionKind::kTokenStart);
        AddPacked(tokens, 1 + column, section.payload);
      }
    }
    return tokens.message();
  }

  // pgparsed.v1.PieceColumns.
  static std::string Pieces(const channel::Answer& answer) {
    WireWriter pieces;
    for (const Section& section : answer.sections) {
      if (section.kind == SectionKind::kPieceIncomplete) {
        pieces.Number(5, 1);
      } else if (section.kind >= SectionKind::kPieceStart &&
                 section.kind <= SectionKind::kPieceKind) {
        const auto column =
            static_cast<uint32_t>(section.kind) - static_cast<uint32_t>(SectionKind::kPieceStart);
        AddPacked(pieces, 1 + column, section.payload);
      }
    }
    return pieces.message();
  }

  // Several operations that fail by the same error make one.
  void AddErrors(uint32_t item, const channel::Answer& answer) {
    std::vector<std::string> errors;
    for (const Section& section : answer.sections) {
      if (section.kind == SectionKind::kError) errors.emplace_back(section.payload);
    }
    if (errors.empty()) return;
    const auto without_operation = [](const std::string& error) {
      return std::string_view(error).substr(sizeof(channel::ErrorRecord::operation));
    };
    const bool all = errors.size() == static_cast<size_t>(std::popcount(header_.operations)) &&
                     std::all_of(errors.begin(), errors.end(), [&](const std::string& error) {
                       return without_operation(error) == without_operation(errors.front());
                     });
    if (all) {
      errors.resize(1);
      std::memset(errors.front().data(), 0, sizeof(channel::ErrorRecord::operation));
    }
    for (const std::string& error : errors) {
      const channel::ItemErrorRecord record{.item = item,
                                            .bytes = static_cast<uint32_t>(error.size())};
      errors_ += BytesOf(record);
      errors_ += error;
      errors_.append(PadTo8(error.size()) - error.size(), '\0');
    }
  }

  uint64_t Finish() {
    channel::AnswerWriter writer(answer_, answer_.size());
    if (header_.operations & channel::kOpFingerprint) {
      writer.Add(SectionKind::kItemFingerprints,
                 {reinterpret_cast<const char*>(fingerprints_.data()),
                  fingerprints_.size() * sizeof(uint64_t)});
    }
    for (const Column& column : columns_) {
      writer.Add(column.kind.section, column.elements.message());
    }
    if (!errors_.empty()) writer.Add(SectionKind::kItemErrors, errors_);
    return writer.Finish(parse_ns_, convert_ns_);
  }

  const JobHeader& header_;
  const std::string_view texts_;
  const std::string_view lengths_;
  const std::span<std::byte> answer_;
  const uint64_t room_;        // for the results of all items
  const uint64_t item_limit_;  // of the results of one
  std::vector<Column> columns_;
  std::vector<uint64_t> fingerprints_;
  std::string errors_;
  uint64_t parse_ns_ = 0;
  uint64_t convert_ns_ = 0;
};

}  // namespace

uint64_t AnswerItems(const JobHeader& header, std::string_view texts, std::string_view lengths,
                     std::span<std::byte> answer) {
  return ItemRun(header, texts, lengths, answer).Run();
}

}  // namespace pgparsed::worker
