#include <algorithm>
#include <atomic>
#include <future>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "bench/service/calls.h"
#include "bench/service/figures.h"
#include "bench/service/tree_decoder.h"

namespace pgparsed::bench {
namespace {

v1::StreamOptions StreamOptionsOf(v1::Operation operation, uint32_t grammar = 0,
                                  v1::TreeFormat format = v1::TREE_FORMAT_PROTOBUF) {
  v1::StreamOptions options;
  options.set_grammar(grammar);
  options.add_operations(operation);
  options.set_format(format);
  return options;
}

absl::StatusOr<StreamResult> MeasureBatch(const Endpoint& endpoint,
                                          const v1::StreamOptions& options,
                                          const std::string& query, Seconds duration,
                                          const AnswerTaker& take = nullptr) {
  return MeasureBatch(endpoint.target, *endpoint.client, options, query, duration, take);
}

// Batch by one worker against the library in-process.
absl::Status AgainstInProcess(Lab& lab, Book& book, Service& one_worker, InProcess& in_process) {
  struct Comparison {
    const char* variant;  // in-process
    const char* what;     // by Batch
    v1::Operation operation;
    const char* title;
    double bar;
  };
  constexpr Comparison kComparisons[] = {
      {"library_fingerprint", "batch fingerprint, 1 worker", v1::OPERATION_FINGERPRINT,
       "Batch fingerprint by a worker over pg_query_fingerprint in-process", 0.9},
      {"library_protobuf", "batch parse protobuf, 1 worker", v1::OPERATION_PARSE,
       "Batch Parse protobuf by a worker over pg_query_parse_protobuf", 2.5},
  };
  const std::string& query = *lab.Text("select_384");
  for (const Comparison& comparison : kComparisons) {
    const auto alone = in_process.Run(comparison.variant, query, lab.seconds());
    if (!alone.ok()) return alone.status();
    Add(book, {lab.grammar_name(), "select_384", absl::StrCat("in-process ", comparison.variant)},
        *alone);
    const auto batch = MeasureBatch(one_worker.unix_socket, StreamOptionsOf(comparison.operation),
                                    query, lab.seconds() * 2);
    if (!batch.ok()) return batch.status();
    const Subject subject{lab.grammar_name(), "select_384", comparison.what};
    Add(book, subject, *batch);
    book.AddJudged({comparison.title, subject.Value("over_in_process", "ratio"),
                    Bar::Kind::kAtLeast, comparison.bar},
                   batch->per_second() / alone->per_second());
  }
  return absl::OkStatus();
}

absl::Status AgainstUnary(Lab& lab, Book& book, Service& service) {
  const std::string& query = *lab.Text("select_1");
  double best = 0;
  for (const int in_flight : {16, 64}) {
    const auto unary =
        MeasureClosed(service.unix_socket.target,
                      FingerprintCall(*service.unix_socket.client, FingerprintRequestOf(query)),
                      in_flight, lab.seconds());
    if (!unary.ok()) return unary.status();
    Add(book, {lab.grammar_name(), "select_1", absl::StrCat("fingerprint, ", in_flight)}, *unary);
    best = std::max(best, unary->load.per_second());
  }
  const auto batch = MeasureBatch(service.unix_socket, StreamOptionsOf(v1::OPERATION_FINGERPRINT),
                                  query, lab.seconds() * 2);
  if (!batch.ok()) return batch.status();
  const Subject subject{lab.grammar_name(), "select_1", "batch fingerprint"};
  Add(book, subject, *batch);
  book.AddJudged({"Batch over unary, fingerprints of SELECT 1",
                  subject.Value("over_unary", "ratio"), Bar::Kind::kAtLeast, 20},
                 batch->per_second() / best);
  return absl::OkStatus();
}

absl::Status WithAllWorkers(Lab& lab, Book& book, Service& service) {
  struct Kind {
    const char* what;
    v1::Operation operation;
    v1::TreeFormat format;
  };
  constexpr Kind kKinds[] = {
      {"batch fingerprint", v1::OPERATION_FINGERPRINT, v1::TREE_FORMAT_UNSPECIFIED},
      {"batch normalize", v1::OPERATION_NORMALIZE, v1::TREE_FORMAT_UNSPECIFIED},
      {"batch parse protobuf", v1::OPERATION_PARSE, v1::TREE_FORMAT_PROTOBUF},
      {"batch parse json", v1::OPERATION_PARSE, v1::TREE_FORMAT_JSON},
      {"batch parse columnar", v1::OPERATION_PARSE, v1::TREE_FORMAT_COLUMNAR},
  };
  for (const Kind& kind : kKinds) {
    const auto batch =
        MeasureBatch(service.unix_socket, StreamOptionsOf(kind.operation, 0, kind.format),
                     *lab.Text("select_384"), lab.seconds());
    if (!batch.ok()) return batch.status();
    Add(book, {lab.grammar_name(), "select_384", kind.what}, *batch);
  }
  return absl::OkStatus();
}

// A batch that goes on until it is stopped.
class EndlessBatch {
 public:
  explicit EndlessBatch(const Endpoint& endpoint, const std::string& query)
      : ended_(std::async(std::launch::async, [this, &endpoint, &query] {
          return endpoint.client->Batch(
              StreamOptionsOf(v1::OPERATION_FINGERPRINT),
              [&](v1::BatchRequest::Chunk& chunk) -> absl::StatusOr<bool> {
                for (size_t i = 0; i < kBatchChunkQueries; ++i) chunk.add_queries(query);
                return !stop_;
              },
              [this](const v1::BatchResponse& answer) {
                queries_ += answer.count();
                return absl::OkStatus();
              });
        })) {}

