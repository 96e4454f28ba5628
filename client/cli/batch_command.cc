#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cli/diagnostic.h"
#include "cli/item_results.h"
#include "cli/json_output.h"
#include "cli/progress.h"
#include "cli/query_reader.h"
#include "cli/stream_commands.h"
#include "pgparsed/errors.h"

namespace pgparsed::cli {
namespace {

using Clock = std::chrono::steady_clock;

// What is known about a query until its answer comes.
struct Sent {
  uint64_t line = 0;
  std::string query;         // where the answer needs it
  v1::OperationError fault;  // of an item that was not sent
  bool was_sent = true;
};

struct Totals {
  uint64_t queries = 0;
  uint64_t failed = 0;
  std::optional<ExitCode> first_error;
};

// One file. The source runs on another thread than the sink: what both touch is under the mutex.
class BatchRun {
 public:
  BatchRun(const Arguments& arguments, QueryReader& reader, Output& out, Totals& totals)
      : arguments_(arguments),
        reader_(reader),
        out_(out),
        error_(STDERR_FILENO),
        totals_(totals),
        progress_(arguments.quiet ? Progress(reader.input().label(), "queries", 0, std::nullopt)
                                  : Progress::OnStandardError(reader.input().label(), "queries",
                                                              reader.input().size())) {
    for (const v1::Operation operation : arguments.operations) {
      keeps_queries_ |=
          arguments.json && (operation == v1::OPERATION_SCAN || operation == v1::OPERATION_SPLIT);
    }
    style_.colour = error_.colour();
  }

  absl::Status Run(Client& client, size_t chunk_queries, size_t chunk_bytes) {
    const absl::Status status = client.Batch(
        StreamOptionsOf(arguments_),
        InChunks([this](std::string& query) { return Next(query); }, chunk_queries, chunk_bytes),
        [this](const v1::BatchResponse& response) { return Take(response); });
    progress_.Erase();
    if (!status.ok()) return status;
    return WriteUnsent();
  }

 private:
  // The source: the next query that can be sent.
  absl::StatusOr<bool> Next(std::string& query) {
    QueryItem item;
    item.query = std::move(query);
    while (true) {
      const absl::StatusOr<bool> more = reader_.Next(item);
      if (!more.ok() || !*more) return more;
      Sent sent;
      sent.line = item.line;
      sent.was_sent = item.status.ok();
      if (!sent.was_sent) {
        sent.fault.set_reason(std::string(ReasonName(ReasonOf(item.status))));
        sent.fault.set_message(std::string(item.status.message()));
      }
      if (keeps_queries_) sent.query = item.query;
      {
        const std::lock_guard lock(mutex_);
        sent_.push_back(std::move(sent));
        bytes_read_ = reader_.input().bytes_done();
      }
      if (!item.status.ok()) continue;
      query = std::move(item.query);
      return true;
    }
  }

  // The sink.
  absl::Status Take(const v1::BatchResponse& response) {
    // Those of the answer and the ones between them that were not sent, out of the lock's reach.
    std::deque<Sent> taken;
    uint64_t bytes = 0;
    {
      const std::lock_guard lock(mutex_);
      uint32_t answers = 0;
      while (answers < response.count() && !sent_.empty()) {
        answers += sent_.front().was_sent;
        taken.push_back(std::move(sent_.front()));
        sent_.pop_front();
      }
      if (answers < response.count()) {
        return MakeError(Reason::kInternal, "the server answered more queries than were sent");
      }
      bytes = bytes_read_;
    }
    ItemErrors errors(response.results());
    uint32_t item = 0;
    bool goes_on = true;
    for (const Sent& sent : taken) {
      if (sent.was_sent) {
        goes_on = Write(sent, response.results(), static_cast<int>(item), errors.Of(item));
        ++item;
      } else {
        goes_on = Write(sent, v1::ResultColumns::default_instance(), 0, {sent.fault});
      }
      if (!goes_on) return OutputGone();
    }
    progress_.Update(bytes, totals_.queries);
    return absl::OkStatus();
  }

