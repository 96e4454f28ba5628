#include "service/backend.h"

#include "channel/message.h"

namespace pgparsed::service {

uint32_t Backend::PostgresVersionNum(uint32_t grammar) const {
  for (const pool::GrammarStatus& status : grammars_) {
    if (status.major == grammar) return status.postgres_version_num;
  }
  return 0;
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
