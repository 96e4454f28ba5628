#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cli/progress.h"
#include "cli/stream_commands.h"
#include "cli/workload/log_input.h"
#include "cli/workload/log_reader.h"
#include "cli/workload/report_output.h"
#include "pgparsed/errors.h"

namespace pgparsed::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMostProblemsShown = 10;

// What was read.
struct Counts {
  uint64_t queries = 0;
  uint64_t problems = 0;  // entries that were not understood
};

void Say(const std::string& text) {
  Output error(STDERR_FILENO);
  error.Write(text);
  error.Finish().IgnoreError();
}

// The logs, one after the other, as chunks.
class LogSource {
 public:
  LogSource(const Arguments& arguments, std::vector<std::string> paths, uint64_t max_query_bytes,
            size_t chunk_queries, size_t chunk_bytes)
      : arguments_(arguments),
        paths_(std::move(paths)),
        max_query_bytes_(max_query_bytes),
        chunk_queries_(chunk_queries),
        chunk_bytes_(chunk_bytes) {}

  // Fills the chunk; false: there is nothing left. The entries of a chunk are in the order of the
  // log and have the same columns: where that changes, a chunk ends.
  absl::StatusOr<bool> Next(v1::AggregateWorkloadRequest::Chunk& chunk) {
    size_t bytes = 0;
    while (static_cast<size_t>(chunk.queries_size()) < chunk_queries_) {
      if (!entry_) {
        const absl::StatusOr<bool> more = NextEntry();
        if (!more.ok()) return more.status();
        if (!*more) break;
      }
      const bool fits = bytes + entry_->query.size() <= chunk_bytes_;
      const bool alike = entry_->duration_us.has_value() == (chunk.duration_us_size() > 0) &&
                         entry_->rows.has_value() == (chunk.rows_size() > 0);
      if (!chunk.queries().empty() && !(fits && alike)) break;
      bytes += entry_->query.size();
      chunk.add_queries()->swap(entry_->query);
      if (entry_->duration_us) chunk.add_duration_us(*entry_->duration_us);
      if (entry_->rows) chunk.add_rows(*entry_->rows);
      chunk.add_weight(entry_->weight);
      spare_ = std::move(*entry_);
      entry_.reset();
      ++counts_.queries;
    }
    if (progress_ && log_) progress_->Update(log_->input->bytes_done(), counts_.queries);
    return chunk.queries_size() > 0;
  }

  const Counts& counts() const { return counts_; }

 private:
  struct Log {
    std::unique_ptr<LogInput> input;
    std::unique_ptr<LogProblems> problems;
    std::unique_ptr<LogReader> reader;
  };

  absl::StatusOr<bool> NextEntry() {
    while (true) {
      if (!log_) {
        if (next_path_ == paths_.size()) return false;
        if (absl::Status status = OpenNext(); !status.ok()) return status;
      }
      const absl::StatusOr<bool> more = log_->reader->Next(spare_);
      if (!more.ok()) return more.status();
      if (!*more) {
        Close();
        continue;
      }
      if (spare_.query.size() > max_query_bytes_) {
        log_->problems->Add(spare_.line, absl::StrCat("the query has more than ", max_query_bytes_,
                                                      " bytes, which is the server's limit"));
        continue;
      }
      entry_ = std::exchange(spare_, {});
      return true;
    }
  }

  absl::Status OpenNext() {
    auto input = LogInput::Open(paths_[next_path_++]);
    if (!input.ok()) return input.status();
    log_.emplace();
    log_->input = *std::move(input);
    const std::string& label = log_->input->label();
    if (!arguments_.quiet) {
      progress_.reset(
          new Progress(Progress::OnStandardError(label, "queries", log_->input->size())));
    }
    log_->problems =
        std::make_unique<LogProblems>(label, kMostProblemsShown, [this](std::string_view problem) {
          if (progress_) progress_->Erase();
          Say(absl::StrCat(std::string(problem), "\n"));
        });
    auto reader = OpenLog(*log_->input, arguments_.log, *log_->problems);
    if (!reader.ok()) return reader.status();
    log_->reader = *std::move(reader);
    return absl::OkStatus();
  }

