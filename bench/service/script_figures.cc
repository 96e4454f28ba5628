#include <chrono>
#include <string>

#include "absl/strings/str_cat.h"
#include "bench/service/dump.h"
#include "bench/service/figures.h"

namespace pgparsed::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kChunkBytes = 256 << 10;
// Each takes some 10 s.
constexpr int kMostRounds = 3;

struct ScriptResult {
  StreamResult stream;  // statements as queries
  Memory growth;
};

// A server of its own, so that its memory is what this run makes it.
absl::StatusOr<ScriptResult> RunScript(const Lab& lab, const std::string& dump) {
  const auto service = lab.Fresh(lab.options().workers);
  if (!service.ok()) return service.status();
  const Target& target = (*service)->unix_socket.target;
  v1::ParseScriptRequest::Start start;
  start.mutable_options()->add_operations(v1::OPERATION_CHECK);
  const Memory before = MemoryOf(target.front);
  MemorySampler sampler(target.front);
  size_t at = 0;
  ScriptResult result;
  const CpuMeter meter(target.front);
  const Clock::time_point begin = Clock::now();
  const absl::Status status = (*service)->unix_socket.client->ParseScript(
      start,
      [&](std::string& bytes) -> absl::StatusOr<bool> {
        if (at == dump.size()) return false;
        bytes.assign(dump, at, kChunkBytes);
        at += bytes.size();
        return true;
      },
      [&](const v1::ParseScriptResponse& answer) -> absl::Status {
        if (!answer.results().errors().empty()) {
          return absl::InternalError(answer.results().errors(0).error().message());
        }
        result.stream.queries += static_cast<uint64_t>(answer.statement_piece_size());
        return absl::OkStatus();
      });
  result.stream.seconds = Seconds(Clock::now() - begin).count();
  result.stream.cpu = meter.Elapsed();
  const Memory peak = sampler.Peak();
  if (!status.ok()) return status;
  result.growth = {.pss = peak.pss - before.pss,
                   .front_rss = peak.front_rss - before.front_rss,
                   .workers_rss = peak.workers_rss - before.workers_rss};
  return result;
}

}  // namespace

absl::Status MakeScript(Lab& lab, Book& book) {
  const uint64_t bytes = lab.options().dump_megabytes * 1'000'000;
  std::string dump;
  GenerateDump(bytes, [&](std::string_view text, bool) { dump.append(text); });
  const std::string input = absl::StrCat("dump_", lab.options().dump_megabytes, "mb");
  const auto in_process = lab.InProcessOf(lab.grammar());
  if (!in_process.ok()) return in_process.status();
  for (int round = 0; round < std::min(lab.options().rounds, kMostRounds); ++round) {
    const auto alone = (*in_process)->ParseDump(bytes);
    if (!alone.ok()) return alone.status();
    Add(book, {lab.grammar_name(), input, "in-process raw parse"}, *alone);
    const auto script = RunScript(lab, dump);
    if (!script.ok()) return script.status();
    if (script->stream.queries != alone->runs) {
      return absl::InternalError(absl::StrCat("ParseScript found ", script->stream.queries,
                                              " statements of ", alone->runs));
    }
    const Subject subject{lab.grammar_name(), input, "script check"};
    Add(book, subject, script->stream);
    book.Add(subject.Value("seconds", "s"), script->stream.seconds);
    book.Add(subject.Value("seconds_in_process", "s"), alone->seconds);
    book.AddJudged({absl::StrCat("ParseScript of ", lab.options().dump_megabytes,
                                 " MB over the raw parse of its statements in-process, time"),
                    subject.Value("time_over_in_process", "ratio"), Bar::Kind::kAtMost, 1.5},
                   script->stream.seconds / alone->seconds);
    const auto mebibytes = [](uint64_t number) { return static_cast<double>(number) / (1 << 20); };
    book.AddJudged({"memory growth of front and workers over that run (PSS), MiB",
                    subject.Value("growth_pss", "MiB"), Bar::Kind::kAtMost, 64},
                   mebibytes(script->growth.pss));
    book.Add(subject.Value("growth_front_rss", "MiB"), mebibytes(script->growth.front_rss));
    book.Add(subject.Value("growth_workers_rss", "MiB"), mebibytes(script->growth.workers_rss));
  }
  return absl::OkStatus();
}

}  // namespace pgparsed::bench
