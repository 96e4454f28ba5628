#include "cli/progress.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pgparsed::cli {
namespace {

constexpr ProgressState kHalf{
    .bytes = 1'200'000'000, .bytes_in_all = 2'400'000'000, .items = 1234567, .seconds = 14};

TEST(RenderProgress, SaysHowFarItIsHowFastAndHowLong) {
  EXPECT_EQ(RenderProgress("queries.log", "queries", kHalf, 120),
            "queries.log  [==========          ]   50%  1.2 GB of 2.4 GB  86 MB/s  14 s left  "
            "1234567 queries");
}

TEST(RenderProgress, LeavesOutWhatFindsNoRoom) {
  for (int width = 100; width > 10; --width) {
    EXPECT_LE(RenderProgress("queries.log", "queries", kHalf, width).size(),
              static_cast<size_t>(std::max(width, 11)));
  }
  EXPECT_EQ(RenderProgress("queries.log", "queries", kHalf, 30), "queries.log   50%  14 s left");
}

TEST(RenderProgress, WithoutASizeThereIsNeitherShareNorRest) {
  EXPECT_EQ(RenderProgress("<stdin>", "queries", {.bytes = 5'000, .items = 3, .seconds = 1}, 80),
            "<stdin>  5.0 kB  5.0 kB/s  3 queries");
}

TEST(RenderProgress, AtTheBeginningThereIsNoRate) {
  EXPECT_EQ(RenderProgress("a", "", {.bytes = 10, .bytes_in_all = 100, .seconds = 0.1}, 80),
            "a  [==                  ]   10%  10 B of 100 B");
}

TEST(RenderProgress, AFileThatGrewIsNotMoreThanDone) {
  EXPECT_EQ(RenderProgress("a", "", {.bytes = 200, .bytes_in_all = 100, .seconds = 0.1}, 80),
            "a  [====================]  100%  200 B of 100 B");
}

TEST(RenderProgress, ALabelIsCutAndCannotCommandTheTerminal) {
  const std::string line = RenderProgress("\x1b[2J" + std::string(100, 'x'), "", {}, 80);
  EXPECT_EQ(line.find('\x1b'), std::string::npos);
  EXPECT_LT(line.size(), 50u);
}

class ProgressOnTerminal : public testing::Test {
 protected:
  Progress::Terminal Terminal() {
    return {.write = [this](std::string_view text) { written.emplace_back(text); },
            .now = [this] { return now; },
            .width = 80};
  }

  std::vector<std::string> written;
  Progress::Clock::time_point now{};
};

TEST_F(ProgressOnTerminal, WritesAtMostTenTimesASecond) {
  Progress progress("a", "", 1000, Terminal());
  for (int i = 0; i < 1000; ++i) {
    progress.Update(static_cast<uint64_t>(i), 0);
    now += std::chrono::milliseconds(1);
  }
  EXPECT_EQ(written.size(), 10u);
  EXPECT_EQ(written[0], "\ra  [                    ]    0%  0 B of 1.0 kB\x1b[K");
}

TEST_F(ProgressOnTerminal, ErasesItsLineOnce) {
  {
    Progress progress("a", "", 0, Terminal());
    progress.Update(1, 0);
    progress.Erase();
    progress.Erase();
    EXPECT_EQ(written.size(), 2u);
    EXPECT_EQ(written[1], "\r\x1b[K");
    now += std::chrono::seconds(1);
    progress.Update(2, 0);
  }
  EXPECT_EQ(written.size(), 4u);
  EXPECT_EQ(written[3], "\r\x1b[K");
}

TEST_F(ProgressOnTerminal, WhatWasNeverShownIsNotErased) {
  { Progress progress("a", "", 0, Terminal()); }
  EXPECT_TRUE(written.empty());
}

TEST(Progress, IsSilentWithoutATerminal) {
  testing::internal::CaptureStderr();
  {
    Progress progress = Progress::OnStandardError("a", "queries", 10);
    progress.Update(5, 5);
    progress.Erase();
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace pgparsed::cli
