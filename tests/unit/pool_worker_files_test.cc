#include "pool/worker_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace pgparsed::pool {
namespace {

using ::testing::HasSubstr;

std::string SystemFor(uint32_t) { return "system"; }

class PoolWorkerFilesTest : public ::testing::Test {
 protected:
  PoolWorkerFilesTest() {
    char path[] = "/tmp/pgparsed-workers-XXXXXX";
    dir_ = mkdtemp(path);
  }
  ~PoolWorkerFilesTest() override { std::filesystem::remove_all(dir_); }

  void Make(const std::string& name, bool executable = true) {
    std::ofstream(dir_ + "/" + name) << "#!/bin/false\n";
    std::filesystem::permissions(dir_ + "/" + name, executable ? std::filesystem::perms(0755)
                                                               : std::filesystem::perms(0644));
  }
  std::string Error() { return std::string(FindWorkerFiles(dir_, SystemFor).status().message()); }

  std::string dir_;
};

TEST_F(PoolWorkerFilesTest, FindsEveryMajorVersion) {
  Make("pgparsed-worker-15");
  Make("pgparsed-worker-99");
  for (const char* other :
       {"pgparsed", "pgparsed-worker-", "pgparsed-worker-x", "worker-18", "pgparsed-worker-18.old",
        "pgparsed-worker-0", "pgparsed-worker-017", "pgparsed-worker--3"}) {
    Make(other);
  }
  const auto files = FindWorkerFiles(dir_, SystemFor);
  ASSERT_TRUE(files.ok()) << files.status();
  ASSERT_EQ(files->size(), 2u);
  EXPECT_EQ(files->at(15), dir_ + "/pgparsed-worker-15");
  EXPECT_EQ(files->at(99), dir_ + "/pgparsed-worker-99");
}

TEST_F(PoolWorkerFilesTest, TakesTheAllocatorThatAGrammarShallHave) {
  for (const char* name :
       {"pgparsed-worker-15", "pgparsed-worker-18", "pgparsed-worker-18-jemalloc"}) {
    Make(name);
  }
  const auto files = FindWorkerFiles(
      dir_, [](uint32_t major) { return std::string(major == 18 ? "jemalloc" : "system"); });
  ASSERT_TRUE(files.ok()) << files.status();
  EXPECT_EQ(files->at(15), dir_ + "/pgparsed-worker-15");
  EXPECT_EQ(files->at(18), dir_ + "/pgparsed-worker-18-jemalloc");

  const auto missing = FindWorkerFiles(dir_, [](uint32_t) { return std::string("mimalloc"); });
  EXPECT_THAT(std::string(missing.status().message()), HasSubstr("--allocator=mimalloc"));
  EXPECT_THAT(std::string(missing.status().message()), HasSubstr("pgparsed-worker-15-mimalloc"));
}

TEST_F(PoolWorkerFilesTest, AMissingFolderIsNamed) {
  const auto files = FindWorkerFiles(dir_ + "/none", SystemFor);
  EXPECT_THAT(std::string(files.status().message()), HasSubstr(dir_ + "/none"));
  EXPECT_THAT(std::string(files.status().message()), HasSubstr("--worker-dir"));
}

TEST_F(PoolWorkerFilesTest, AFolderWithoutWorkersIsNamed) {
  EXPECT_THAT(Error(), HasSubstr("no worker executable"));
  EXPECT_THAT(Error(), HasSubstr(dir_));
}

TEST_F(PoolWorkerFilesTest, AWorkerThatIsNotExecutableIsNamed) {
  Make("pgparsed-worker-18", /*executable=*/false);
  EXPECT_THAT(Error(), HasSubstr("pgparsed-worker-18' cannot be executed"));
}

TEST_F(PoolWorkerFilesTest, AFolderInAWorkersPlaceIsNamed) {
  std::filesystem::create_directory(dir_ + "/pgparsed-worker-18");
  EXPECT_THAT(Error(), HasSubstr("pgparsed-worker-18' cannot be executed"));
}

}  // namespace
}  // namespace pgparsed::pool
