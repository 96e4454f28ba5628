// Workers are killed while calls run: every call is answered, and rightly.

#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "pgparsed/errors.h"
#include "test_server.h"

namespace pgparsed {
namespace {

constexpr int kCalls = 10'000;
constexpr int kInFlight = 16;
constexpr auto kBetweenKills = std::chrono::milliseconds(200);

TEST(ServerKill, EveryCallIsAnsweredRightlyWhileWorkersAreKilled) {
  test::TestServer server = test::StartTestServer();
  ASSERT_NE(server.client, nullptr);

  std::atomic<bool> over{false};
  std::atomic<int> kills{0};
  std::thread killer([&] {
    size_t next = 0;
    while (!over) {
      std::this_thread::sleep_for(kBetweenKills);
      const std::vector<pid_t> workers = test::ChildrenOf(server.server->pid());
      if (workers.empty()) continue;
      if (kill(workers[next++ % workers.size()], SIGKILL) == 0) ++kills;
    }
  });

  std::mutex mutex;
  std::condition_variable changed;
  int running = 0, answered = 0, wrong = 0;
  std::string first_wrong;
  for (int i = 0; i < kCalls; ++i) {
    {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return running < kInFlight; });
      ++running;
    }
    // Statements long enough that a kill often hits one, each with an answer of its own.
    const std::string number = std::to_string(i);
    std::string sql = "SELECT a" + number + " FROM t WHERE b IN (";
    for (int k = 0; k < 200; ++k) sql += (k ? ",c" : "c") + std::to_string(k);
    sql += ") AND d = " + number;
    v1::NormalizeRequest request;
    request.set_query(sql);
    std::string expected = sql.substr(0, sql.size() - number.size()) + "$1";
    server.client->NormalizeAsync(
        request, [&, expected](absl::StatusOr<v1::NormalizeResponse> answer) {
          const std::lock_guard lock(mutex);
          --running;
          ++answered;
          if (!answer.ok() || answer->query() != expected) {
            ++wrong;
            if (first_wrong.empty()) {
              first_wrong = answer.ok() ? "another text" : answer.status().ToString();
            }
          }
          changed.notify_one();
        });
  }
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return answered == kCalls; });
  }
  over = true;
  killer.join();
  EXPECT_EQ(wrong, 0) << first_wrong;
  EXPECT_GT(kills, 0);
  RecordProperty("kills", kills);
  EXPECT_TRUE(server.client->ParseJson("SELECT 1").ok());
}

}  // namespace
}  // namespace pgparsed
