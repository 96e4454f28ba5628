#include "cpp/address.h"

#include <gtest/gtest.h>

#include "pgparsed/errors.h"

namespace pgparsed::client {
namespace {

std::string Target(std::string_view address) {
  const auto target = TargetOfAddress(address);
  return target.ok() ? *target : "refused";
}

TEST(Address, HostsAndPortsBecomeTargets) {
  EXPECT_EQ(Target("127.0.0.1:50051"), "127.0.0.1:50051");
  EXPECT_EQ(Target("parser.example.com:443"), "parser.example.com:443");
  EXPECT_EQ(Target("[::1]:7"), "[::1]:7");
  EXPECT_EQ(Target("my_host-1:65535"), "my_host-1:65535");
}

TEST(Address, WithoutAPortTheDefaultPortIsTaken) {
  EXPECT_EQ(Target("localhost"), "localhost:50051");
  EXPECT_EQ(Target("[::1]"), "[::1]:50051");
}

TEST(Address, UnixSocketsMayBeWrittenInThreeWays) {
  EXPECT_EQ(Target("unix:/run/p.sock"), "unix:/run/p.sock");
  EXPECT_EQ(Target("unix:///run/p.sock"), "unix:/run/p.sock");
  EXPECT_EQ(Target("/run/p.sock"), "unix:/run/p.sock");
  EXPECT_EQ(Target("unix:relative.sock"), "unix:relative.sock");
}

TEST(Address, OtherSchemesOfGrpcPassAsTheyAre) {
  EXPECT_EQ(Target("dns:///name:1"), "dns:///name:1");
  EXPECT_EQ(Target("ipv4:10.0.0.1:1,10.0.0.2:1"), "ipv4:10.0.0.1:1,10.0.0.2:1");
}

TEST(Address, WhatCannotBeAnAddressIsRefused) {
  for (const char* address : {"", ":50051", "host:", "host:0", "host:65536", "host:12x", "host:-1",
                              "::1", "[::1", "[]:1", "[::1]50051", "[x y]:1", "a b",
                              "http://host:1", "unix:", "dns:", "host:1:2", "host/path"}) {
    const auto target = TargetOfAddress(address);
    ASSERT_FALSE(target.ok()) << address;
    EXPECT_EQ(ReasonOf(target.status()), Reason::kInvalidRequest) << address;
  }
}

TEST(Address, ASocketPathThatTheSystemDoesNotTakeIsRefused) {
  EXPECT_EQ(Target("unix:/" + std::string(106, 'x')), "unix:/" + std::string(106, 'x'));
  EXPECT_EQ(Target("unix:/" + std::string(107, 'x')), "refused");
}

TEST(Address, LocalTargetsAreToldFromRemoteOnes) {
  for (const char* target :
       {"unix:/x", "unix-abstract:x", "127.0.0.1:1", "127.9.9.9:1", "[::1]:1", "localhost:1",
        "localhost", "dns:///localhost:1", "ipv4:127.0.0.1:1"}) {
    EXPECT_TRUE(IsLocalTarget(target)) << target;
  }
  for (const char* target : {"10.0.0.1:1", "localhost.example.com:1", "dns:///example.com:1",
                             "unix.example.com:1", "[::2]:1"}) {
    EXPECT_FALSE(IsLocalTarget(target)) << target;
  }
}

}  // namespace
}  // namespace pgparsed::client
