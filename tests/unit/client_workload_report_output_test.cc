#include "cli/workload/report_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "client_workload_log_file.h"

namespace pgparsed::cli {
namespace {

using testing::HasSubstr;

std::string Written(const v1::WorkloadReport& report, ReportFormat format) {
  const int fd = ::memfd_create("report", 0);
  Output out(fd);
  EXPECT_TRUE(WriteReport(report, format, out).ok());
  EXPECT_TRUE(out.Finish().ok());
  std::string text(static_cast<size_t>(::lseek(fd, 0, SEEK_END)), '\0');
  EXPECT_EQ(::pread(fd, text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
  ::close(fd);
  return text;
}

v1::WorkloadReport Report() {
  v1::WorkloadReport report;
  report.set_grammar(18);
  report.set_postgres_version_num(180001);
  report.add_keys(v1::WORKLOAD_KEY_FINGERPRINT);
  report.set_queries(12);
  report.set_errors(1);
  report.add_quantiles(0.5);
  report.add_quantiles(0.999);
  report.set_quantile_error(1.0 / 128);
  v1::WorkloadGroup* group = report.add_groups();
  group->set_fingerprint(0xABC);
  group->set_calls(10);
  group->set_timed_calls(8);
  group->mutable_total_duration_us()->set_low(3'000'000);
  group->set_min_duration_us(5);
  group->set_max_duration_us(2'500'000);
  group->set_mean_duration_us(375'000);
  group->add_duration_quantiles_us(1234);
  group->add_duration_quantiles_us(2'500'000);
  group->mutable_total_rows()->set_high(1);
  group->set_duration_sketch(std::string("\x01\x00\xFF", 3));
  group->set_first_index(3);
  group->set_last_index(9);
  group->set_normalized_query("SELECT \"a\",\n       b\n  FROM t WHERE x = $1");
  group = report.add_groups();
  group->set_fingerprint(0xDEF);
  group->set_calls(1);
  group->set_normalized_query("COMMIT");
  group = report.mutable_other();
  group->set_calls(4);
  group->set_timed_calls(4);
  group->mutable_total_duration_us()->set_low(1'000'000);
  group->set_min_duration_us(250'000);
  group->set_max_duration_us(250'000);
  group->set_mean_duration_us(250'000);
  group->add_duration_quantiles_us(250'000);
  group->add_duration_quantiles_us(250'000);
  report.set_other_groups(3);
  return report;
}

TEST(ReportOutput, TheTableIsForPeople) {
  EXPECT_EQ(Written(Report(), ReportFormat::kTable),
            "calls   total  share    mean      p50   p99.9     max                  rows  "
            "fingerprint       query\n"
            "   10  3.00 s  75.0%  375 ms  1.23 ms  2.50 s  2.50 s  18446744073709551616  "
            "0000000000000abc  SELECT \"a\", b FROM t WHERE x \xE2\x80\xA6\n"
            "    1       -      -       -        -       -       -                     0  "
            "0000000000000def  COMMIT\n"
            "    4  1.00 s  25.0%  250 ms   250 ms  250 ms  250 ms                     0  "
            "                  (other: at least 3 more groups)\n"
            "12 queries, 1 of them not parsed, 2 groups; grammar 18; quantiles within 0.78 %\n");
}

TEST(ReportOutput, ColumnsThatSayNothingAreLeftOut) {
  v1::WorkloadReport report;
  report.set_grammar(17);
  report.add_keys(v1::WORKLOAD_KEY_TABLE);
  report.add_keys(v1::WORKLOAD_KEY_STATEMENT_TYPE);
  report.set_queries(1);
  report.set_quantile_error(1.0 / 128);
  v1::WorkloadGroup* group = report.add_groups();
  group->set_calls(1);
  group->set_table("s.t\x1b[31m");
  group->set_statement_type("SelectStmt");
  group = report.add_groups();
  group->set_calls(1);
  group->set_statement_type("TransactionStmt");
  EXPECT_EQ(Written(report, ReportFormat::kTable),
            "calls  statement        table\n"
            "    1  SelectStmt       s.t\xEF\xBF\xBD[31m\n"
            "    1  TransactionStmt  (none)\n"
            "1 query, 2 groups; grammar 17; quantiles within 0.78 %\n");
}

TEST(ReportOutput, AReportOfNothingIsOneLine) {
  v1::WorkloadReport report;
  report.set_grammar(17);
  report.add_keys(v1::WORKLOAD_KEY_FINGERPRINT);
  EXPECT_EQ(Written(report, ReportFormat::kTable),
            "0 queries, 0 groups; grammar 17; quantiles within 0 %\n");
}

TEST(ReportOutput, CsvHasALineForEachGroup) {
  EXPECT_EQ(Written(Report(), ReportFormat::kCsv),
            "row,fingerprint,calls,timed_calls,total_duration_us,min_duration_us,max_duration_us,"
            "mean_duration_us,p50_duration_us,p99.9_duration_us,total_rows,first_index,last_index,"
            "normalized_query\n"
            "group,0000000000000abc,10,8,3000000,5,2500000,375000,1234,2500000,"
            "18446744073709551616,3,9,\"SELECT \"\"a\"\",\n       b\n  FROM t WHERE x = $1\"\n"
            "group,0000000000000def,1,0,,,,,,,0,0,0,COMMIT\n"
            "other,,4,4,1000000,250000,250000,250000,250000,250000,0,0,0,\n");
}

TEST(ReportOutput, WhatIsSavedAsJsonOrProtobufIsReadAgain) {
  for (const ReportFormat format : {ReportFormat::kJson, ReportFormat::kProtobuf}) {
    const LogFile file(Written(Report(), format));
    const absl::StatusOr<v1::WorkloadReport> read = ReadReportFile(file.path());
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(read->SerializeAsString(), Report().SerializeAsString());
  }
}

TEST(ReportOutput, JsonIsOneLineWithTheNamesOfTheContract) {
  const std::string json = Written(Report(), ReportFormat::kJson);
  EXPECT_EQ(json.find('\n'), json.size() - 1);
  EXPECT_THAT(json, HasSubstr("\"timed_calls\":\"8\""));
  EXPECT_THAT(json, HasSubstr("\"keys\":[\"WORKLOAD_KEY_FINGERPRINT\"]"));
}

TEST(ReportOutput, WhatIsNoReportIsRefused) {
  for (const char* text :
       {"", " \n", "{", "{\"groups\": 5}", "{\"nothing\": 1}", "{}", "SELECT 1", "\x08\x12"}) {
    const LogFile file(text);
    EXPECT_EQ(ReadReportFile(file.path()).status().code(), absl::StatusCode::kInvalidArgument)
        << text;
  }
  EXPECT_EQ(ReadReportFile("/nonexistent").status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(ReportOutput, DurationsAreShort) {
  const std::vector<std::pair<double, const char*>> cases = {
      {0, "0 us"},         {7, "7 us"},          {0.25, "0.25 us"},      {12.34, "12.3 us"},
      {999, "999 us"},     {999.7, "1.00 ms"},   {1'234, "1.23 ms"},     {99'960, "100 ms"},
      {999'400, "999 ms"}, {999'600, "1.00 s"},  {12'340'000, "12.3 s"}, {99.9e6, "99.9 s"},
      {120e6, "2.00 min"}, {3600e6, "60.0 min"}, {36000e6, "10.0 h"},    {1e15, "277778 h"}};
  for (const auto& [microseconds, text] : cases) EXPECT_EQ(ShortDuration(microseconds), text);
}

TEST(ReportOutput, SumsOf128BitsAreDecimal) {
  v1::Sum128 sum;
  EXPECT_EQ(Decimal(sum), "0");
  sum.set_high(~uint64_t{0});
  sum.set_low(~uint64_t{0});
  EXPECT_EQ(Decimal(sum), "340282366920938463463374607431768211455");
}

}  // namespace
}  // namespace pgparsed::cli
