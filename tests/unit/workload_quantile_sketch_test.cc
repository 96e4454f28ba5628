#include "service/workload/quantile_sketch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace pgparsed::service {
namespace {

constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();

TEST(QuantileSketch, BucketsCoverAllValuesWithoutGapsOrOverlaps) {
  uint64_t next = 0;
  for (uint32_t bucket = 0; bucket < QuantileSketch::kBuckets; ++bucket) {
    const QuantileSketch::Range range = QuantileSketch::RangeOf(bucket);
    EXPECT_EQ(range.low, next) << bucket;
    EXPECT_GE(range.high, range.low) << bucket;
    EXPECT_EQ(QuantileSketch::BucketOf(range.low), bucket);
    EXPECT_EQ(QuantileSketch::BucketOf(range.high), bucket);
    next = range.high + 1;
  }
  EXPECT_EQ(next, 0u) << "the last bucket ends with the largest value";
}

TEST(QuantileSketch, ZeroAndSmallValuesAreExact) {
  for (uint64_t value = 0; value < 128; ++value) {
    QuantileSketch sketch;
    sketch.Add(value);
    EXPECT_EQ(sketch.Quantile(0.5), value);
  }
}

TEST(QuantileSketch, AnEmptySketchHasNoQuantilesAndNoBytes) {
  EXPECT_EQ(QuantileSketch().Quantile(0.5), 0u);
  EXPECT_EQ(QuantileSketch().Serialize(), "");
  EXPECT_EQ(*QuantileSketch::Parse(""), QuantileSketch());
}

TEST(QuantileSketch, WeightZeroAddsNothing) {
  QuantileSketch sketch;
  sketch.Add(5, 0);
  EXPECT_TRUE(sketch.empty());
}

class Distribution : public testing::TestWithParam<int> {
 protected:
  std::vector<uint64_t> Values(size_t count) const {
    std::mt19937_64 random(static_cast<uint64_t>(GetParam()) + 1);
    std::vector<uint64_t> values;
    while (values.size() < count) values.push_back(One(random));
    return values;
  }

