// AggregateWorkload of a running server: shards of a log, merged, against the log in one stream.

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "pgparsed/errors.h"
#include "test_server.h"

namespace pgparsed {
namespace {

using Chunk = v1::AggregateWorkloadRequest::Chunk;
using Options = v1::AggregateWorkloadRequest::Options;

constexpr size_t kShards = 16;

std::string Bytes(const v1::WorkloadReport& report) { return report.SerializeAsString(); }

// A query of one of 40 shapes, 3 tables and 4 statement types; one of 50 is wrong.
std::string Query(std::mt19937_64& random) {
  const uint64_t shape = random() % 40;
  const std::string column = absl::StrCat("c", shape);
  const std::string table = absl::StrCat("t", shape % 3);
  const uint64_t value = random() % 1000;
  if (random() % 50 == 0) return absl::StrCat("SELEC ", value);
  switch (shape % 4) {
    case 0:
      return absl::StrCat("SELECT ", column, " FROM ", table, " WHERE id = ", value);
    case 1:
      return absl::StrCat("INSERT INTO ", table, " (", column, ") VALUES (", value, ")");
    case 2:
      return absl::StrCat("UPDATE ", table, " SET ", column, " = ", value);
    default:
      return absl::StrCat("DELETE FROM ", table, " WHERE ", column, " = ", value);
  }
}

// A log in chunks; each says where it stands.
std::vector<Chunk> Log(size_t chunks, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Chunk> log(chunks);
  uint64_t index = 0;
  for (Chunk& chunk : log) {
    chunk.set_first_index(index);
    for (size_t i = 0; i < 50; ++i, ++index) {
      chunk.add_queries(Query(random));
      chunk.add_duration_us(random() >> (random() % 44 + 20));
      chunk.add_rows(random() % 100);
      chunk.add_weight(random() % 3);
    }
  }
  return log;
}

class ServerWorkload : public test::SharedServer {
 protected:
  static Options By(std::vector<v1::WorkloadKey> keys, uint32_t grammar = 0) {
    Options options;
    options.set_grammar(grammar);
    for (const v1::WorkloadKey key : keys) options.add_keys(key);
    return options;
  }

