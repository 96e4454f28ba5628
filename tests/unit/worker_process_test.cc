// The worker executable as a process: behind a real channel, in its sandbox.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "channel/front_end.h"
#include "channel/sections.h"
#include "pgparsed/errors.h"

extern char** environ;

namespace pgparsed::worker {
namespace {

using channel::JobHeader;
using channel::LastWords;
using channel::SectionKind;
using testing::AnyOf;
using testing::HasSubstr;

constexpr auto kLongestJob = std::chrono::seconds(60);

std::string Repeated(std::string_view prefix, std::string_view unit, size_t times) {
  std::string text(prefix);
  for (size_t i = 0; i < times; ++i) text += unit;
  return text;
}

// What came of a job.
struct Outcome {
  std::optional<LastWords> died;  // instead of answering
  std::vector<std::pair<SectionKind, std::string>> sections;

  const std::string* Find(SectionKind kind) const {
    for (const auto& [section_kind, payload] : sections) {
      if (section_kind == kind) return &payload;
    }
    return nullptr;
  }
  Reason ErrorReason() const {
    const std::string* error = Find(SectionKind::kError);
    if (error == nullptr) return Reason::kNone;
    channel::ErrorRecord record;
    std::memcpy(&record, error->data(), sizeof(record));
    return static_cast<Reason>(record.reason);
  }
};

class Worker {
 public:
  explicit Worker(std::vector<std::string> arguments = {}) {
    channel_ = std::move(channel::FrontEnd::Create({})).value();
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, channel_->fd(), channel::kWorkerChannelFd);
    arguments.insert(arguments.begin(), PGPARSED_WORKER);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    EXPECT_EQ(posix_spawn(&pid_, PGPARSED_WORKER, &actions, nullptr, argv.data(), environ), 0);
    posix_spawn_file_actions_destroy(&actions);
  }

  ~Worker() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

  pid_t pid() const { return pid_; }

  // Runs a job that may kill the worker.
  Outcome RunDangerously(uint32_t operations, std::string_view text, JobHeader header = {}) {
    header.operations = operations;
    const uint32_t slot = channel_->TakeSlot([] { return false; }).value();
    const std::shared_ptr<void> lease = channel_->Lease(slot);
    EXPECT_TRUE(channel_->PutJob(slot, header, text, {}).ok());
    const auto end = channel::FrontEnd::Clock::now() + kLongestJob;
    Outcome outcome;
    for (;;) {
      const auto soon = channel::FrontEnd::Clock::now() + std::chrono::milliseconds(20);
      const auto result = channel_->WaitForAnswer(slot, soon, [] { return false; });
      if (result == channel::FrontEnd::Outcome::kAnswered) {
        auto answer = channel::ReadAnswer(channel_->AnswerIn(slot));
        EXPECT_TRUE(answer.ok()) << answer.status();
        for (const channel::Section& section : answer->sections) {
          outcome.sections.emplace_back(section.kind, std::string(section.payload));
        }
        return outcome;
      }
      int status = 0;
      if (waitpid(pid_, &status, WNOHANG) == pid_) {
        pid_ = 0;
        EXPECT_FALSE(WIFSIGNALED(status)) << "killed by signal " << WTERMSIG(status);
        outcome.died = channel_->last_words();
        return outcome;
      }
      if (channel::FrontEnd::Clock::now() > end) {
        ADD_FAILURE() << "neither answer nor death in time";
        return outcome;
      }
    }
  }

  // Runs a job that must be answered.
  Outcome Run(uint32_t operations, std::string_view text, JobHeader header = {}) {
    Outcome outcome = RunDangerously(operations, text, header);
    EXPECT_FALSE(outcome.died) << "last words: " << static_cast<uint32_t>(*outcome.died);
    return outcome;
  }

  // A line of /proc/<pid>/<file>, without its key and unit.
  uint64_t ProcNumber(const std::string& file, const std::string& key) const {
    std::ifstream in("/proc/" + std::to_string(pid_) + "/" + file);
    for (std::string line; std::getline(in, line);) {
      if (line.rfind(key, 0) == 0) return std::stoull(line.substr(key.size()));
    }
    ADD_FAILURE() << "no " << key << " in " << file;
    return 0;
  }

