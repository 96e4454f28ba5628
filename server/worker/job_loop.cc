#include "worker/job_loop.h"

#include <cstddef>
#include <vector>

#include "worker/large_stack.h"
#include "worker/memory.h"
#include "worker/operations.h"
#include "worker/piece_sink.h"

namespace pgparsed::worker {
namespace {

// A job that allocated more than this has left something to give back.
constexpr uint64_t kLargeJobBytes = 1u << 20;

void TidyUp() {
  const bool large = AllocatedBytes() > kLargeJobBytes || StackGrew();
  if (!large) return;
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
  for (;;) {
    const channel::WorkerEnd::Job job = channel.NextJob();
    StartCountingAllocations();
    PieceSink pieces(channel);
    channel.FinishJob(AnswerJob(job.header, job.text, job.comments, job.answer, &pieces));
    TidyUp();
  }
}

}  // namespace pgparsed::worker
