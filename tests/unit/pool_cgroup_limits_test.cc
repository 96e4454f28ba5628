#include "pool/cgroup_limits.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace pgparsed::pool {
namespace {

// A cgroup tree in a temporary folder.
class PoolCgroupLimitsTest : public ::testing::Test {
 protected:
  PoolCgroupLimitsTest() {
    char path[] = "/tmp/pgparsed-quota-XXXXXX";
    root_ = mkdtemp(path);
  }
  ~PoolCgroupLimitsTest() override { std::filesystem::remove_all(root_); }

  void Write(const std::string& file, const std::string& text) {
    const std::filesystem::path path = root_ + file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  void QuotaV1(const std::string& folder, const std::string& quota) {
    Write(folder + "/cpu.cfs_quota_us", quota + "\n");
    Write(folder + "/cpu.cfs_period_us", "100000\n");
  }

  std::string root_;
  const std::string v2_mount_ =
      "25 30 0:22 / /sys rw - sysfs sysfs rw\n"
      "32 25 0:28 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";
  const std::string v1_mount_ =
      "33 25 0:29 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
      "34 25 0:30 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n";
};

TEST_F(PoolCgroupLimitsTest, V2ReadsCpuMax) {
  Write("/sys/fs/cgroup/pod/app/cpu.max", "150000 100000\n");
  EXPECT_EQ(CgroupCpuQuota(root_, "0::/pod/app\n", v2_mount_), 1.5);
}

TEST_F(PoolCgroupLimitsTest, V2WithoutALimitHasNoQuota) {
  Write("/sys/fs/cgroup/pod/cpu.max", "max 100000\n");
  EXPECT_EQ(CgroupCpuQuota(root_, "0::/pod\n", v2_mount_), std::nullopt);
}

TEST_F(PoolCgroupLimitsTest, V2TheSmallestOfAllParentsCounts) {
  Write("/sys/fs/cgroup/pod/app/cpu.max", "max 100000\n");
  Write("/sys/fs/cgroup/pod/cpu.max", "200000 100000\n");
  Write("/sys/fs/cgroup/cpu.max", "800000 100000\n");
  EXPECT_EQ(CgroupCpuQuota(root_, "0::/pod/app\n", v2_mount_), 2.0);
}

TEST_F(PoolCgroupLimitsTest, V2InAContainerTheMountIsItsOwnCgroup) {
  Write("/sys/fs/cgroup/cpu.max", "300000 100000\n");
  EXPECT_EQ(CgroupCpuQuota(root_, "0::/\n", v2_mount_), 3.0);
}

TEST_F(PoolCgroupLimitsTest, V1ReadsCfsQuota) {
  QuotaV1("/sys/fs/cgroup/cpu,cpuacct/pod", "50000");
  EXPECT_EQ(CgroupCpuQuota(root_, "5:memory:/other\n4:cpu,cpuacct:/pod\n", v1_mount_), 0.5);
}

TEST_F(PoolCgroupLimitsTest, V1MinusOneIsNoQuota) {
  QuotaV1("/sys/fs/cgroup/cpu,cpuacct/pod", "-1");
  EXPECT_EQ(CgroupCpuQuota(root_, "4:cpu,cpuacct:/pod\n", v1_mount_), std::nullopt);
}

TEST_F(PoolCgroupLimitsTest, V1APathBelowTheMountsRootIsTakenFromThere) {
  QuotaV1("/sys/fs/cgroup/cpu/inner", "400000");
  EXPECT_EQ(CgroupCpuQuota(root_, "4:cpu:/docker/abc/inner\n",
                           "34 25 0:30 /docker/abc /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"),
            4.0);
}

TEST_F(PoolCgroupLimitsTest, V1APathOutsideOfTheMountFallsBackToItsTop) {
  QuotaV1("/sys/fs/cgroup/cpu", "100000");
  EXPECT_EQ(CgroupCpuQuota(root_, "4:cpu:/elsewhere\n",
                           "34 25 0:30 /docker/abc /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"),
            1.0);
}

TEST_F(PoolCgroupLimitsTest, OfBothHierarchiesTheSmallerCounts) {
  Write("/sys/fs/cgroup/unified/cpu.max", "200000 100000\n");
  QuotaV1("/sys/fs/cgroup/cpu,cpuacct", "100000");
  EXPECT_EQ(CgroupCpuQuota(root_, "4:cpu,cpuacct:/\n0::/\n",
                           v1_mount_ + "35 25 0:31 / /sys/fs/cgroup/unified rw - cgroup2 c rw\n"),
            1.0);
}

TEST_F(PoolCgroupLimitsTest, NonsenseIsNoQuota) {
  Write("/sys/fs/cgroup/cpu.max", "lots of it\n");
  EXPECT_EQ(CgroupCpuQuota(root_, "0::/\n", v2_mount_), std::nullopt);
  EXPECT_EQ(CgroupCpuQuota(root_, "", ""), std::nullopt);
  EXPECT_EQ(CgroupCpuQuota(root_, "x", "y - z"), std::nullopt);
  EXPECT_EQ(CgroupCpuQuota(root_, "0::/../../etc\n", v2_mount_), std::nullopt);
}

TEST(PoolAvailableCpusTest, FollowsTheAffinity) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &before)) {
      CPU_SET(cpu, &one);
      break;
    }
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  EXPECT_EQ(AvailableCpus(), 1u);
  ASSERT_EQ(sched_setaffinity(0, sizeof(before), &before), 0);
  EXPECT_GE(AvailableCpus(), 1u);
  EXPECT_LE(AvailableCpus(), static_cast<uint32_t>(CPU_COUNT(&before)));
}

TEST_F(PoolCgroupLimitsTest, V2TakesTheSmallestMemoryLimit) {
  Write("/sys/fs/cgroup/pod/app/memory.max", "max\n");
  Write("/sys/fs/cgroup/pod/memory.max", "1073741824\n");
  EXPECT_EQ(CgroupMemoryLimit(root_, "0::/pod/app\n", v2_mount_), uint64_t{1} << 30);
  EXPECT_EQ(CgroupMemoryLimit(root_, "0::/other\n", v2_mount_), std::nullopt);
}

TEST_F(PoolCgroupLimitsTest, V1HasAMemoryLimitOfItsOwnHierarchy) {
  Write("/sys/fs/cgroup/memory/pod/memory.limit_in_bytes", "268435456\n");
  Write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(CgroupMemoryLimit(root_, "4:cpu,cpuacct:/x\n5:memory:/pod\n", v1_mount_),
            uint64_t{256} << 20);
  EXPECT_EQ(CgroupMemoryLimit(root_, "5:memory:/\n", v1_mount_), std::nullopt);
}

}  // namespace
}  // namespace pgparsed::pool
