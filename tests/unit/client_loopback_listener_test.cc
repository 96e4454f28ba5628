#include "cli/loopback_listener.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace pgparsed::cli {
namespace {

using Owners = std::vector<uid_t>;

constexpr const char* kHeader =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout "
    "inode\n";

std::string Line(const std::string& local, const std::string& state, const std::string& uid) {
  return "   0: " + local + " 00000000:0000 " + state +
         " 00000000:00000000 00:00000000 00000000  " + uid + "        0 12345 1 0 100 0 0 10 0\n";
}

// How the kernel writes 127.0.0.1 on this machine.
std::string Loopback() {
  char text[9];
  snprintf(text, sizeof text, "%08X", htonl(INADDR_LOOPBACK));
  return text;
}

TEST(LoopbackListener, FindsTheOwnerOfThePort) {
  const std::string table = kHeader + Line(Loopback() + ":C383", "0A", "1000");  // 50051
  EXPECT_EQ(ListenerOwnersInTable(table, 50051), Owners{1000});
  EXPECT_EQ(ListenerOwnersInTable(table, 50052), Owners{});
}

TEST(LoopbackListener, ListenersOnEveryAddressCountToo) {
  const std::string table = kHeader + Line("00000000:C383", "0A", "33") +
                            Line("00000000000000000000000000000000:C383", "0A", "0") +
                            Line("0000000000000000FFFF0000" + Loopback() + ":C383", "0A", "7");
  // The mapped prefix is written in the machine's order; this line is little-endian's.
  const Owners owners = ListenerOwnersInTable(table, 50051);
  EXPECT_EQ(owners, (htonl(1) == 1 ? Owners{33, 0} : Owners{33, 0, 7}));
}

TEST(LoopbackListener, OtherAddressesAndConnectionsDoNotCount) {
  const std::string table = kHeader + Line("0100000A:C383", "0A", "1") +  // 10.0.0.1
                            Line(Loopback() + ":C383", "01", "2") +       // established
                            Line("00000000000000000000000001000000:C383", "0A", "3");  // ::1
  EXPECT_EQ(ListenerOwnersInTable(table, 50051), Owners{});
}

TEST(LoopbackListener, BrokenTablesAreEmpty) {
  EXPECT_EQ(ListenerOwnersInTable("", 1), Owners{});
  EXPECT_EQ(ListenerOwnersInTable("nonsense\n0: x 1 0A\n", 1), Owners{});
  EXPECT_EQ(ListenerOwnersInTable(Line("zzzzzzzz:C383", "0A", "1"), 50051), Owners{});
}

TEST(LoopbackListener, FindsARealSocketOfThisProcess) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(fd, 1), 0);
  ASSERT_EQ(::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size), 0);
  EXPECT_EQ(LoopbackListenerOwners(ntohs(address.sin_port)), Owners{geteuid()});
  ::close(fd);
}

}  // namespace
}  // namespace pgparsed::cli