  // The status of the stream.
  absl::Status Stop() {
    stop_ = true;
    return ended_.get();
  }

  uint64_t queries() const { return queries_; }

 private:
  std::atomic<bool> stop_ = false;
  std::atomic<uint64_t> queries_ = 0;
  std::future<absl::Status> ended_;
};

}  // namespace

absl::Status MakeBatch(Lab& lab, Book& book) {
  const auto one_worker = lab.WithWorkers(1);
  if (!one_worker.ok()) return one_worker.status();
  const auto service = lab.TheService();
  if (!service.ok()) return service.status();
  const auto in_process = lab.InProcessOf(lab.grammar());
  if (!in_process.ok()) return in_process.status();
  for (int round = 0; round < lab.options().rounds; ++round) {
    absl::Status status = AgainstInProcess(lab, book, **one_worker, **in_process);
    if (status.ok()) status = AgainstUnary(lab, book, **service);
    if (status.ok()) status = WithAllWorkers(lab, book, **service);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status MakeDecode(Lab& lab, Book& book) {
  struct Comparison {
    uint32_t grammar;
    double bar;
  };
  constexpr Comparison kComparisons[] = {{17, 3.5}, {18, 2}};
  const std::string* const query = lab.Text("large_select");
  if (query == nullptr) return absl::OkStatus();  // the corpus is not there
  const auto service = lab.TheService();
  if (!service.ok()) return service.status();
  for (int round = 0; round < lab.options().rounds; ++round) {
    for (const Comparison& comparison : kComparisons) {
      const auto decoder = MakeTreeDecoder(comparison.grammar);
      if (decoder == nullptr || !lab.HasGrammar(comparison.grammar)) continue;
      const auto in_process = lab.InProcessOf(comparison.grammar);
      if (!in_process.ok()) return in_process.status();
      const auto alone = (*in_process)->Run("library_protobuf_decoded", *query, lab.seconds());
      if (!alone.ok()) return alone.status();
      const std::string grammar = std::to_string(comparison.grammar);
      Add(book, {grammar, "large_select", "in-process, decoded"}, *alone);
      const auto batch = MeasureBatch(
          (*service)->unix_socket, StreamOptionsOf(v1::OPERATION_PARSE, comparison.grammar), *query,
          lab.seconds() * 2, [&](const v1::BatchResponse& answer) {
            for (const std::string& tree : answer.results().trees()) {
              if (!decoder->Decode(tree)) return absl::InternalError("a tree is malformed");
            }
            return absl::OkStatus();
          });
      if (!batch.ok()) return batch.status();
      const Subject subject{grammar, "large_select", "batch parse, decoded"};
      Add(book, subject, *batch);
      book.AddJudged(
          {absl::StrCat("Batch Parse and decode, per core, over the same in-process, ", grammar),
           subject.Value("per_core_over_in_process", "ratio"), Bar::Kind::kAtLeast, comparison.bar},
          batch->per_core() * alone->cpu_seconds / static_cast<double>(alone->runs));
    }
  }
  return absl::OkStatus();
}

absl::Status MakeWorkers(Lab& lab, Book& book) {
  const std::string* query = lab.Text("large_select");
  if (query == nullptr) query = lab.Text("select_384");
  const v1::StreamOptions options = StreamOptionsOf(v1::OPERATION_FINGERPRINT);
  const auto cpus = static_cast<double>(std::thread::hardware_concurrency());
  for (int round = 0; round < lab.options().rounds; ++round) {
    double per_second[2] = {};
    double limit = 0;
    for (const uint32_t workers : {1, 2}) {
      const auto service = lab.WithWorkers(workers);
      if (!service.ok()) return service.status();
      const auto batch = MeasureBatch((*service)->unix_socket, options, *query, lab.seconds() * 2);
      if (!batch.ok()) return batch.status();
      Add(book,
          {lab.grammar_name(), "large_select",
           absl::StrCat("batch fingerprint, ", workers, workers == 1 ? " worker" : " workers")},
          *batch);
      per_second[workers - 1] = batch->per_second();
      if (workers == 1) limit = std::min(2.0, cpus * batch->per_core() / batch->per_second());
    }
    const Subject subject{lab.grammar_name(), "large_select", "batch fingerprint"};
    book.Add(subject.Value("two_workers_over_one", "ratio"), per_second[1] / per_second[0]);
    book.Add(subject.Value("two_workers_over_one_limit", "ratio"), limit);
  }
  return absl::OkStatus();
}

absl::Status MakeMixed(Lab& lab, Book& book) {
  const auto service = lab.TheService();
  if (!service.ok()) return service.status();
  auto other = Client::Connect({.address = (*service)->unix_socket.target.address});
  if (!other.ok()) return other.status();
  const Endpoint batch_endpoint{(*service)->unix_socket.target, *std::move(other)};
  const Target& target = (*service)->unix_socket.target;
  const Call call =
      ParseCall(*(*service)->unix_socket.client, ParseRequestOf(*lab.Text("select_46")));
  const double rate = lab.options().rate / 2;
  const Seconds duration = lab.seconds() * 4;
  for (int round = 0; round < lab.options().rounds; ++round) {
    const auto idle = MeasureOpen(target, call, rate, duration);
    if (!idle.ok()) return idle.status();
    EndlessBatch batch(batch_endpoint, *lab.Text("select_384"));
    const auto busy = MeasureOpen(target, call, rate, duration);
    if (absl::Status status = batch.Stop(); !status.ok()) return status;
    if (!busy.ok()) return busy.status();
    Add(book, {lab.grammar_name(), "select_46", "parse, open loop, idle"}, *idle);
    const Subject subject{lab.grammar_name(), "select_46", "parse, open loop, batch runs"};
    Add(book, subject, *busy);
    book.Add(subject.Value("batch_queries", "1/s"),
             static_cast<double>(batch.queries()) / busy->load.seconds);
    book.AddJudged({"p99 of unary Parse (small) while a batch saturates the pool, over idle",
                    subject.Value("p99_over_idle", "ratio"), Bar::Kind::kAtMost, 3},
                   busy->load.Quantile(0.99) / idle->load.Quantile(0.99));
  }
  return absl::OkStatus();
}

}  // namespace pgparsed::bench
