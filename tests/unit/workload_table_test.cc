#include "service/workload/workload_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace pgparsed::service {
namespace {

constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();

// An entry that owns what it says.
struct Call {
  uint64_t fingerprint = 1;
  std::string type = "SelectStmt";
  std::vector<std::string> tables;
  std::string text;
  std::optional<uint64_t> duration_us;
  std::optional<uint64_t> rows;
  uint64_t weight = 1;
  uint64_t index = 0;
};

void Add(WorkloadTable& table, const Call& call) {
  std::vector<std::string_view> tables(call.tables.begin(), call.tables.end());
  table.Add({.fingerprint = call.fingerprint,
             .statement_type = call.type,
             .tables = tables,
             .normalized = [&]() -> std::string_view { return call.text; },
             .duration_us = call.duration_us,
             .rows = call.rows,
             .weight = call.weight,
             .index = call.index});
}

std::unique_ptr<WorkloadTable> Table(WorkloadOptions options = {}) {
  if (options.keys.empty()) options.keys = {v1::WORKLOAD_KEY_FINGERPRINT};
  if (options.grammar == 0) options.grammar = 18;
  absl::StatusOr<std::unique_ptr<WorkloadTable>> table = WorkloadTable::Create(std::move(options));
  EXPECT_TRUE(table.ok()) << table.status();
  return *std::move(table);
}

std::string Bytes(const v1::WorkloadReport& report) { return report.SerializeAsString(); }

absl::uint128 Value(const v1::Sum128& sum) { return absl::MakeUint128(sum.high(), sum.low()); }

std::vector<Call> Log(size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Call> log;
  const std::array<const char*, 4> types = {"SelectStmt", "InsertStmt", "UpdateStmt", "DeleteStmt"};
  for (size_t i = 0; i < count; ++i) {
    Call call;
    call.fingerprint = random() % 50;
    call.type = types[call.fingerprint % 4];
    for (uint64_t n = random() % 4; n > 0; --n) {
      call.tables.push_back(absl::StrCat("t", random() % 5));
    }
    // The text differs between queries of one fingerprint.
    call.text = absl::StrCat("query ", call.fingerprint, " ", random() % 3);
    if (random() % 4 != 0) call.duration_us = random() >> (20 + random() % 44);
    if (random() % 3 != 0) call.rows = random() % 1000;
    call.weight = random() % 8 == 0 ? random() % 100 : 1;
    call.index = i;
    log.push_back(std::move(call));
  }
  return log;
}

const std::vector<std::vector<v1::WorkloadKey>>& KeySets() {
  static const auto* const sets = new std::vector<std::vector<v1::WorkloadKey>>{
      {v1::WORKLOAD_KEY_FINGERPRINT},
      {v1::WORKLOAD_KEY_STATEMENT_TYPE},
      {v1::WORKLOAD_KEY_TABLE},
      {v1::WORKLOAD_KEY_TABLE, v1::WORKLOAD_KEY_FINGERPRINT, v1::WORKLOAD_KEY_STATEMENT_TYPE}};
  return *sets;
}

TEST(WorkloadTable, ReportsOfPartsMergedInAnyOrderAreTheReportOnTheWhole) {
  const std::vector<Call> log = Log(3'000, 1);
  for (const auto& keys : KeySets()) {
    const WorkloadOptions options{.grammar = 17, .keys = keys};
    std::mt19937_64 random(2);
    auto whole = Table(options);
    std::vector<std::unique_ptr<WorkloadTable>> parts;
    for (int i = 0; i < 16; ++i) parts.push_back(Table(options));
    for (const Call& call : log) {
      Add(*whole, call);
      Add(*parts[random() % parts.size()], call);
    }
    whole->AddError();
    parts[3]->AddError();
    for (int round = 0; round < 4; ++round) {
      std::shuffle(parts.begin(), parts.end(), random);
      auto merged = Table(options);
      for (const auto& part : parts) {
        const absl::Status status = merged->Merge(part->Report());
        ASSERT_TRUE(status.ok()) << status;
      }
      EXPECT_EQ(Bytes(merged->Report()), Bytes(whole->Report()));
    }
    // And as a tree: parts into halves, halves into one.
    auto left = Table(options), right = Table(options);
    for (size_t i = 0; i < parts.size(); ++i) {
      ASSERT_TRUE((i % 2 == 0 ? left : right)->Merge(parts[i]->Report()).ok());
    }
    ASSERT_TRUE(left->Merge(right->Report()).ok());
    EXPECT_EQ(Bytes(left->Report()), Bytes(whole->Report()));
  }
}

TEST(WorkloadTable, EntriesMayComeInAnyOrder) {
  std::vector<Call> log = Log(1'000, 3);
  auto forwards = Table(), shuffled = Table();
  for (const Call& call : log) Add(*forwards, call);
  std::shuffle(log.begin(), log.end(), std::mt19937_64(4));
  for (const Call& call : log) Add(*shuffled, call);
  EXPECT_EQ(Bytes(forwards->Report()), Bytes(shuffled->Report()));
}

TEST(WorkloadTable, AGroupSaysWhatItsCallsWere) {
  auto table = Table({.postgres_version_num = 180001});
  Add(*table, {.text = "SELECT $1", .duration_us = 100, .rows = 3, .weight = 2, .index = 5});
  Add(*table, {.text = "select $1", .duration_us = 20, .rows = 1, .index = 9});
  Add(*table, {.text = "select $1", .index = 11});
  const v1::WorkloadReport report = table->Report();
  EXPECT_EQ(report.grammar(), 18u);
  EXPECT_EQ(report.postgres_version_num(), 180001u);
  EXPECT_EQ(report.queries(), 3u);
  EXPECT_EQ(report.quantiles_size(), 3);
  EXPECT_DOUBLE_EQ(report.quantile_error(), 1.0 / 128);
  EXPECT_FALSE(report.has_other());
  ASSERT_EQ(report.groups_size(), 1);
  const v1::WorkloadGroup& group = report.groups(0);
  EXPECT_EQ(group.fingerprint(), 1u);
  EXPECT_EQ(group.statement_type(), "") << "no key";
  EXPECT_EQ(group.normalized_query(), "SELECT $1");
  EXPECT_EQ(group.calls(), 4u);
  EXPECT_EQ(group.timed_calls(), 3u);
  EXPECT_EQ(Value(group.total_duration_us()), 220);
  EXPECT_EQ(group.mean_duration_us(), 73u);
  EXPECT_EQ(group.min_duration_us(), 20u);
  EXPECT_EQ(group.max_duration_us(), 100u);
  EXPECT_EQ(Value(group.total_rows()), 7);
  EXPECT_EQ(group.first_index(), 5u);
  EXPECT_EQ(group.last_index(), 11u);
  EXPECT_EQ(std::vector<uint64_t>(group.duration_quantiles_us().begin(),
                                  group.duration_quantiles_us().end()),
            (std::vector<uint64_t>{100, 100, 100}));
}

TEST(WorkloadTable, QuantilesLieBetweenTheShortestAndTheLongest) {
  auto table = Table();
  Add(*table, {.duration_us = 1'000'003});
  EXPECT_EQ(table->Report().groups(0).duration_quantiles_us(0), 1'000'003u);
}

TEST(WorkloadTable, SumsAreExactBeyond64Bits) {
  auto table = Table();
  Add(*table, {.duration_us = kMost, .rows = kMost, .weight = kMost});
  const v1::WorkloadGroup group = table->Report().groups(0);
  EXPECT_EQ(Value(group.total_duration_us()), absl::uint128(kMost) * kMost);
  EXPECT_EQ(Value(group.total_rows()), absl::uint128(kMost) * kMost);
  EXPECT_EQ(group.mean_duration_us(), kMost);
}

TEST(WorkloadTable, WhatOverflowsStaysAtTheLargestValueAndStillMerges) {
  auto once = Table(), twice = Table();
  Add(*once, {.duration_us = kMost, .rows = kMost, .weight = kMost});
  ASSERT_TRUE(twice->Merge(once->Report()).ok());
  ASSERT_TRUE(twice->Merge(once->Report()).ok());
  const v1::WorkloadGroup group = twice->Report().groups(0);
  EXPECT_EQ(group.calls(), kMost);
  EXPECT_EQ(Value(group.total_duration_us()), absl::Uint128Max());
  EXPECT_TRUE(once->Merge(twice->Report()).ok()) << "a report of ours is never refused";
}

TEST(WorkloadTable, WeightZeroCountsAsAQueryOnly) {
  auto table = Table();
  Add(*table, {.duration_us = 5, .weight = 0});
  EXPECT_EQ(table->Report().queries(), 1u);
  EXPECT_EQ(table->Report().groups_size(), 0);
}

TEST(WorkloadTable, ErrorsAreQueriesInNoGroup) {
  auto table = Table();
  table->AddError();
  Add(*table, {});
  EXPECT_EQ(table->Report().queries(), 2u);
  EXPECT_EQ(table->Report().errors(), 1u);
  EXPECT_EQ(table->Report().groups(0).calls(), 1u);
}

TEST(WorkloadTable, AQueryCountsOnceForEachTableAndUnderTheEmptyNameWithoutAny) {
  auto table = Table({.keys = {v1::WORKLOAD_KEY_TABLE}, .order = v1::WORKLOAD_ORDER_CALLS});
  Add(*table, {.tables = {"a", "b", "a"}, .text = "not called for"});
  Add(*table, {.tables = {"b"}});
  Add(*table, {});
  const v1::WorkloadReport report = table->Report();
  EXPECT_EQ(report.queries(), 3u);
  std::map<std::string, uint64_t> calls;
  for (const auto& group : report.groups()) {
    calls[group.table()] = group.calls();
    EXPECT_EQ(group.normalized_query(), "");
  }
  EXPECT_EQ(calls, (std::map<std::string, uint64_t>{{"a", 1}, {"b", 2}, {"", 1}}));
}

TEST(WorkloadTable, TheOrderIsTheAskedOneAndTiesGoByCallsAndKey) {
  const auto order = [](v1::WorkloadOrder by) {
    auto table = Table({.order = by});
    Add(*table, {.fingerprint = 1, .duration_us = 100, .rows = 1});
    Add(*table, {.fingerprint = 2, .duration_us = 30, .rows = 2, .weight = 5});
    Add(*table, {.fingerprint = 3, .duration_us = 30, .rows = 10});
    Add(*table, {.fingerprint = 3, .duration_us = 101});
    Add(*table, {.fingerprint = 5});
    Add(*table, {.fingerprint = 4});
    std::vector<uint64_t> fingerprints;
    const v1::WorkloadReport report = table->Report();
    for (const auto& group : report.groups()) fingerprints.push_back(group.fingerprint());
    return fingerprints;
  };
  using List = std::vector<uint64_t>;
  EXPECT_EQ(order(v1::WORKLOAD_ORDER_UNSPECIFIED), (List{2, 3, 1, 4, 5}));
  EXPECT_EQ(order(v1::WORKLOAD_ORDER_TOTAL_DURATION), (List{2, 3, 1, 4, 5}));
  EXPECT_EQ(order(v1::WORKLOAD_ORDER_CALLS), (List{2, 3, 1, 4, 5}));
  EXPECT_EQ(order(v1::WORKLOAD_ORDER_MEAN_DURATION), (List{1, 3, 2, 4, 5}));
  EXPECT_EQ(order(v1::WORKLOAD_ORDER_MAX_DURATION), (List{3, 1, 2, 4, 5}));
  EXPECT_EQ(order(v1::WORKLOAD_ORDER_ROWS), (List{2, 3, 1, 4, 5}));
}

TEST(WorkloadTable, MeansAreComparedExactly) {
  auto table = Table({.order = v1::WORKLOAD_ORDER_MEAN_DURATION});
  // 10 1/3 and 10 1/2: equal when rounded down.
  Add(*table, {.fingerprint = 1, .duration_us = 10, .weight = 2});
  Add(*table, {.fingerprint = 1, .duration_us = 11});
  Add(*table, {.fingerprint = 2, .duration_us = 10});
  Add(*table, {.fingerprint = 2, .duration_us = 11});
  EXPECT_EQ(table->Report().groups(0).fingerprint(), 2u);
}

// The sum of everything in a report.
struct Totals {
  uint64_t calls = 0;
  uint64_t timed_calls = 0;
  absl::uint128 duration = 0;
  absl::uint128 rows = 0;
  QuantileSketch sketch;
  bool operator==(const Totals&) const = default;
};

Totals TotalsOf(const v1::WorkloadReport& report) {
  Totals totals;
  const auto add = [&](const v1::WorkloadGroup& group) {
    totals.calls += group.calls();
    totals.timed_calls += group.timed_calls();
    totals.duration += Value(group.total_duration_us());
    totals.rows += Value(group.total_rows());
    const auto sketch = QuantileSketch::Parse(group.duration_sketch());
    ASSERT_TRUE(sketch.ok());
    totals.sketch.Merge(*sketch);
  };
  for (const auto& group : report.groups()) add(group);
  add(report.other());
  return totals;
}

TEST(WorkloadTable, WhatIsFoldedIsInOtherSoThatTotalsAddUp) {
  const std::vector<Call> log = Log(2'000, 5);
  for (const auto& keys : KeySets()) {
    auto all = Table({.keys = keys});
    auto few = Table({.keys = keys, .max_groups = 3});
    auto top = Table({.keys = keys, .top = 2});
    for (const Call& call : log) {
      Add(*all, call);
      Add(*few, call);
      Add(*top, call);
    }
    const Totals totals = TotalsOf(all->Report());
    EXPECT_EQ(TotalsOf(few->Report()), totals);
    EXPECT_EQ(TotalsOf(top->Report()), totals);
    EXPECT_EQ(few->Report().groups_size(), 3);
    EXPECT_EQ(top->Report().groups_size(), 2);
    const auto groups = static_cast<uint64_t>(all->Report().groups_size());
    EXPECT_EQ(few->Report().other_groups(), groups - 3);
    EXPECT_EQ(top->Report().other_groups(), groups - 2);
    EXPECT_EQ(few->Report().queries(), log.size());
    // Merging keeps totals whatever was folded.
    auto merged = Table({.keys = keys, .max_groups = 2});
    for (const auto& report : {few->Report(), top->Report(), all->Report()}) {
      ASSERT_TRUE(merged->Merge(report).ok());
    }
    EXPECT_EQ(TotalsOf(merged->Report()).calls, 3 * totals.calls);
    EXPECT_EQ(TotalsOf(merged->Report()).duration, 3 * totals.duration);
    EXPECT_EQ(merged->Report().other_groups(), groups - 2);
  }
}

TEST(WorkloadTable, TheFirstGroupsAreKeptWithAllOfTheirCalls) {
  auto table = Table({.max_groups = 2});
  for (const uint64_t fingerprint : {1, 2, 3, 3, 3, 1}) {
    Add(*table, {.fingerprint = fingerprint});
  }
  const v1::WorkloadReport report = table->Report();
  ASSERT_EQ(report.groups_size(), 2);
  EXPECT_EQ(report.groups(0).fingerprint(), 1u);
  EXPECT_EQ(report.groups(0).calls(), 2u);
  EXPECT_EQ(report.groups(1).fingerprint(), 2u);
  EXPECT_EQ(report.other().calls(), 3u);
  EXPECT_EQ(report.other_groups(), 1u);
}

TEST(WorkloadTable, TopIsChosenByTheOrder) {
  auto table = Table({.order = v1::WORKLOAD_ORDER_MAX_DURATION, .top = 1});
  Add(*table, {.fingerprint = 1, .duration_us = 5, .weight = 100});
  Add(*table, {.fingerprint = 2, .duration_us = 6});
  EXPECT_EQ(table->Report().groups(0).fingerprint(), 2u);
  EXPECT_EQ(table->Report().other().calls(), 100u);
  EXPECT_EQ(table->Report().other().normalized_query(), "");
}

TEST(WorkloadTable, MemoryIsBoundedAndTotalsAddUpStill) {
  std::mt19937_64 random(6);
  const std::string text(5'000, 'x');
  auto table = Table({.max_bytes = 1u << 20});
  uint64_t calls = 0;
  for (uint64_t i = 0; i < 60'000; ++i) {
    // Many groups of long texts first, then sketches that grow.
    const uint64_t fingerprint = i < 1'000 ? i : random() % 200;
    Add(*table, {.fingerprint = fingerprint,
                 .text = text,
                 .duration_us = random() >> (random() % 64),
                 .index = i});
    ++calls;
    ASSERT_LE(table->memory_bytes(), 1u << 20);
  }
  EXPECT_GT(table->groups(), 2u);
  const v1::WorkloadReport report = table->Report();
  EXPECT_EQ(TotalsOf(report).calls, calls);
  EXPECT_EQ(report.other_groups() + table->groups(), 1'000u);
}

TEST(WorkloadTable, LongNamesAndTextsAreCutBetweenCharacters) {
  auto table = Table({.keys = {v1::WORKLOAD_KEY_FINGERPRINT, v1::WORKLOAD_KEY_TABLE}});
  std::string text(kMaxWorkloadTextBytes - 1, 'x');
  text += "\u00e9 and more";
  Add(*table, {.tables = {std::string(600, 't')}, .text = text});
  const v1::WorkloadReport report = table->Report();
  EXPECT_EQ(report.groups(0).table().size(), kMaxWorkloadNameBytes);
  EXPECT_EQ(report.groups(0).normalized_query(), std::string(kMaxWorkloadTextBytes - 1, 'x'));
  EXPECT_TRUE(
      Table({.keys = {v1::WORKLOAD_KEY_FINGERPRINT, v1::WORKLOAD_KEY_TABLE}})->Merge(report).ok());
}

TEST(WorkloadTable, OfEqualPlacesTheSmallerTextWinsInAnyOrder) {
  auto a = Table(), b = Table();
  Add(*a, {.text = "select"});
  Add(*b, {.text = "SELECT"});
  auto ab = Table(), ba = Table();
  ASSERT_TRUE(ab->Merge(a->Report()).ok() && ab->Merge(b->Report()).ok());
  ASSERT_TRUE(ba->Merge(b->Report()).ok() && ba->Merge(a->Report()).ok());
  EXPECT_EQ(ab->Report().groups(0).normalized_query(), "SELECT");
  EXPECT_EQ(Bytes(ab->Report()), Bytes(ba->Report()));
}

TEST(WorkloadTable, OptionsThatMakeNoSenseAreRefused) {
  const auto refused = [](WorkloadOptions options) {
    return WorkloadTable::Create(std::move(options)).status().code() ==
           absl::StatusCode::kInvalidArgument;
  };
  using Keys = std::vector<v1::WorkloadKey>;
  EXPECT_TRUE(refused({}));
  EXPECT_TRUE(refused({.keys = Keys{v1::WORKLOAD_KEY_UNSPECIFIED}}));
  EXPECT_TRUE(refused({.keys = Keys{static_cast<v1::WorkloadKey>(9)}}));
  EXPECT_TRUE(refused({.keys = Keys{v1::WORKLOAD_KEY_TABLE, v1::WORKLOAD_KEY_TABLE}}));
  EXPECT_TRUE(
      refused({.keys = Keys{v1::WORKLOAD_KEY_TABLE}, .order = static_cast<v1::WorkloadOrder>(77)}));
  EXPECT_TRUE(refused({.keys = Keys{v1::WORKLOAD_KEY_TABLE}, .quantiles = {1.5}}));
  EXPECT_TRUE(refused({.keys = Keys{v1::WORKLOAD_KEY_TABLE},
                       .quantiles = {std::numeric_limits<double>::quiet_NaN()}}));
}

TEST(WorkloadTable, ReportsThatNoTableMadeAreRefusedAndChangeNothing) {
  const WorkloadOptions options{
      .keys = {v1::WORKLOAD_KEY_FINGERPRINT, v1::WORKLOAD_KEY_STATEMENT_TYPE}, .max_groups = 2};
  auto source = Table(options);
  Add(*source, {.fingerprint = 1, .text = "a", .duration_us = 1000, .rows = 1, .index = 1});
  Add(*source, {.fingerprint = 1, .text = "a", .duration_us = 3000, .rows = 1, .index = 3});
  Add(*source, {.fingerprint = 2, .text = "b", .rows = 1, .index = 4});
  Add(*source, {.fingerprint = 3, .text = "c", .duration_us = 7, .index = 5});
  const v1::WorkloadReport good = source->Report();
  ASSERT_EQ(good.groups(0).fingerprint(), 1u);
  ASSERT_TRUE(Table(options)->Merge(good).ok());

  using Change = std::function<void(v1::WorkloadReport&)>;
  const auto timed = [](v1::WorkloadReport& r) { return r.mutable_groups(0); };
  const auto untimed = [](v1::WorkloadReport& r) { return r.mutable_groups(1); };
  const std::vector<std::pair<const char*, Change>> changes = {
      {"grammar", [](auto& r) { r.set_grammar(17); }},
      {"no keys", [](auto& r) { r.clear_keys(); }},
      {"fewer keys", [](auto& r) { r.mutable_keys()->RemoveLast(); }},
      {"a key twice", [](auto& r) { r.add_keys(v1::WORKLOAD_KEY_FINGERPRINT); }},
      {"another key", [](auto& r) { r.set_keys(0, v1::WORKLOAD_KEY_TABLE); }},
      {"more errors than queries", [](auto& r) { r.set_errors(r.queries() + 1); }},
      {"nothing but errors", [](auto& r) { r.set_errors(r.queries()); }},
      {"fewer queries than groups", [](auto& r) { r.set_queries(1); }},
      {"folded calls without groups", [](auto& r) { r.set_other_groups(0); }},
      {"folded groups without calls", [](auto& r) { r.clear_other(); }},
      {"folded groups with a fingerprint", [](auto& r) { r.mutable_other()->set_fingerprint(1); }},
      {"folded groups with a text", [](auto& r) { r.mutable_other()->set_normalized_query("x"); }},
      {"folded groups with a bad sketch",
       [](auto& r) { r.mutable_other()->set_duration_sketch("x"); }},
      {"a group twice", [](auto& r) { *r.add_groups() = r.groups(0); }},
      {"a table without that key", [&](auto& r) { timed(r)->set_table("t"); }},
      {"a long name", [&](auto& r) { timed(r)->set_statement_type(std::string(513, 'x')); }},
      {"a long text",
       [&](auto& r) { timed(r)->set_normalized_query(std::string((16 << 10) + 1, 'x')); }},
      {"no calls", [&](auto& r) { untimed(r)->set_calls(0); }},
      {"a group of nothing",
       [&](auto& r) {
         untimed(r)->Clear();
         untimed(r)->set_fingerprint(9);
       }},
      {"more durations than calls", [&](auto& r) { timed(r)->set_calls(1); }},
      {"fewer durations than the sketch", [&](auto& r) { timed(r)->set_timed_calls(1); }},
      {"no sketch", [&](auto& r) { timed(r)->clear_duration_sketch(); }},
      {"a sketch without durations",
       [&](auto& r) { untimed(r)->set_duration_sketch(r.groups(0).duration_sketch()); }},
      {"a sum without durations",
       [&](auto& r) { untimed(r)->mutable_total_duration_us()->set_low(1); }},
      {"a longest without durations", [&](auto& r) { untimed(r)->set_max_duration_us(1); }},
      {"shortest over longest",
       [&](auto& r) {
         timed(r)->set_min_duration_us(3000);
         timed(r)->set_max_duration_us(1000);
       }},
      {"a shortest outside of the sketch", [&](auto& r) { timed(r)->set_min_duration_us(900); }},
      {"a longest outside of the sketch", [&](auto& r) { timed(r)->set_max_duration_us(9000); }},
      {"a sum that is too small",
       [&](auto& r) { timed(r)->mutable_total_duration_us()->set_low(3900); }},
      {"a sum that is too large",
       [&](auto& r) { timed(r)->mutable_total_duration_us()->set_low(4100); }},
      {"a sum that is far too large",
       [&](auto& r) { timed(r)->mutable_total_duration_us()->set_high(1); }},
      {"last before first", [&](auto& r) { timed(r)->set_last_index(0); }},
  };
  auto table = Table(options);
  Add(*table, {.fingerprint = 1, .text = "a", .index = 9});
  const std::string before = Bytes(table->Report());
  for (const auto& [what, change] : changes) {
    v1::WorkloadReport bad = good;
    change(bad);
    EXPECT_EQ(table->Merge(bad).code(), absl::StatusCode::kInvalidArgument) << what;
    EXPECT_EQ(Bytes(table->Report()), before) << what;
  }
}

TEST(WorkloadTable, ExtremesThatExcludeEachOtherAreRefusedEvenWhereSumsAreLost) {
  auto source = Table();
  Add(*source, {.duration_us = 1001, .weight = kMost});
  v1::WorkloadReport report = source->Report();
  v1::WorkloadGroup* group = report.mutable_groups(0);
  group->mutable_total_duration_us()->set_high(kMost);
  ASSERT_TRUE(Table()->Merge(report).ok()) << "the sum of more calls than can be counted";
  group->set_min_duration_us(1002);
  group->set_max_duration_us(1001);
  EXPECT_FALSE(Table()->Merge(report).ok());
}

TEST(WorkloadTable, RandomlyDamagedReportsAreRefusedOrKeepTheTableSound) {
  auto source = Table();
  for (const Call& call : Log(200, 8)) Add(*source, call);
  const std::string good = Bytes(source->Report());
  std::mt19937_64 random(9);
  auto table = Table({.max_groups = 20});
  int merged = 0;
  for (int round = 0; round < 3'000; ++round) {
    std::string bytes = good;
    for (uint64_t n = 1 + random() % 3; n > 0; --n) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    v1::WorkloadReport report;
    if (!report.ParseFromString(bytes) || !table->Merge(report).ok()) continue;
    ++merged;
  }
  EXPECT_GT(merged, 0);
  EXPECT_TRUE(Table()->Merge(table->Report()).ok());
}

}  // namespace
}  // namespace pgparsed::service
