// Answers of workers to answers of the contract.
//
// Large results (trees, SQL) are not copied into protobuf messages: an Encoded answer holds a
// message with everything else and, for each large field, a view of its payload in the channel. A
// door writes the message, then each raw field behind it; protobuf allows fields in any order. The
// lease keeps the payloads alive.
//
// What a worker sent is untrusted: sizes and counts are checked here. The content of trees and
// texts is passed on as it is, like any answer of the parser.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "channel/sections.h"
#include "pgparsed/v1/grammar.pb.h"
#include "pgparsed/v1/parser.pb.h"

namespace pgparsed::service {

// A length-delimited field of a message whose payload is not copied into the message.
struct RawField {
  int number = 0;
  std::string_view payload;
};

template <typename Response>
struct Encoded {
  Response message;
  std::vector<RawField> raw;
  std::shared_ptr<void> lease;
};

// The first error section as a status; OK if there is none. INTERNAL if it is malformed.
absl::Status FirstError(const channel::Answer& answer);

// Sections into the columns of the contract. An error is kInternal: the worker sent nonsense.
absl::Status AddTokenSection(const channel::Section& section, v1::TokenColumns& tokens);
absl::Status AddPieceSection(const channel::Section& section, v1::PieceColumns& pieces);
absl::Status AddComments(const channel::Section& section,
                         google::protobuf::RepeatedPtrField<v1::Comment>& comments);
absl::Status AddWarnings(const channel::Section& section,
                         google::protobuf::RepeatedPtrField<std::string>& warnings);
absl::Status AddError(const channel::Section& section, v1::OperationError& error);

absl::Status FillAnswer(const channel::Answer& answer, v1::GetGrammarSchemaResponse& response,
                        std::vector<RawField>& raw);

// A worker's answer broke a rule of message.h.
absl::Status MalformedAnswer();

// Which field of a response a section goes to, as a raw field; 0 if it has none.
template <typename Response>
struct RawFieldOf;

template <>
struct RawFieldOf<v1::ParseResponse> {
  static constexpr int Number(channel::SectionKind kind) {
    switch (kind) {
      case channel::SectionKind::kTreeJson:
        return v1::ParseResponse::kJsonFieldNumber;
      case channel::SectionKind::kTreeProtobuf:
        return v1::ParseResponse::kProtobufFieldNumber;
      case channel::SectionKind::kTreeColumnar:
        return v1::ParseResponse::kColumnarFieldNumber;
      default:
        return 0;
    }
  }
};

// A response with one raw field.
template <channel::SectionKind kKind, int kNumber>
struct OneRawField {
  static constexpr int Number(channel::SectionKind kind) { return kind == kKind ? kNumber : 0; }
};

template <>
struct RawFieldOf<v1::ParsePlpgsqlResponse>
    : OneRawField<channel::SectionKind::kPlpgsqlJson, v1::ParsePlpgsqlResponse::kJsonFieldNumber> {
};
template <>
struct RawFieldOf<v1::NormalizeResponse>
    : OneRawField<channel::SectionKind::kNormalized, v1::NormalizeResponse::kQueryFieldNumber> {};
template <>
struct RawFieldOf<v1::DeparseResponse>
    : OneRawField<channel::SectionKind::kDeparsed, v1::DeparseResponse::kQueryFieldNumber> {};
template <>
struct RawFieldOf<v1::FormatResponse>
    : OneRawField<channel::SectionKind::kFormatted, v1::FormatResponse::kQueryFieldNumber> {};
template <>
struct RawFieldOf<v1::SummarizeResponse>
    : OneRawField<channel::SectionKind::kSummary, v1::SummarizeResponse::kSummaryFieldNumber> {};
template <>
struct RawFieldOf<v1::FingerprintResponse> : OneRawField<channel::SectionKind{}, 0> {};
template <>
struct RawFieldOf<v1::ScanResponse> : OneRawField<channel::SectionKind{}, 0> {};
template <>
struct RawFieldOf<v1::SplitResponse> : OneRawField<channel::SectionKind{}, 0> {};
template <>
struct RawFieldOf<v1::ExtractCommentsResponse> : OneRawField<channel::SectionKind{}, 0> {};

template <>
struct RawFieldOf<v1::AnalyzeResponse> {
  static constexpr int Number(channel::SectionKind kind) {
    switch (kind) {
      case channel::SectionKind::kTreeJson:
        return v1::AnalyzeResponse::kJsonFieldNumber;
      case channel::SectionKind::kTreeProtobuf:
        return v1::AnalyzeResponse::kProtobufFieldNumber;
      case channel::SectionKind::kTreeColumnar:
        return v1::AnalyzeResponse::kColumnarFieldNumber;
      case channel::SectionKind::kPlpgsqlJson:
        return v1::AnalyzeResponse::kPlpgsqlJsonFieldNumber;
      case channel::SectionKind::kNormalized:
        return v1::AnalyzeResponse::kNormalizedQueryFieldNumber;
      case channel::SectionKind::kFormatted:
        return v1::AnalyzeResponse::kFormattedQueryFieldNumber;
      case channel::SectionKind::kSummary:
        return v1::AnalyzeResponse::kSummaryFieldNumber;
      default:
        return 0;
    }
  }
};

// Fills in what the sections hold. A response without a list of errors fails with the first one.
template <typename Response>
absl::Status FillAnswer(const channel::Answer& answer, Response& response,
                        std::vector<RawField>& raw) {
  using channel::SectionKind;
  constexpr bool kListsErrors = requires { response.add_errors(); };
  if constexpr (!kListsErrors) {
    if (absl::Status status = FirstError(answer); !status.ok()) return status;
  }
  for (const channel::Section& section : answer.sections) {
    absl::Status status;
    if (const int number = RawFieldOf<Response>::Number(section.kind); number != 0) {
      raw.push_back({number, section.payload});
    } else if (section.kind == SectionKind::kError) {
      if constexpr (kListsErrors) status = AddError(section, *response.add_errors());
    } else if (section.kind == SectionKind::kFingerprint) {
      if constexpr (requires { response.set_fingerprint(0); }) {
        uint64_t value = 0;
        if (section.payload.size() != sizeof(value)) return MalformedAnswer();
        std::memcpy(&value, section.payload.data(), sizeof(value));
        response.set_fingerprint(value);
      }
    } else if (section.kind == SectionKind::kWarnings) {
      if constexpr (requires { response.mutable_warnings(); }) {
        status = AddWarnings(section, *response.mutable_warnings());
      }
    } else if (section.kind == SectionKind::kComments) {
      if constexpr (requires { response.mutable_comments(); }) {
        status = AddComments(section, *response.mutable_comments());
      }
    } else if (section.kind >= SectionKind::kTokenStart &&
               section.kind <= SectionKind::kTokenNames) {
      if constexpr (requires { response.mutable_tokens(); }) {
        status = AddTokenSection(section, *response.mutable_tokens());
      }
    } else if (section.kind >= SectionKind::kPieceStart &&
               section.kind <= SectionKind::kPieceIncomplete) {
      if constexpr (requires { response.mutable_pieces(); }) {
        status = AddPieceSection(section, *response.mutable_pieces());
      }
    } else {
      status = MalformedAnswer();
    }
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace pgparsed::service
