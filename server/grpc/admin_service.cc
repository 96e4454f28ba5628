#include <malloc.h>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "grpc/services.h"
#include "grpc/status.h"
#include "pgparsed/errors.h"
#include "pgparsed/v1/admin.grpc.pb.h"
#include "pool/process_memory.h"
#include "service/stats.h"

namespace pgparsed::grpc_door {
namespace {

// The longest that a purge waits for the memory of workers to go down, and how often it looks.
constexpr absl::Duration kLongestPurge = absl::Milliseconds(500);
constexpr absl::Duration kPurgeStep = absl::Milliseconds(20);

// Of a listener of its own, with few callers: its methods may block.
class AdminServiceImpl final : public v1::AdminService::Service {
 public:
  explicit AdminServiceImpl(pool::Pool& pool) : pool_(pool) {}

  grpc::Status GetStats(grpc::ServerContext*, const v1::GetStatsRequest*,
                        v1::GetStatsResponse* response) override {
    *response = service::CollectStats(pool_, started_);
    return grpc::Status::OK;
  }

  grpc::Status RecycleWorkers(grpc::ServerContext* context,
                              const v1::RecycleWorkersRequest* request,
                              v1::RecycleWorkersResponse* response) override {
    if (absl::Status status = Check(request->grammar()); !status.ok()) {
      return FinishWith(status, *context);
    }
    response->set_workers(pool_.RecycleWorkers(request->grammar()));
    return grpc::Status::OK;
  }

  grpc::Status PurgeMemory(grpc::ServerContext* context, const v1::PurgeMemoryRequest* request,
                           v1::PurgeMemoryResponse* response) override {
    if (absl::Status status = Check(request->grammar()); !status.ok()) {
      return FinishWith(status, *context);
    }
    response->set_rss_bytes_before(WorkerRss(request->grammar()));
    pool_.PurgeMemory(request->grammar());
    malloc_trim(0);  // the front's own
    // Until it does not go down any more: workers say nothing of it, and busy ones purge later.
    uint64_t last = response->rss_bytes_before();
    for (absl::Time end = absl::Now() + kLongestPurge; absl::Now() < end;) {
      absl::SleepFor(kPurgeStep);
      const uint64_t now = WorkerRss(request->grammar());
      const bool settled = now >= last;
      last = now;
      if (settled) break;
    }
    response->set_rss_bytes_after(last);
    return grpc::Status::OK;
  }

 private:
  absl::Status Check(uint32_t grammar) const {
    if (grammar == 0) return absl::OkStatus();
    for (const pool::GrammarStatus& status : pool_.Grammars()) {
      if (status.major == grammar) return absl::OkStatus();
    }
    return MakeError(Reason::kUnsupportedGrammar,
                     absl::StrCat("there is no grammar ", grammar, " here"));
  }

  uint64_t WorkerRss(uint32_t grammar) const {
    uint64_t sum = 0;
    for (const pool::WorkerStatus& worker : pool_.WorkerStatuses()) {
      if (grammar != 0 && worker.grammar != grammar) continue;
      if (const auto memory = pool::ReadProcessMemory(worker.pid)) sum += memory->rss;
    }
    return sum;
  }

  pool::Pool& pool_;
  const absl::Time started_ = absl::Now();
};

}  // namespace

std::unique_ptr<grpc::Service> MakeAdminService(pool::Pool& pool) {
  return std::make_unique<AdminServiceImpl>(pool);
}

}  // namespace pgparsed::grpc_door