 private:
  std::unique_ptr<channel::FrontEnd> channel_;
  pid_t pid_ = 0;
};

constexpr uint32_t kEveryOperation = channel::kOpParse | channel::kOpParsePlpgsql |
                                     channel::kOpFingerprint | channel::kOpNormalize |
                                     channel::kOpScan | channel::kOpSplit | channel::kOpFormat |
                                     channel::kOpExtractComments | channel::kOpSummarize;

TEST(WorkerProcess, AnswersEveryOperationInTheSandbox) {
  Worker worker({"--memory-limit=2147483648"});
  for (const auto* sql :
       {"SELECT 1", "", "-- only a comment", "SELECT 'ışığ' FROM ü WHERE a = 1.5e400 -- é",
        "CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $$DECLARE x int; BEGIN RETURN 1; "
        "END$$",
        "SELECT 1 FORM x", "SELECT 'open", "INSERT INTO t VALUES (1, 'a', B'01', 1e10)",
        "CREATE FUNCTION f() RETURNS int LANGUAGE sql RETURN 1"}) {
    const Outcome outcome = worker.Run(kEveryOperation, sql);
    EXPECT_FALSE(outcome.sections.empty()) << sql;
  }
  EXPECT_NE(worker.Run(channel::kOpDescribe, "").Find(SectionKind::kDescription), nullptr);
  EXPECT_NE(worker.Run(channel::kOpSchema, "").Find(SectionKind::kSchemaText), nullptr);
  const Outcome tree =
      worker.Run(channel::kOpParse, "SELECT 1", {.tree_format = channel::TreeFormat::kProtobuf});
  const Outcome deparsed = worker.Run(channel::kOpDeparse, *tree.Find(SectionKind::kTreeProtobuf),
                                      {.tree_format = channel::TreeFormat::kProtobuf});
  EXPECT_EQ(*deparsed.Find(SectionKind::kDeparsed), "SELECT 1");
#ifndef PGPARSED_SANITIZED
  EXPECT_EQ(worker.ProcNumber("status", "Seccomp:"), 2u);
#endif
  EXPECT_EQ(worker.ProcNumber("status", "NoNewPrivs:"), 1u);
}

// Every system call that the library makes for real statements and halves of them is allowed.
TEST(WorkerProcess, SurvivesTheCorpusInTheSandbox) {
  if (!std::filesystem::exists(PGPARSED_CORPUS)) GTEST_SKIP() << "no corpus: " PGPARSED_CORPUS;
  Worker worker({"--memory-limit=2147483648"});
  size_t pieces = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(PGPARSED_CORPUS)) {
    if (entry.path().extension() != ".sql") continue;
    std::ifstream in(entry.path(), std::ios::binary);
    for (std::string piece; std::getline(in, piece, ';');) {
      if (++pieces % 16 != 0 || piece.find('\0') != std::string::npos) continue;
      ASSERT_FALSE(worker.Run(kEveryOperation, piece).sections.empty()) << piece;
    }
  }
  RecordProperty("pieces", static_cast<int>(pieces / 16));
}

TEST(WorkerProcess, ParsesDeepStatementsWhateverTheFormat) {
  Worker worker({"--memory-limit=2147483648"});
  const std::string deep = Repeated("SELECT 1", "+1", 50000);
  const Outcome json = worker.Run(channel::kOpParse, deep);
  EXPECT_NE(json.Find(SectionKind::kTreeJson), nullptr);
  const Outcome protobuf =
      worker.Run(channel::kOpParse, deep, {.tree_format = channel::TreeFormat::kProtobuf});
  EXPECT_NE(protobuf.Find(SectionKind::kTreeProtobuf), nullptr);
  const Outcome columnar =
      worker.Run(channel::kOpParse, deep, {.tree_format = channel::TreeFormat::kColumnar});
  EXPECT_NE(columnar.Find(SectionKind::kTreeColumnar), nullptr);
}

#ifndef PGPARSED_SANITIZED