  // What follows the last query that was sent.
  absl::Status WriteUnsent() {
    for (const Sent& sent : sent_) {
      if (!Write(sent, v1::ResultColumns::default_instance(), 0, {sent.fault})) return OutputGone();
    }
    return absl::OkStatus();
  }

  // False: the output is gone.
  bool Write(const Sent& sent, const v1::ResultColumns& results, int item,
             const std::vector<v1::OperationError>& errors) {
    ++totals_.queries;
    if (!errors.empty()) {
      ++totals_.failed;
      if (!totals_.first_error) totals_.first_error = ExitCodeOf(StatusOf(errors.front()));
    }
    line_.clear();
    if (arguments_.json) {
      StreamItem json{
          {}, results, item, arguments_.operations, errors, sent.query, arguments_.positions};
      if (arguments_.files.size() > 1) {
        json.head.emplace_back("file", JsonText(reader_.input().label()));
      }
      json.head.emplace_back("line", std::to_string(sent.line));
      line_ = ToJson(std::move(json));
    } else {
      bool first = true;
      for (const v1::Operation operation : arguments_.operations) {
        if (!std::exchange(first, false)) line_ += '\t';
        if (!Failed(errors, operation)) AppendEscaped(line_, ResultText(results, item, operation));
      }
      for (const v1::OperationError& error : errors) WriteError(sent, StatusOf(error));
    }
    line_ += '\n';
    return out_.Write(line_);
  }

  // FILE:LINE:COLUMN where the query is text of the file, FILE:LINE where it is JSON.
  void WriteError(const Sent& sent, const absl::Status& status) {
    progress_.Erase();
    std::string label = reader_.input().label();
    std::optional<Place> place;
    const auto sql = SqlErrorOf(status);
    if (sql && sql->position && arguments_.query_format != QueryFormat::kJsonLines) {
      place = Place{0, static_cast<uint32_t>(sent.line) + std::max(sql->line, 1u) - 1,
                    std::max(sql->column, 1u)};
    } else {
      absl::StrAppend(&label, ":", sent.line);
    }
    error_.Write(RenderDiagnostic(label, {}, place, std::string(status.message()), style_));
    error_.Finish().IgnoreError();
  }

  const Arguments& arguments_;
  QueryReader& reader_;
  Output& out_;
  Output error_;
  Totals& totals_;
  Progress progress_;
  DiagnosticStyle style_;
  bool keeps_queries_ = false;
  std::string line_;

  std::mutex mutex_;
  std::deque<Sent> sent_;
  uint64_t bytes_read_ = 0;
};

}  // namespace

absl::StatusOr<ExitCode> RunBatch(const Arguments& arguments, Client& client, Output& out) {
  const auto begin = Clock::now();
  const auto grammars = client.ListGrammars();
  if (!grammars.ok()) return grammars.status();
  const v1::Limits& limits = grammars->limits();
  const size_t chunk_queries =
      std::min<size_t>(arguments.chunk_queries.value_or(kBatchChunkQueries),
                       std::max(limits.max_batch_queries(), 1u));
  const size_t chunk_bytes =
      std::min<size_t>(kBatchChunkBytes, std::max<uint64_t>(limits.max_batch_bytes(), 1));

  Totals totals;
  const std::vector<std::string> standard_input = {"-"};
  for (const std::string& path : arguments.files.empty() ? standard_input : arguments.files) {
    auto reader = QueryReader::Open(path, arguments.query_format, limits.max_query_bytes());
    if (!reader.ok()) return reader.status();
    BatchRun run(arguments, **reader, out, totals);
    const absl::Status status = run.Run(client, chunk_queries, chunk_bytes);
    if (status == OutputGone()) break;
    if (!status.ok()) return status;
  }
  // So that it comes behind the last line on a terminal.
  if (absl::Status status = out.Finish(); !status.ok()) return status;
  if (!arguments.quiet) {
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    Output error(STDERR_FILENO);
    error.Write(absl::StrCat("pgparse: ", Throughput(totals.queries, "queries", seconds), ", ",
                             totals.failed, " failed\n"));
    error.Finish().IgnoreError();
  }
  return totals.first_error.value_or(kExitOk);
}

}  // namespace pgparsed::cli