  static absl::StatusOr<v1::WorkloadReport> Report(
      const Options& options, const std::vector<Chunk>& chunks,
      const std::vector<v1::WorkloadReport>& earlier = {}) {
    size_t next = 0;
    return client().AggregateWorkload(options, [&](v1::AggregateWorkloadRequest& part) {
      if (next < chunks.size()) {
        *part.mutable_chunk() = chunks[next];
      } else if (next < chunks.size() + earlier.size()) {
        *part.mutable_report() = earlier[next - chunks.size()];
      }
      return next++ < chunks.size() + earlier.size();
    });
  }
};

TEST_F(ServerWorkload, AReportLargerThanARequestMergesIntoItself) {
  std::vector<Chunk> log(40);
  const std::string column(4'000, 'c');
  for (size_t i = 0; i < 4'800; ++i) {
    // Digits in the name of a table do not count for the fingerprint.
    std::string table = "t_";
    for (size_t rest = i; rest > 0; rest /= 26) table += static_cast<char>('a' + rest % 26);
    log[i % log.size()].add_queries(absl::StrCat("SELECT 1 AS ", column, " FROM ", table));
  }
  const Options options = By({v1::WORKLOAD_KEY_FINGERPRINT});
  const auto whole = Report(options, log);
  ASSERT_TRUE(whole.ok()) << whole.status();
  EXPECT_EQ(whole->groups_size(), 4'800);
  ASSERT_GT(whole->ByteSizeLong(), 18u << 20) << "more than the server takes in one message";
  const auto merged = Report(options, {}, {*whole});
  ASSERT_TRUE(merged.ok()) << merged.status();
  EXPECT_EQ(Bytes(*merged), Bytes(*whole));
}

TEST_F(ServerWorkload, SixteenShardsMergedAreTheReportOnTheWholeLog) {
  const std::vector<Chunk> log = Log(200, 1);
  for (const auto& keys : std::vector<std::vector<v1::WorkloadKey>>{
           {v1::WORKLOAD_KEY_FINGERPRINT},
           {v1::WORKLOAD_KEY_TABLE, v1::WORKLOAD_KEY_STATEMENT_TYPE},
           {v1::WORKLOAD_KEY_FINGERPRINT, v1::WORKLOAD_KEY_TABLE}}) {
    for (const uint32_t grammar : grammars_) {
      const Options options = By(keys, grammar);
      const auto whole = Report(options, log);
      ASSERT_TRUE(whole.ok()) << whole.status();
      EXPECT_EQ(whole->queries(), 10'000u);
      EXPECT_GT(whole->errors(), 100u);

      std::mt19937_64 random(2);
      std::vector<std::vector<Chunk>> shards(kShards);
      for (const Chunk& chunk : log) shards[random() % kShards].push_back(chunk);
      std::vector<v1::WorkloadReport> reports;
      for (const std::vector<Chunk>& shard : shards) {
        const auto report = Report(options, shard);
        ASSERT_TRUE(report.ok()) << report.status();
        reports.push_back(*report);
      }
      std::shuffle(reports.begin(), reports.end(), random);
      const auto merged = Report(options, {}, reports);
      ASSERT_TRUE(merged.ok()) << merged.status();
      EXPECT_EQ(Bytes(*merged), Bytes(*whole)) << "grammar " << grammar;

      // Half from the log, half from reports.
      std::vector<Chunk> half;
      for (size_t i = 0; i < kShards / 2; ++i) {
        half.insert(half.end(), shards[i].begin(), shards[i].end());
      }
      std::vector<v1::WorkloadReport> others;
      for (size_t i = kShards / 2; i < kShards; ++i) {
        const auto report = Report(options, shards[i]);
        ASSERT_TRUE(report.ok()) << report.status();
        others.push_back(*report);
      }
      const auto mixed = Report(options, half, others);
      ASSERT_TRUE(mixed.ok()) << mixed.status();
      EXPECT_EQ(Bytes(*mixed), Bytes(*whole));
    }
  }
}

TEST_F(ServerWorkload, TheTopGroupsAndTheRestAddUp) {
  const std::vector<Chunk> log = Log(40, 3);
  const auto whole = Report(By({v1::WORKLOAD_KEY_FINGERPRINT}), log);
  ASSERT_TRUE(whole.ok()) << whole.status();
  Options options = By({v1::WORKLOAD_KEY_FINGERPRINT});
  options.set_top(5);
  options.set_order(v1::WORKLOAD_ORDER_CALLS);
  const auto top = Report(options, log);
  ASSERT_TRUE(top.ok()) << top.status();
  ASSERT_EQ(top->groups_size(), 5);
  EXPECT_EQ(top->other_groups(), static_cast<uint64_t>(whole->groups_size() - 5));
  const auto calls = [](const v1::WorkloadReport& report) {
    uint64_t sum = report.other().calls();
    for (const v1::WorkloadGroup& group : report.groups()) sum += group.calls();
    return sum;
  };
  EXPECT_EQ(calls(*top), calls(*whole));
  for (int i = 1; i < top->groups_size(); ++i) {
    EXPECT_GE(top->groups(i - 1).calls(), top->groups(i).calls());
  }
}

TEST_F(ServerWorkload, GroupsHaveTheTextOfTheirFirstQueryOnly) {
  Chunk chunk;
  for (const char* query : {"SELECT 1 -- first", "SELECT 2 -- second", "SELECT a"}) {
    chunk.add_queries(query);
  }
  const auto report = Report(By({v1::WORKLOAD_KEY_FINGERPRINT}), {chunk});
  ASSERT_TRUE(report.ok()) << report.status();
  ASSERT_EQ(report->groups_size(), 2);
  EXPECT_EQ(report->groups(0).normalized_query(), "SELECT $1 -- first");
  EXPECT_EQ(report->groups(0).calls(), 2u);
  EXPECT_EQ(report->groups(1).normalized_query(), "SELECT a");
}

TEST_F(ServerWorkload, WrongRequestsAreRefused) {
  Chunk uneven;
  uneven.add_queries("SELECT 1");
  uneven.add_duration_us(1);
  uneven.add_duration_us(2);
  EXPECT_EQ(ReasonOf(Report(By({v1::WORKLOAD_KEY_FINGERPRINT}), {uneven}).status()),
            Reason::kInvalidRequest);
  EXPECT_EQ(ReasonOf(Report(By({}), {}).status()), Reason::kInvalidRequest) << "no key";
  const auto report = Report(By({v1::WORKLOAD_KEY_FINGERPRINT}), Log(1, 4));
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(ReasonOf(Report(By({v1::WORKLOAD_KEY_TABLE}), {}, {*report}).status()),
            Reason::kInvalidRequest)
      << "of other keys";
  v1::WorkloadReport forged = *report;
  forged.mutable_groups(0)->set_calls(1);
  forged.mutable_groups(0)->set_timed_calls(1u << 30);
  EXPECT_EQ(ReasonOf(Report(By({v1::WORKLOAD_KEY_FINGERPRINT}), {}, {forged}).status()),
            Reason::kInvalidRequest)
      << "does not agree with itself";
}

}  // namespace
}  // namespace pgparsed
