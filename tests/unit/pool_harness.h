// What the tests of the pool share: a pool over a folder of fixture workers, and jobs that are
// waited for.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "pgparsed/errors.h"
#include "pool/pool.h"

namespace pgparsed::pool {

inline std::string FixtureDir(const std::string& name) {
  return std::string(PGPARSED_FIXTURES_DIR) + "/" + name;
}

// A folder for links to fixtures under names of the test's choice.
class WorkerFolder {
 public:
  WorkerFolder() {
    char path[] = "/tmp/pgparsed-pool-XXXXXX";
    path_ = mkdtemp(path);
  }
  ~WorkerFolder() { std::filesystem::remove_all(path_); }
  WorkerFolder(const WorkerFolder&) = delete;
  WorkerFolder& operator=(const WorkerFolder&) = delete;

  const std::string& path() const { return path_; }
  void Add(const std::string& fixture, uint32_t major) {
    std::filesystem::create_symlink(FixtureDir(fixture) + "/pgparsed-worker-99", File(major));
  }
  void Remove(uint32_t major) { std::filesystem::remove(File(major)); }
  std::string File(uint32_t major) const { return absl::StrCat(path_, "/pgparsed-worker-", major); }

 private:
  std::string path_;
};

// How a job ended. It holds no absl::Status: one that is shared between threads is counted in a
// library that ThreadSanitizer does not see into.
struct Outcome {
  bool ok = false;
  Reason reason = Reason::kNone;
  std::string message;
  std::string text;             // a copy of the first section
  std::shared_ptr<void> lease;  // kept if asked for
};

// A job on its way.
struct PendingJob {
  std::shared_ptr<JobHandle> handle;
  std::future<Outcome> outcome;
  bool ended() const {
    return outcome.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  }
  // Fails the test instead of hanging.
  Outcome Get() {
    if (outcome.wait_for(std::chrono::seconds(60)) != std::future_status::ready) {
      ADD_FAILURE() << "a job did not end within a minute";
      return {};
    }
    return outcome.get();
  }
};

struct JobOptions {
  uint32_t grammar = 99;
  Lane lane = Lane::kUnary;
  absl::Time deadline = absl::InfiniteFuture();
  bool keep_lease = false;
  std::string comments;
};

inline PendingJob SubmitTo(Pool& pool, std::string text, const JobOptions& options = {}) {
  auto promise = std::make_shared<std::promise<Outcome>>();
  PendingJob pending;
  pending.outcome = promise->get_future();
  Job job;
  job.grammar = options.grammar;
  job.lane = options.lane;
  job.header.operations = channel::kOpNormalize;
  job.header.max_answer_bytes = 64u << 20;
  job.text = std::move(text);
  job.comments = options.comments;
  job.deadline = options.deadline;
  job.done = [promise, keep = options.keep_lease](absl::StatusOr<JobAnswer> answer) {
    Outcome outcome;
    outcome.ok = answer.ok();
    outcome.reason = ReasonOf(answer.status());
    outcome.message = std::string(answer.status().message());
    if (answer.ok() && !answer->answer.sections.empty()) {
      outcome.text = std::string(answer->answer.sections[0].payload);
    }
    if (answer.ok() && keep) outcome.lease = answer->lease;
    promise->set_value(std::move(outcome));
  };
  pending.handle = pool.Submit(std::move(job));
  return pending;
}

// Waits until something is true; false after a minute.
inline bool Eventually(const std::function<bool()>& is_true) {
  for (int i = 0; i < 60'000; ++i) {
    if (is_true()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

class PoolTest : public ::testing::Test {
 protected:
  static PoolOptions Options(const std::string& fixture) {
    PoolOptions options;
    options.worker_dir = FixtureDir(fixture);
    options.workers = 1;
    options.spare_workers = 0;
    options.max_queue_time = absl::Minutes(1);
    options.worker_memory_limit = 64u << 20;
    return options;
  }

  void Start(const PoolOptions& options) {
    auto pool = Pool::Start(options);
    ASSERT_TRUE(pool.ok()) << pool.status();
    pool_ = *std::move(pool);
  }
  void Start(const std::string& fixture) { Start(Options(fixture)); }

  PendingJob Submit(std::string text, const JobOptions& options = {}) {
    return SubmitTo(*pool_, std::move(text), options);
  }
  Outcome Run(std::string text, const JobOptions& options = {}) {
    return Submit(std::move(text), options).Get();
  }

  std::unique_ptr<Pool> pool_;
};

}  // namespace pgparsed::pool
