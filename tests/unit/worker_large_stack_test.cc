#include "worker/large_stack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "channel/sections.h"
#include "grammar/operations.h"
#include "grammar/parsed_query.h"
#include "pgparsed/errors.h"
#include "worker/crash_handler.h"

namespace pgparsed::worker {
namespace {

constexpr size_t kSmallStack = size_t{64} << 20;
constexpr size_t kTinyStack = size_t{8} << 20;

// A channel of which only the last words are of interest: they go to stderr.
class FakeChannel final : public channel::WorkerEnd {
 public:
  using WorkerEnd::NextJob;
  Job NextJob(absl::FunctionRef<void()>) override { return {}; }
  void Report(const channel::MemoryReport&) override {}
  std::span<std::byte> NextPiece(size_t) override { return {}; }
  void FinishPieces(size_t) override {}
  void FinishJob(uint64_t) override {}
  void SayLastWords(channel::LastWords words) override {
    const char* text = words == channel::LastWords::kStackOverflow ? "last words: stack\n"
                       : words == channel::LastWords::kMemoryLimit ? "last words: memory\n"
                                                                   : "last words: signal\n";
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text, std::strlen(text));
  }
};

// Runs the body in a process of its own, as a worker does.
void RunAsWorker(size_t stack_bytes, const std::function<void()>& body) {
  static FakeChannel channel;
  RunOnLargeStack(stack_bytes, [&] {
    InstallCrashHandler(&channel);
    body();
    _exit(0);  // as a worker's, this thread never ends before the process
  });
  _exit(1);
}

std::string DeepSum(size_t terms) {
  std::string sql = "SELECT 1";
  for (size_t i = 0; i < terms; ++i) sql += "+1";
  return sql;
}

// Uses about `bytes` of stack.
__attribute__((noinline)) size_t UseStack(size_t bytes) {
  volatile char frame[4096];
  frame[0] = 1;
  if (bytes <= sizeof(frame)) return static_cast<size_t>(frame[0]);
  return UseStack(bytes - sizeof(frame)) + static_cast<size_t>(frame[0]);
}

class LargeStackTest : public testing::Test {
 protected:
  LargeStackTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(LargeStackTest, GrowsAsFarAsItIsUsed) {
  EXPECT_EXIT(RunAsWorker(kLargeStackBytes,
                          [] {
                            UseStack(size_t{300} << 20);
#ifndef PGPARSED_SANITIZED
                            if (!StackGrew()) _exit(3);
                            ReturnStackPages();
                            if (StackGrew()) _exit(4);
#endif
                            UseStack(size_t{300} << 20);
                          }),
              testing::ExitedWithCode(0), "");
}

#ifndef PGPARSED_SANITIZED

TEST_F(LargeStackTest, GivesItsPagesBack) {
  EXPECT_EXIT(RunAsWorker(kLargeStackBytes,
                          [] {
                            UseStack(size_t{64} << 20);
                            char here = 0;
                            const size_t page = 4096;
                            auto deep = reinterpret_cast<uintptr_t>(&here) - (size_t{32} << 20);
                            deep -= deep % page;
                            unsigned char resident = 0;
                            auto* const at = reinterpret_cast<void*>(deep);
                            if (mincore(at, page, &resident) != 0 || !(resident & 1)) _exit(3);
                            ReturnStackPages();
                            if (mincore(at, page, &resident) != 0 || (resident & 1)) _exit(4);
                          }),
              testing::ExitedWithCode(0), "");
}

#endif

TEST_F(LargeStackTest, ItsEndIsSaidInTheLastWords) {
  EXPECT_EXIT(RunAsWorker(kSmallStack, [] { UseStack(size_t{80} << 20); }),
              testing::ExitedWithCode(70), "last words: stack");
}

TEST_F(LargeStackTest, OtherFaultsAreSaidToBeOthers) {
  EXPECT_EXIT(RunAsWorker(kSmallStack, [] { raise(SIGSEGV); }), testing::ExitedWithCode(70),
              "last words: signal");
  EXPECT_EXIT(RunAsWorker(kSmallStack, [] { abort(); }), testing::ExitedWithCode(70),
              "last words: signal");
}

// Either the library stops in time, or the end of the stack is seen. Never anything else.
TEST_F(LargeStackTest, StatementsThatAreTooDeepEndInAnErrorOrInLastWords) {
  const auto work = [] {
    const std::string sql = DeepSum(500'000);
    const auto query = grammar::ParsedQuery::Parse(sql.c_str(), {});
    const auto json = query.value()->LibraryJson();
    if (json.ok() || json.error().reason != Reason::kNestingTooDeep) _exit(3);
    const auto formatted = query.value()->Format({}, true, true);
    if (formatted.ok() || formatted.error().reason != Reason::kNestingTooDeep) _exit(4);
  };
  if (PGPARSED_GRAMMAR >= 18) {
    EXPECT_EXIT(RunAsWorker(kTinyStack, work), testing::ExitedWithCode(0), "");
  } else {
    EXPECT_EXIT(RunAsWorker(kTinyStack, work), testing::ExitedWithCode(70), "last words: stack");
  }
}

TEST_F(LargeStackTest, DeepStatementsParse) {
  EXPECT_EXIT(RunAsWorker(kLargeStackBytes,
                          [] {
                            const std::string sql = DeepSum(50'000);
                            auto query = grammar::ParsedQuery::Parse(sql.c_str(), {});
                            if (!query.ok() || !query.value()->LibraryJson().ok()) _exit(3);
                            if (!query.value()->Fingerprint({}).ok()) _exit(4);
                          }),
              testing::ExitedWithCode(0), "");
}

// Bison's own limit.
TEST_F(LargeStackTest, ParenthesesHaveALimit) {
  const std::string sql = "SELECT " + std::string(20'000, '(') + "1" + std::string(20'000, ')');
  const auto query = grammar::ParsedQuery::Parse(sql.c_str(), {});
  ASSERT_FALSE(query.ok());
  EXPECT_EQ(query.error().reason, Reason::kNestingTooDeep);
  EXPECT_THAT(query.error().message, testing::HasSubstr("memory exhausted"));
}

}  // namespace
}  // namespace pgparsed::worker
