#include "worker/job_loop.h"

#include <cstddef>
#include <vector>

#include "worker/allocator.h"
#include "worker/large_stack.h"
#include "worker/memory.h"
#include "worker/operations.h"
#include "worker/piece_sink.h"

namespace pgparsed::worker {
namespace {

// A job that allocated more than this has left something to give back at once. What smaller ones
// leave is of use to the next job, and goes back when the worker is idle.
constexpr uint64_t kLargeJobBytes = 16u << 20;

void Report(channel::WorkerEnd& channel) {
  const AllocatorFigures figures = ReadAllocatorFigures();
  channel.Report(
      {.allocated = figures.allocated, .resident = figures.resident, .retained = figures.retained});
}

void TidyUp() {
  ReturnStackPages();
  ReturnFreeMemory();
}

}  // namespace

void WarmUp() {
  std::vector<std::byte> answer(size_t{256} << 10);
  channel::JobHeader header;
  header.operations = channel::kOpParse | channel::kOpParsePlpgsql | channel::kOpFingerprint |
                      channel::kOpNormalize | channel::kOpScan | channel::kOpSplit |
                      channel::kOpFormat | channel::kOpExtractComments | channel::kOpSummarize;
  for (const char* const sql :
       {"SELECT a, 'b', 1.5 FROM c JOIN d USING (e) WHERE f IN ($1, 2)",
        "CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $$BEGIN RETURN 1; END$$",
        "SELECT 1 FORM x"}) {
    AnswerJob(header, sql, {}, answer);
  }
  ReturnFreeMemory();
}

void RunJobs(channel::WorkerEnd& channel) {
  const auto tend = [&] {
    TidyUp();
    Report(channel);
  };
  tend();
  for (;;) {
    const channel::WorkerEnd::Job job = channel.NextJob(tend);
    StartCountingAllocations();
    PieceSink pieces(channel);
    channel.FinishJob(AnswerJob(job.header, job.text, job.comments, job.answer, &pieces));
    if (AllocatedBytes() > kLargeJobBytes || StackGrew()) TidyUp();
  }
}

}  // namespace pgparsed::worker