  void Close() {
    progress_.reset();
    counts_.problems += log_->problems->count();
    if (log_->problems->hidden() > 0) {
      Say(absl::StrCat(log_->input->label(), ": ", log_->problems->hidden(),
                       " more lines that are not understood\n"));
    }
    log_.reset();
  }

  const Arguments& arguments_;
  const std::vector<std::string> paths_;
  const uint64_t max_query_bytes_;
  const size_t chunk_queries_;
  const size_t chunk_bytes_;
  size_t next_path_ = 0;
  std::optional<Log> log_;
  std::unique_ptr<Progress> progress_;
  std::optional<LogEntry> entry_;  // read, and not yet in a chunk
  LogEntry spare_;
  Counts counts_;
};

absl::Status Save(const v1::WorkloadReport& report, const std::string& path) {
  const std::string bytes = report.SerializeAsString();
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) {
    return MakeError(Reason::kInvalidRequest, absl::StrCat(path, ": ", std::strerror(errno)));
  }
  Output file(fd);
  file.Write(bytes);
  const absl::Status status = file.Finish();
  ::close(fd);
  return status;
}

}  // namespace

absl::StatusOr<ExitCode> RunWorkload(const Arguments& arguments, Client& client, Output& out) {
  const auto begin = Clock::now();
  const auto grammars = client.ListGrammars();
  if (!grammars.ok()) return grammars.status();
  const v1::Limits& limits = grammars->limits();

  std::vector<std::string> paths = arguments.files;
  if (paths.empty() && arguments.merge.empty()) paths.emplace_back("-");
  LogSource logs(
      arguments, std::move(paths), limits.max_query_bytes(),
      std::min<size_t>(kBatchChunkQueries, std::max(limits.max_batch_queries(), 1u)),
      std::min<size_t>(kBatchChunkBytes, std::max<uint64_t>(limits.max_batch_bytes(), 1)));

  v1::AggregateWorkloadRequest::Options options;
  options.set_grammar(arguments.grammar);
  for (const v1::WorkloadKey key : arguments.keys) options.add_keys(key);
  options.set_order(arguments.order);
  options.set_top(arguments.top);
  *options.mutable_fingerprint_options() = arguments.fingerprint_options;
  size_t merged = 0;
  const auto report = client.AggregateWorkload(
      options, [&](v1::AggregateWorkloadRequest& part) -> absl::StatusOr<bool> {
        if (merged < arguments.merge.size()) {
          auto earlier = ReadReportFile(arguments.merge[merged++]);
          if (!earlier.ok()) return earlier.status();
          *part.mutable_report() = *std::move(earlier);
          return true;
        }
        return logs.Next(*part.mutable_chunk());
      });
  if (!report.ok()) return report.status();
  if (arguments.save) {
    if (absl::Status status = Save(*report, *arguments.save); !status.ok()) return status;
  }
  const ReportFormat format = arguments.json  ? ReportFormat::kJson
                              : arguments.csv ? ReportFormat::kCsv
                                              : ReportFormat::kTable;
  if (absl::Status status = WriteReport(*report, format, out); !status.ok()) return status;
  if (absl::Status status = out.Finish(); !status.ok()) return status;
  if (!arguments.quiet) {
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    std::string summary =
        absl::StrCat("pgparse: ", Throughput(logs.counts().queries, "queries", seconds));
    if (report->errors() > 0) {
      absl::StrAppend(&summary, ", ", report->errors(), " that the parser refused");
    }
    if (logs.counts().problems > 0) {
      absl::StrAppend(&summary, ", ", logs.counts().problems, " log entries not understood");
    }
    Say(summary + "\n");
  }
  return kExitOk;
}

}  // namespace pgparsed::cli
