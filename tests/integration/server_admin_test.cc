// AdminService, and what becomes of memory: figures, purges, replacement, limits, allocators.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "pgparsed/errors.h"
#include "test_server.h"

namespace pgparsed {
namespace {

using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr auto kGenerous = std::chrono::seconds(60);

bool Eventually(const std::function<bool()>& is_true) {
  const auto end = std::chrono::steady_clock::now() + kGenerous;
  while (!is_true()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

class ServerAdmin : public ::testing::Test {
 protected:
  void Start(std::vector<std::string> flags = {}) {
    RemoveFolder();
    // Beside the server's own socket, which lies in a folder of its own.
    char folder[] = "/tmp/pgparsed-admin-XXXXXX";
    folder_ = mkdtemp(folder);
    const std::string address = absl::StrCat("unix:", folder_, "/admin.sock");
    flags.push_back("--admin-listen=" + address);
    server_ = test::StartTestServer(std::move(flags));
    ASSERT_NE(server_.client, nullptr);
    auto admin = Client::Connect({.address = address});
    ASSERT_TRUE(admin.ok()) << admin.status();
    admin_ = *std::move(admin);
  }

  ~ServerAdmin() override { RemoveFolder(); }

  void RemoveFolder() {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }

  v1::GetStatsResponse Stats() {
    const auto stats = admin_->GetStats();
    EXPECT_TRUE(stats.ok()) << stats.status();
    return stats.value_or(v1::GetStatsResponse());
  }

  uint64_t Recycles(const std::string& reason) {
    uint64_t sum = 0;
    const v1::GetStatsResponse stats = Stats();
    for (const v1::RecycleCount& recycle : stats.recycles()) {
      if (recycle.reason() == reason) sum += recycle.count();
    }
    return sum;
  }

  std::set<uint32_t> Pids(uint32_t grammar) {
    std::set<uint32_t> pids;
    const v1::GetStatsResponse stats = Stats();
    for (const v1::WorkerStats& worker : stats.workers()) {
      if (worker.grammar() == grammar) pids.insert(worker.pid());
    }
    return pids;
  }

  uint32_t Default() { return test::Grammars(*server_.client).front(); }

  std::string folder_;
  test::TestServer server_;
  std::unique_ptr<Client> admin_;
};

// Some 60 MB of raw tree.
std::string LargeQuery() {
  std::string sql = "SELECT 1";
  for (int i = 0; i < 200'000; ++i) absl::StrAppend(&sql, ", a", i, " + ", i);
  return sql;
}

TEST_F(ServerAdmin, StatsTellOfEachWorker) {
  Start({"--workers=2"});
  ASSERT_TRUE(server_.client->ParseJson("SELECT 1").ok());
  const v1::GetStatsResponse stats = Stats();
  ASSERT_EQ(stats.workers_size(), 3) << "two and a spare";
  uint64_t jobs = 0;
  for (const v1::WorkerStats& worker : stats.workers()) {
    EXPECT_EQ(worker.grammar(), Default());
    EXPECT_GT(worker.pss_bytes(), 1u << 20);
    EXPECT_GT(worker.rss_bytes(), worker.pss_bytes());
    EXPECT_GT(worker.allocated_bytes(), 1000u);
    EXPECT_GE(worker.resident_bytes(), worker.allocated_bytes());
    EXPECT_GT(worker.channel_bytes(), 0u);
    EXPECT_THAT(worker.allocator(), Not(IsEmpty()));
    jobs += worker.jobs();
  }
  EXPECT_EQ(jobs, 1u);
  EXPECT_GE(stats.jobs_done(), 1u);
  EXPECT_GT(stats.front_pss_bytes(), 1u << 20);
}

TEST_F(ServerAdmin, IsNotOnTheOrdinaryListeners) {
  Start();
  EXPECT_EQ(server_.client->GetStats().status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(admin_->ParseJson("SELECT 1").status().code(), absl::StatusCode::kUnimplemented);
}

TEST_F(ServerAdmin, RecyclingReplacesEveryWorkerAndLosesNothing) {
  Start({"--workers=2"});
  const uint32_t grammar = Default();
  const std::set<uint32_t> before = Pids(grammar);
  std::atomic<bool> stop = false;
  std::atomic<int> calls = 0;
  std::thread load([&] {
    while (!stop) {
      EXPECT_TRUE(server_.client->ParseJson("SELECT 1").ok());
      ++calls;
    }
  });
  const auto recycled = admin_->RecycleWorkers();
  ASSERT_TRUE(recycled.ok()) << recycled.status();
  EXPECT_EQ(recycled->workers(), 3u);
  EXPECT_TRUE(Eventually([&] {
    const std::set<uint32_t> now = Pids(grammar);
    return now.size() == 3 &&
           std::none_of(now.begin(), now.end(), [&](uint32_t pid) { return before.contains(pid); });
  }));
  stop = true;
  load.join();
  EXPECT_GT(calls, 0);
  EXPECT_EQ(Recycles("request"), 3u);
  EXPECT_EQ(Recycles("crash"), 0u);

  v1::RecycleWorkersRequest unknown;
  unknown.set_grammar(99);
  EXPECT_EQ(ReasonOf(admin_->RecycleWorkers(unknown).status()), Reason::kUnsupportedGrammar);
}

TEST_F(ServerAdmin, NothingIsKeptOfALargeQuery) {
  const std::string sql = LargeQuery();
  for (const char* allocator : {"system", "jemalloc", "mimalloc"}) {
    SCOPED_TRACE(allocator);
    Start({"--workers=1", absl::StrCat("--allocator=", allocator)});
    EXPECT_THAT(std::string(Stats().workers(0).allocator()),
                StartsWith(std::string_view(allocator) == "system" ? "glibc" : allocator));
    const auto sum = [&] {
      uint64_t pss = 0;
      const v1::GetStatsResponse stats = Stats();
    for (const v1::WorkerStats& worker : stats.workers()) pss += worker.pss_bytes();
      return pss;
    };
    const uint64_t before = sum();
    ASSERT_TRUE(server_.client->ParseProtobuf(sql).ok());
    EXPECT_TRUE(Eventually([&] { return sum() < before + (8u << 20); })) << sum() << " " << before;
    const auto purged = admin_->PurgeMemory();
    ASSERT_TRUE(purged.ok()) << purged.status();
    EXPECT_GT(purged->rss_bytes_before(), 0u);
    EXPECT_LT(purged->rss_bytes_after(), purged->rss_bytes_before() + (8u << 20));
    EXPECT_EQ(Recycles("memory"), 0u) << "given back, not by a new process";
  }
}

TEST_F(ServerAdmin, AQueryOverTheMemoryLimitFailsAlone) {
  Start({"--workers=2", "--worker-memory-limit=64MiB"});
  const std::string sql = LargeQuery();
  std::atomic<bool> stop = false;
  std::thread load([&] {
    while (!stop) EXPECT_TRUE(server_.client->ParseJson("SELECT 1").ok());
  });
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(ReasonOf(server_.client->ParseProtobuf(sql).status()), Reason::kParserMemoryLimit);
  }
  stop = true;
  load.join();
  EXPECT_TRUE(Eventually([&] { return Stats().workers_size() == 3; }));
  EXPECT_TRUE(server_.client->ParseJson("SELECT 1").ok());
}

}  // namespace
}  // namespace pgparsed