 private:
  uint64_t One(std::mt19937_64& random) const {
    switch (GetParam()) {
      case 0:
        return random() % 100'000;
      case 1:
        return static_cast<uint64_t>(std::lognormal_distribution<>(7, 2)(random));
      case 2:
        return static_cast<uint64_t>(std::exponential_distribution<>(1e-4)(random));
      case 3:  // all magnitudes
        return random() >> (random() % 64);
      case 4:  // two peaks
        return random() % 10 == 0 ? 5'000'000 + random() % 1000 : 200 + random() % 20;
      case 5:
        return 123'456'789;
      default:  // the largest values that there are
        return kMost - random() % 1000;
    }
  }
};

TEST_P(Distribution, QuantilesAreWithinTheStatedError) {
  std::vector<uint64_t> values = Values(20'000);
  QuantileSketch sketch;
  for (const uint64_t value : values) sketch.Add(value);
  std::sort(values.begin(), values.end());
  for (const double q : {0.0, 0.001, 0.25, 0.5, 0.9, 0.95, 0.99, 0.999, 1.0}) {
    const auto rank = std::max<size_t>(
        (values.size() * static_cast<size_t>(std::llround(q * 1e6)) + 999'999) / 1'000'000, 1);
    const auto exact = static_cast<long double>(values[rank - 1]);
    const auto got = static_cast<long double>(sketch.Quantile(q));
    EXPECT_LE(std::fabs(got - exact), exact * QuantileSketch::kRelativeError) << q;
  }
}

TEST_P(Distribution, AnyPartitionMergedInAnyOrderIsTheSketchOfTheWhole) {
  const std::vector<uint64_t> values = Values(5'000);
  std::mt19937_64 random(42);
  QuantileSketch whole;
  std::vector<QuantileSketch> parts(16);
  for (const uint64_t value : values) {
    const uint64_t weight = 1 + random() % 5;
    whole.Add(value, weight);
    parts[random() % parts.size()].Add(value, weight);
  }
  for (int round = 0; round < 5; ++round) {
    std::shuffle(parts.begin(), parts.end(), random);
    QuantileSketch merged;
    for (const QuantileSketch& part : parts) merged.Merge(part);
    EXPECT_EQ(merged.Serialize(), whole.Serialize());
  }
}

TEST_P(Distribution, SerializingLosesNothing) {
  QuantileSketch sketch;
  for (const uint64_t value : Values(1'000)) sketch.Add(value, 3);
  const absl::StatusOr<QuantileSketch> read = QuantileSketch::Parse(sketch.Serialize());
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, sketch);
}

INSTANTIATE_TEST_SUITE_P(All, Distribution, testing::Range(0, 7));

TEST(QuantileSketch, AWeightCountsLikeSoManyValues) {
  QuantileSketch weighted, single;
  weighted.Add(1000, 7);
  weighted.Add(10, 3);
  for (int i = 0; i < 7; ++i) single.Add(1000);
  for (int i = 0; i < 3; ++i) single.Add(10);
  EXPECT_EQ(weighted, single);
  EXPECT_EQ(weighted.Quantile(0.3), 10u);
  EXPECT_GT(weighted.Quantile(0.31), 900u);
}

TEST(QuantileSketch, CountsStayAtTheirLargestValueInAnyOrder) {
  QuantileSketch a, b;
  a.Add(7, kMost - 1);
  b.Add(7, 5);
  QuantileSketch ab = a, ba = b;
  ab.Merge(b);
  ba.Merge(a);
  EXPECT_EQ(ab.buckets(), (std::vector<QuantileSketch::Bucket>{{7, kMost}}));
  EXPECT_EQ(ab, ba);
  ab.Add(kMost, kMost);
  EXPECT_EQ(ab.Quantile(0.5), 7u);
  EXPECT_GT(ab.Quantile(0.500001), 7u);
}

TEST(QuantileSketch, ASketchOfAllBucketsIsItsLargest) {
  QuantileSketch sketch;
  for (uint32_t bucket = 0; bucket < QuantileSketch::kBuckets; ++bucket) {
    sketch.Add(QuantileSketch::RangeOf(bucket).high, kMost);
  }
  const absl::StatusOr<QuantileSketch> read = QuantileSketch::Parse(sketch.Serialize());
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->buckets().size(), QuantileSketch::kBuckets);
  EXPECT_EQ(read->Quantile(1), QuantileSketch::RangeOf(QuantileSketch::kBuckets - 1).low +
                                   ((uint64_t{1} << 57) - 1) / 2);
}

std::string Bytes(std::initializer_list<int> bytes) {
  std::string out;
  for (const int byte : bytes) out.push_back(static_cast<char>(byte));
  return out;
}

TEST(QuantileSketch, WhatSerializeDoesNotGiveIsRefused) {
  const std::vector<std::pair<const char*, std::string>> cases = {
      {"unknown version", Bytes({2, 0, 1})},
      {"no buckets", Bytes({1})},
      {"no count", Bytes({1, 5})},
      {"cut in a varint", Bytes({1, 5, 0x80})},
      {"empty bucket", Bytes({1, 5, 0})},
      {"varint with a useless byte", Bytes({1, 0x85, 0, 1})},
      {"varint of more than 64 bits",
       Bytes({1, 5, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 2})},
      {"varint without an end",
       Bytes({1, 5, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1})},
      {"bucket 3776", Bytes({1, 0xC0, 0x1D, 1})},
      {"buckets up to 3776", Bytes({1, 0xBF, 0x1D, 1, 0, 1})},
      {"a skip that would wrap around",
       Bytes({1, 5, 1, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1, 1})}};
  for (const auto& [what, bytes] : cases) {
    EXPECT_EQ(QuantileSketch::Parse(bytes).status().code(), absl::StatusCode::kInvalidArgument)
        << what;
  }
  EXPECT_TRUE(QuantileSketch::Parse(Bytes({1, 0xBF, 0x1D, 1})).ok()) << "bucket 3775";
}

TEST(QuantileSketch, RandomBytesAreRefusedOrReadAsTheyAre) {
  std::mt19937_64 random(7);
  int accepted = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes = "\x01";
    for (uint64_t n = random() % 12; n > 0; --n) bytes.push_back(static_cast<char>(random() >> 11));
    const absl::StatusOr<QuantileSketch> read = QuantileSketch::Parse(bytes);
    if (!read.ok()) continue;
    ++accepted;
    EXPECT_EQ(read->Serialize(), bytes);
  }
  EXPECT_GT(accepted, 100);
}

}  // namespace
}  // namespace pgparsed::service
