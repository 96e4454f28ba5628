// Requests of the contract to jobs of the pool: total functions, one for each method. They check
// what can be checked without a parser (text, sizes, enums); what depends on the grammar is
// checked by its worker.
//
// The functions move the text out of the request. Errors carry a Reason (pgparsed/errors.h).
// Thread-safety: pure.
#pragma once

#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "pgparsed/v1/grammar.pb.h"
#include "pgparsed/v1/parser.pb.h"
#include "pool/job.h"
#include "pool/pool.h"
#include "service/limits.h"

namespace pgparsed::service {

// The major version that answers a request for `requested` (0: the default, which is the first of
// `grammars`), or kUnsupportedGrammar with metadata that lists what there is.
absl::StatusOr<uint32_t> ChooseGrammar(uint32_t requested,
                                       std::span<const pool::GrammarStatus> grammars);

// Checks a query: kInvalidQueryText, kQueryTooLarge.
absl::Status CheckQuery(std::string_view query, const Limits& limits);

// Fill in the job's header and text. grammar, deadline, lane and done are the caller's.
absl::Status FillJob(v1::ParseRequest& request, const Limits& limits, pool::Job& job);
absl::Status FillJob(v1::ParsePlpgsqlRequest& request, const Limits& limits, pool::Job& job);
absl::Status FillJob(v1::FingerprintRequest& request, const Limits& limits, pool::Job& job);
absl::Status FillJob(v1::NormalizeRequest& request, const Limits& limits, pool::Job& job);
absl::Status FillJob(v1::ScanRequest& request, const Limits& limits, pool::Job& job);
absl::Status FillJob(v1::SplitRequest& request, const Limits& limits, pool::Job& job);
absl::Status FillJob(v1::DeparseRequest& request, const Limits& limits, pool::Job& job);
absl::Status FillJob(v1::FormatRequest& request, const Limits& limits, pool::Job& job);
absl::Status FillJob(v1::ExtractCommentsRequest& request, const Limits& limits, pool::Job& job);
absl::Status FillJob(v1::SummarizeRequest& request, const Limits& limits, pool::Job& job);
absl::Status FillJob(v1::AnalyzeRequest& request, const Limits& limits, pool::Job& job);
absl::Status FillJob(v1::ParseChunkedRequest& request, const Limits& limits, pool::Job& job);
absl::Status FillJob(v1::GetGrammarSchemaRequest& request, const Limits& limits, pool::Job& job);

// The header of the jobs that run the items of a stream; it may name no operation.
absl::Status FillStreamHeader(const v1::StreamOptions& options, const Limits& limits,
                              channel::JobHeader& header);

}  // namespace pgparsed::service