TEST(WorkerProcess, AnswersThatMemoryRanOut) {
  Worker worker({"--memory-limit=50000000"});
  const std::string large = Repeated("SELECT 1", ", 1", 1'000'000);
  const Outcome outcome = worker.RunDangerously(channel::kOpParse, large);
  if (outcome.died) {
    EXPECT_EQ(*outcome.died, LastWords::kMemoryLimit);
  } else {
    EXPECT_EQ(outcome.ErrorReason(), Reason::kParserMemoryLimit);
    // It lives, so it must be well.
    EXPECT_NE(worker.Run(channel::kOpParse, "SELECT 1").Find(SectionKind::kTreeJson), nullptr);
  }
}

TEST(WorkerProcess, CountsTheStackAgainstTheMemoryLimit) {
  Worker worker({"--memory-limit=50000000"});
  const Outcome outcome =
      worker.RunDangerously(channel::kOpParse, Repeated("SELECT 1", "+1", 200'000));
  if (outcome.died) {
    EXPECT_EQ(*outcome.died, LastWords::kMemoryLimit);
  } else {
    EXPECT_EQ(outcome.ErrorReason(), Reason::kParserMemoryLimit);
  }
}

TEST(WorkerProcess, GivesMemoryBackAfterALargeJob) {
  Worker worker({"--memory-limit=2147483648"});
  EXPECT_NE(worker.Run(channel::kOpParse, "SELECT 1").Find(SectionKind::kTreeJson), nullptr);
  const uint64_t idle_kb = worker.ProcNumber("smaps_rollup", "Private_Dirty:");
  const Outcome large = worker.Run(channel::kOpParse, Repeated("SELECT 1", ", 1", 300'000));
  EXPECT_NE(large.Find(SectionKind::kTreeJson), nullptr);
  // It answers first and tidies up then: the next answer comes when that is done.
  EXPECT_NE(worker.Run(channel::kOpParse, "SELECT 1").Find(SectionKind::kTreeJson), nullptr);
  const uint64_t after_kb = worker.ProcNumber("smaps_rollup", "Private_Dirty:");
  EXPECT_LT(after_kb, idle_kb + 4096);
  RecordProperty("idle_kb", std::to_string(idle_kb));
  RecordProperty("after_kb", std::to_string(after_kb));
  RecordProperty("idle_pss_kb", std::to_string(worker.ProcNumber("smaps_rollup", "Pss:")));
}

#endif

// Runs the executable by hand, without a channel; returns its exit code and output.
std::pair<int, std::string> RunByHand(const std::string& arguments) {
  FILE* pipe = popen((std::string(PGPARSED_WORKER) + " " + arguments + " 2>&1 3>&-").c_str(), "r");
  std::string output;
  char buffer[4096];
  while (const size_t bytes = fread(buffer, 1, sizeof(buffer), pipe)) output.append(buffer, bytes);
  const int status = pclose(pipe);
  return {WEXITSTATUS(status), output};
}

TEST(WorkerProcess, SaysWhatItIs) {
  const auto [version_code, version] = RunByHand("--version");
  EXPECT_EQ(version_code, 0);
  EXPECT_THAT(version, HasSubstr("libpg_query"));
  const auto [describe_code, description] = RunByHand("--describe");
  EXPECT_EQ(describe_code, 0);
  EXPECT_THAT(description, HasSubstr("allocator"));
  EXPECT_EQ(RunByHand("--help").first, 0);
}

TEST(WorkerProcess, RefusesToRunByHandWithOneClearLine) {
  const auto [code, output] = RunByHand("");
  EXPECT_EQ(code, 2);
  EXPECT_THAT(output, HasSubstr("started by pgparsed, not by hand"));
  EXPECT_EQ(std::count(output.begin(), output.end(), '\n'), 1);
  const auto [bad_code, bad_output] = RunByHand("--memory-limit=lots");
  EXPECT_EQ(bad_code, 2);
  EXPECT_THAT(bad_output, HasSubstr("--memory-limit=lots"));
}

}  // namespace
}  // namespace pgparsed::worker
