// What all doors share: a request of the contract goes in, an answer of the contract comes out.
//
// Thread-safety: all methods may be called from any thread; none blocks.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "pgparsed/v1/grammar.pb.h"
#include "pool/pool.h"
#include "service/answers.h"
#include "service/conversion_counters.h"
#include "service/item_stream.h"
#include "service/limits.h"
#include "service/requests.h"

namespace pgparsed::service {

class Backend {
 public:
  // The pool must outlive this.
  Backend(pool::Pool& pool, Limits limits)
      : pool_(pool),
        limits_(limits),
        grammars_(pool.Grammars()),
        conversions_(std::make_shared<ConversionCounters>(Majors(grammars_))) {}

  const Limits& limits() const { return limits_; }
  const ConversionCounters& conversions() const { return *conversions_; }

  // Runs one unary method. `done` is called exactly once, before Call returns or later on a thread
  // of the pool, and must not block. The handle cancels the call; it is null when `done` was
  // called already because the request is wrong.
  template <typename Request, typename Response>
  std::shared_ptr<pool::JobHandle> Call(
      Request request, absl::Time deadline,
      std::function<void(absl::StatusOr<Encoded<Response>>)> done);

  // Runs ParseChunked. `on_piece` takes the tree while it is written, but for protobuf; the answer,
  // which comes last, has the rest: protobuf as a section, warnings and errors.
  std::shared_ptr<pool::JobHandle> CallInPieces(
      v1::ParseChunkedRequest request, absl::Time deadline, pool::PieceTaker on_piece,
      std::function<void(absl::StatusOr<pool::JobAnswer>)> done);

  // What the items of a stream are run with.
  struct OpenStream {
    uint32_t grammar = 0;
    uint32_t postgres_version_num = 0;
    uint32_t operations = 0;
    bool want_timing = false;
    bool parser_options = false;  // the grammar takes them
    uint32_t chunks_in_flight = 0;
    std::shared_ptr<ItemStream> items;
  };
  absl::StatusOr<OpenStream> Open(const v1::StreamOptions& options, absl::Time deadline);

  // The grammar that answers a request for `requested`, and its version number.
  absl::StatusOr<uint32_t> Grammar(uint32_t requested) const {
    return ChooseGrammar(requested, grammars_);
  }
  // As its worker told it.
  uint32_t PostgresVersionNum(uint32_t grammar) const;

  v1::ListGrammarsResponse ListGrammars() const;

 private:
  static std::vector<uint32_t> Majors(const std::vector<pool::GrammarStatus>& grammars) {
    std::vector<uint32_t> majors;
    for (const pool::GrammarStatus& grammar : grammars) majors.push_back(grammar.major);
    return majors;
  }

  pool::Pool& pool_;
  const Limits limits_;
  // What never changes of the pool's grammars: read by every call, so without a lock.
  const std::vector<pool::GrammarStatus> grammars_;
  // Shared with streams, whose jobs may end later.
  const std::shared_ptr<ConversionCounters> conversions_;
};

// Nanoseconds, never negative.
inline uint64_t Nanoseconds(absl::Duration duration) {
  return static_cast<uint64_t>(std::max<int64_t>(0, absl::ToInt64Nanoseconds(duration)));
}

// Where the time of an answer went; the total is the caller's.
inline void FillTiming(const pool::JobAnswer& answer, v1::Timing& timing) {
  timing.set_queue_ns(Nanoseconds(answer.queue_time));
  timing.set_parse_ns(answer.answer.header.parse_ns);
  timing.set_convert_ns(answer.answer.header.convert_ns);
  timing.set_bytes_produced(answer.answer.header.total_bytes + answer.answer.header.tail_bytes);
}

inline void FillTiming(const ItemAnswer& answer, v1::Timing& timing) {
  timing.set_queue_ns(Nanoseconds(answer.queue_time));
  timing.set_parse_ns(answer.parse_ns);
  timing.set_convert_ns(answer.convert_ns);
  timing.set_total_ns(Nanoseconds(answer.total));
  uint64_t bytes = 0;
  for (const std::string& part : answer.columns) bytes += part.size();
  timing.set_bytes_produced(bytes);
}

template <typename Request, typename Response>
std::shared_ptr<pool::JobHandle> Backend::Call(
    Request request, absl::Time deadline,
    std::function<void(absl::StatusOr<Encoded<Response>>)> done) {
  const absl::Time start = absl::Now();
  pool::Job job;
  bool want_timing = false;
  if constexpr (requires { request.want_timing(); }) want_timing = request.want_timing();

  const absl::StatusOr<uint32_t> grammar = ChooseGrammar(request.grammar(), grammars_);
  absl::Status status = grammar.ok() ? FillJob(request, limits_, job) : grammar.status();
  if (!status.ok()) {
    done(std::move(status));
    return nullptr;
  }
  job.grammar = *grammar;
  job.deadline = deadline;
  job.done = [this, start, want_timing, grammar = *grammar, header = job.header,
              done = std::move(done)](absl::StatusOr<pool::JobAnswer> answer) {
    if (!answer.ok()) return done(answer.status());
    conversions_->Add(grammar, header, answer->answer.header, 1);
    Encoded<Response> encoded;
    encoded.lease = std::move(answer->lease);
    absl::Status filled = FillAnswer(answer->answer, encoded.message, encoded.raw);
    if (!filled.ok()) return done(std::move(filled));
    encoded.message.set_grammar(grammar);
    encoded.message.set_postgres_version_num(PostgresVersionNum(grammar));
    if constexpr (requires { encoded.message.set_hex(""); }) {
      encoded.message.set_hex(
          absl::StrCat(absl::Hex(encoded.message.fingerprint(), absl::kZeroPad16)));
    }
    if constexpr (requires { encoded.message.mutable_timing(); }) {
      if (want_timing) {
        v1::Timing* timing = encoded.message.mutable_timing();
        FillTiming(*answer, *timing);
        timing->set_total_ns(Nanoseconds(absl::Now() - start));
      }
    }
    done(std::move(encoded));
  };
  return pool_.Submit(std::move(job));
}

}  // namespace pgparsed::service
