#include "tests/chaos/load.h"

#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "pgparsed/errors.h"

namespace pgparsed::chaos {
namespace {

constexpr size_t kMostExamples = 20;
constexpr std::chrono::milliseconds kOwnDeadline{2};

// More raw tree than the workers of the storm may have. It must reach the limit soon: a job that
// takes longer than a worker lives here would be killed again and again.
std::string MemoryHog() {
  std::string sql = "SELECT 1";
  for (int i = 0; i < 150'000; ++i) absl::StrAppend(&sql, ", a", i, " + ", i);
  return sql;
}

}  // namespace

// One client: a thread's own.
class Load::Visitor {
 public:
  Visitor(Load& load, uint64_t seed) : load_(load), random_(seed) {}

  bool Connect() {
    auto client = Client::Connect(load_.options_);
    if (!client.ok()) return false;
    client_ = *std::move(client);
    return true;
  }

  void Ask() {
    const uint64_t kind = random_() % 100;
    if (kind < 40) {
      Parse({});
    } else if (kind < 60) {
      Fingerprint();
    } else if (kind < 70) {
      ShortDeadline();
    } else if (kind < 75) {
      VanishInTheMiddle();
    } else if (kind < 98) {
      Batch();
    } else {
      HitTheMemoryLimit();
    }
  }

 private:
  const Query& Any() { return load_.queries_[random_() % load_.queries_.size()]; }

  // A failure that is the query's or the caller's own.
  void Own(const absl::Status& status) {
    load_.Note(
        [&](Tally& tally) { ++tally.own_failures[std::string(ReasonName(ReasonOf(status)))]; });
  }
  void Foreign(const char* what, const absl::Status& status) {
    load_.Note([&](Tally& tally) {
      ++tally.foreign_failures;
      if (tally.examples.size() < kMostExamples) {
        tally.examples.push_back(absl::StrCat(what, ": ", status.ToString()));
      }
    });
  }
  void Wrong(const char* what, const Query& query) {
    load_.Note([&](Tally& tally) {
      ++tally.wrong_answers;
      if (tally.examples.size() < kMostExamples) {
        tally.examples.push_back(absl::StrCat(what, " is not the oracle's: ", query.sql));
      }
    });
  }

  // Whether there is an answer to look at. `own` is a reason that the caller has made itself.
  bool Judge(const char* what, const Query& query, const absl::Status& status, Reason own) {
    load_.Note([](Tally& tally) { ++tally.calls; });
    if (status.ok()) {
      if (!query.parses) Wrong(what, query);
      return query.parses;
    }
    const Reason reason = ReasonOf(status);
    if (reason == own || (!query.parses && reason == Reason::kSqlSyntaxError)) {
      Own(status);
    } else {
      Foreign(what, status);
    }
    return false;
  }

  void Parse(const CallOptions& options, Reason own = Reason::kNone) {
    const Query& query = Any();
    v1::ParseRequest request;
    request.set_query(query.sql);
    const bool json = random_() % 2 == 0;
    request.set_format(json ? v1::TREE_FORMAT_JSON : v1::TREE_FORMAT_PROTOBUF);
    const auto answer = client_->Parse(request, options);
    if (!Judge("Parse", query, answer.status(), own)) return;
    if (json ? answer->json() != query.json : answer->protobuf() != query.protobuf) {
      Wrong("Parse", query);
    }
  }

  void Fingerprint() {
    const Query& query = Any();
    const auto answer = client_->Fingerprint(query.sql);
    if (!Judge("Fingerprint", query, answer.status(), Reason::kNone)) return;
    if (*answer != query.fingerprint) Wrong("Fingerprint", query);
  }

  void ShortDeadline() {
    CallOptions options;
    options.timeout = kOwnDeadline;
    Parse(options, Reason::kDeadline);
  }

  void Batch() {
    constexpr size_t kChunks = 5;
    constexpr size_t kItems = 100;
    // Chosen beforehand: the source runs on a thread of its own.
    std::vector<const Query*> queries;
    for (size_t i = 0; i < kChunks * kItems; ++i) queries.push_back(&Any());
    size_t chunks = 0;
    v1::StreamOptions options;
    options.add_operations(v1::OPERATION_FINGERPRINT);
    size_t answered = 0;
    const absl::Status status = client_->Batch(
        options,
        [&](v1::BatchRequest::Chunk& chunk) {
          if (chunks == kChunks) return false;
          for (size_t i = 0; i < kItems; ++i) chunk.add_queries(queries[chunks * kItems + i]->sql);
          ++chunks;
          return true;
        },
        [&](const v1::BatchResponse& answer) {
          std::vector<bool> failed(static_cast<size_t>(answer.count()), false);
          for (const v1::ItemError& error : answer.results().errors()) {
            failed[error.item()] = true;
            const Query& query = *queries.at(answer.first_index() + error.item());
            if (query.parses) {
              Foreign("Batch item", absl::InternalError(error.error().reason()));
            }
          }
          for (uint32_t i = 0; i < answer.count(); ++i) {
            const Query& query = *queries.at(answer.first_index() + i);
            ++answered;
            if (failed[i]) continue;
            if (!query.parses ||
                answer.results().fingerprints(static_cast<int>(i)) != query.fingerprint) {
              Wrong("Batch item", query);
            }
          }
          return absl::OkStatus();
        });
    load_.Note([&](Tally& tally) {
      ++tally.calls;
      tally.items += answered;
    });
    if (!status.ok()) Foreign("Batch", status);
  }

  void VanishInTheMiddle() {
    v1::StreamOptions options;
    options.add_operations(v1::OPERATION_PARSE);
    const Query& query = Any();
    const absl::Status status = client_->Batch(
        options,
        [&](v1::BatchRequest::Chunk& chunk) {
          for (size_t i = 0; i < 50; ++i) chunk.add_queries(query.sql);
          return true;
        },
        [](const v1::BatchResponse&) { return absl::CancelledError("vanished"); });
    load_.Note([](Tally& tally) {
      ++tally.calls;
      ++tally.own_failures["vanished"];
    });
    if (status.code() != absl::StatusCode::kCancelled) Foreign("Batch that ends early", status);
  }

  void HitTheMemoryLimit() {
    static const std::string* const hog = new std::string(MemoryHog());
    const absl::Status status = client_->ParseProtobuf(*hog).status();
    load_.Note([](Tally& tally) { ++tally.calls; });
    if (status.ok()) return;
    if (ReasonOf(status) == Reason::kParserMemoryLimit) {
      Own(status);
    } else {
      Foreign("a query over the memory limit", status);
    }
  }

  Load& load_;
  std::mt19937_64 random_;
  std::unique_ptr<Client> client_;
};

Load::Load(const std::vector<Query>& queries, ClientOptions options, int threads, uint64_t seed)
    : queries_(queries), options_(std::move(options)) {
  for (int i = 0; i < threads; ++i) {
    threads_.emplace_back([this, seed, i] { Run(seed + static_cast<uint64_t>(i)); });
  }
}

void Load::Stop() {
  stop_ = true;
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

Tally Load::tally() const {
  sync::MutexLock lock(mutex_);
  return tally_;
}

void Load::Note(const std::function<void(Tally&)>& change) {
  sync::MutexLock lock(mutex_);
  change(tally_);
}

void Load::Run(uint64_t seed) {
  Visitor visitor(*this, seed);
  if (!visitor.Connect()) {
    Note([](Tally& tally) { ++tally.foreign_failures; });
    return;
  }
  while (!stop_) visitor.Ask();
}

}  // namespace pgparsed::chaos
