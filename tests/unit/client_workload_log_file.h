// For tests of log readers: a log as a file, and what a reader makes of it.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/workload/log_reader.h"

namespace pgparsed::cli {

// A file with this text; it goes when this goes.
class LogFile {
 public:
  explicit LogFile(std::string_view text) : path_(testing::TempDir() + "/pgparse-log-XXXXXX") {
    const int fd = ::mkstemp(path_.data());
    EXPECT_GE(fd, 0);
    while (!text.empty()) {
      const ssize_t written = ::write(fd, text.data(), text.size());
      if (written <= 0) {
        ADD_FAILURE() << "cannot write " << path_;
        break;
      }
      text.remove_prefix(static_cast<size_t>(written));
    }
    ::close(fd);
  }
  ~LogFile() { ::unlink(path_.c_str()); }
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

struct LogContents {
  std::vector<LogEntry> entries;
  std::vector<std::string> problems;  // without the file's name
  uint64_t problem_count = 0;
  absl::Status status;
};

inline LogContents ReadLog(std::string_view text, const LogOptions& options = {},
                           size_t most_problems = 10) {
  LogContents contents;
  const LogFile file(text);
  auto input = LogInput::Open(file.path());
  if (!input.ok()) {
    contents.status = input.status();
    return contents;
  }
  LogProblems problems((*input)->label(), most_problems, [&](std::string_view problem) {
    EXPECT_TRUE(problem.starts_with(file.path() + ":")) << problem;
    contents.problems.emplace_back(problem.substr(file.path().size() + 1));
  });
  auto reader = OpenLog(**input, options, problems);
  if (!reader.ok()) {
    contents.status = reader.status();
    return contents;
  }
  LogEntry entry;
  while (true) {
    const absl::StatusOr<bool> more = (*reader)->Next(entry);
    if (!more.ok()) contents.status = more.status();
    if (!more.ok() || !*more) break;
    contents.entries.push_back(entry);
  }
  if (contents.status.ok()) {
    EXPECT_EQ((*input)->bytes_done(), text.size());
    EXPECT_EQ((*input)->size(), text.size());
  }
  contents.problem_count = problems.count();
  return contents;
}

}  // namespace pgparsed::cli
