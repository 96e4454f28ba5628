#include "cpp/report_parts.h"

#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace pgparsed::client {
namespace {

v1::WorkloadReport Report(int groups) {
  v1::WorkloadReport report;
  report.set_grammar(17);
  report.add_keys(v1::WORKLOAD_KEY_FINGERPRINT);
  report.add_quantiles(0.5);
  report.set_queries(1'000);
  report.set_errors(3);
  report.set_other_groups(2);
  report.mutable_other()->set_calls(5);
  for (int i = 0; i < groups; ++i) {
    v1::WorkloadGroup& group = *report.add_groups();
    group.set_fingerprint(static_cast<uint64_t>(i));
    group.set_calls(1);
    group.set_normalized_query(std::string(100, 'q'));
  }
  return report;
}

std::vector<v1::WorkloadReport> PartsOf(v1::WorkloadReport report, size_t max_bytes) {
  ReportParts parts(std::move(report), max_bytes);
  std::vector<v1::WorkloadReport> all;
  for (v1::WorkloadReport part; parts.Next(part); part.Clear()) all.push_back(part);
  return all;
}

TEST(ReportParts, WhatFitsIsOnePart) {
  const auto parts = PartsOf(Report(3), 10'000);
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(parts[0], Report(3)));
}

TEST(ReportParts, AReportWithoutGroupsIsOnePart) {
  const auto parts = PartsOf(Report(0), 1);
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(parts[0], Report(0)));
}

TEST(ReportParts, EveryGroupComesOnceAndTotalsAddUp) {
  const auto parts = PartsOf(Report(100), 1'000);
  ASSERT_GT(parts.size(), 10u);
  v1::WorkloadReport joined = parts.back();
  joined.clear_groups();
  joined.clear_queries();
  for (const v1::WorkloadReport& part : parts) {
    EXPECT_LE(part.ByteSizeLong(), 1'000u);
    EXPECT_EQ(part.grammar(), 17u);
    EXPECT_EQ(part.keys_size(), 1);
    EXPECT_EQ(part.quantiles_size(), 1);
    EXPECT_GE(part.queries(), static_cast<uint64_t>(part.groups_size()));
    if (&part != &parts.back()) {
      EXPECT_EQ(part.errors(), 0u);
      EXPECT_EQ(part.other_groups(), 0u);
      EXPECT_FALSE(part.has_other());
    }
    joined.set_queries(joined.queries() + part.queries());
    for (const v1::WorkloadGroup& group : part.groups()) *joined.add_groups() = group;
  }
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(joined, Report(100)));
}

// As when each query names many tables.
TEST(ReportParts, NoPartIsWithoutQueries) {
  v1::WorkloadReport report = Report(100);
  report.set_queries(report.errors() + 3);
  const auto parts = PartsOf(report, 1'000);
  uint64_t queries = 0;
  for (const v1::WorkloadReport& part : parts) {
    EXPECT_GT(part.queries(), part.errors());
    queries += part.queries();
  }
  EXPECT_EQ(queries, report.queries());
}

TEST(ReportParts, AGroupThatIsLargerThanAPartStandsAlone) {
  const auto parts = PartsOf(Report(3), 1);
  ASSERT_EQ(parts.size(), 3u);
  for (const auto& part : parts) EXPECT_EQ(part.groups_size(), 1);
}

}  // namespace
}  // namespace pgparsed::client
