#include "service/backend.h"

#include <algorithm>

#include "channel/message.h"

namespace pgparsed::service {

uint32_t Backend::PostgresVersionNum(uint32_t grammar) const {
  for (const pool::GrammarStatus& status : grammars_) {
    if (status.major == grammar) return status.postgres_version_num;
  }
  return 0;
}

std::shared_ptr<pool::JobHandle> Backend::CallInPieces(
    v1::ParseChunkedRequest request, absl::Time deadline, pool::PieceTaker on_piece,
    std::function<void(absl::StatusOr<pool::JobAnswer>)> done) {
  pool::Job job;
  const absl::StatusOr<uint32_t> grammar = Grammar(request.grammar());
  absl::Status status = grammar.ok() ? FillJob(request, limits_, job) : grammar.status();
  if (!status.ok()) {
    done(std::move(status));
    return nullptr;
  }
  job.grammar = *grammar;
  // One large answer is what a unary call would be: it does not wait behind batches.
  job.lane = pool::Lane::kUnary;
  job.deadline = deadline;
  job.on_piece = std::move(on_piece);
  job.done = [counters = conversions_, grammar = *grammar, header = job.header,
              done = std::move(done)](absl::StatusOr<pool::JobAnswer> answer) {
    if (answer.ok()) {
      counters->Add(grammar, header, answer->answer.header, 1);
      if (absl::Status error = FirstError(answer->answer); !error.ok()) return done(error);
    }
    done(std::move(answer));
  };
  return pool_.Submit(std::move(job));
}

absl::StatusOr<Backend::OpenStream> Backend::Open(const v1::StreamOptions& options,
                                                  absl::Time deadline) {
  OpenStream stream;
  const absl::StatusOr<uint32_t> grammar = Grammar(options.grammar());
  if (!grammar.ok()) return grammar.status();
  ItemStream::Options items;
  if (absl::Status status = FillStreamHeader(options, limits_, items.header); !status.ok()) {
    return status;
  }
  items.grammar = *grammar;
  items.conversions = conversions_;
  items.deadline = deadline;
  items.max_query_bytes = limits_.max_query_bytes;
  const uint32_t workers = std::max(pool_.Workers(), 1u);
  items.jobs_in_flight = 4 * workers;
  stream.grammar = *grammar;
  stream.postgres_version_num = PostgresVersionNum(*grammar);
  stream.operations = items.header.operations;
  stream.want_timing = options.want_timing();
  stream.parser_options =
      std::any_of(grammars_.begin(), grammars_.end(), [&](const pool::GrammarStatus& status) {
        return status.major == *grammar && (status.features & channel::kFeatureParserOptions) != 0;
      });
  stream.chunks_in_flight =
      limits_.max_chunks_in_flight != 0 ? limits_.max_chunks_in_flight : 2 * workers;
  stream.items = std::make_shared<ItemStream>(pool_, std::move(items));
  return stream;
}

v1::ListGrammarsResponse Backend::ListGrammars() const {
  v1::ListGrammarsResponse response;
  for (const pool::GrammarStatus& status : pool_.Grammars()) {
    v1::Grammar* grammar = response.add_grammars();
    grammar->set_major(status.major);
    grammar->set_library_version(status.library_version);
    grammar->set_postgres_version(status.postgres_version);
    grammar->set_postgres_version_num(status.postgres_version_num);
    grammar->set_allocator(status.allocator);
    grammar->set_is_default(status.is_default);
    grammar->set_workers(status.workers);
    v1::GrammarFeatures* features = grammar->mutable_features();
    const auto has = [&](channel::Feature feature) { return (status.features & feature) != 0; };
    features->set_parser_options(has(channel::kFeatureParserOptions));
    features->set_fingerprint_options(has(channel::kFeatureFingerprintOptions));
    features->set_pretty_print(has(channel::kFeaturePrettyPrint));
    features->set_comments(has(channel::kFeatureComments));
    features->set_normalize_utility(has(channel::kFeatureNormalizeUtility));
    features->set_summary(has(channel::kFeatureSummary));
  }
  v1::Limits* limits = response.mutable_limits();
  limits->set_max_query_bytes(limits_.max_query_bytes);
  limits->set_max_unary_result_bytes(limits_.max_unary_result_bytes);
  limits->set_max_chunk_bytes(limits_.max_chunk_bytes);
  limits->set_max_job_ms(limits_.max_job_ms);
  limits->set_max_batch_queries(limits_.max_batch_queries);
  limits->set_max_batch_bytes(limits_.max_batch_bytes);
  response.set_server_version(PGPARSED_VERSION);
  return response;
}

}  // namespace pgparsed::service
