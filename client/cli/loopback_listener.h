// Who listens on a port of this machine's loopback address.
//
// Any user of a machine may listen on a port above 1023 that is free, and pgparse sends SQL to the
// default port without being told to. So it looks first whose socket is there.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace pgparsed::cli {

// The owners of the listening sockets that a connection to 127.0.0.1:`port` can reach, by the
// kernel's tables (/proc/net/tcp, /proc/net/tcp6). Empty: nobody listens, or it cannot be told.
std::vector<uid_t> LoopbackListenerOwners(uint16_t port);

// The same for the text of one table.
std::vector<uid_t> ListenerOwnersInTable(std::string_view table, uint16_t port);

}  // namespace pgparsed::cli
