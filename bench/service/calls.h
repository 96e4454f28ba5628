// Unary calls for the load generator. The client must outlive them.
#pragma once

#include <string>

#include "bench/service/load.h"
#include "pgparsed/client.h"

namespace pgparsed::bench {

v1::ParseRequest ParseRequestOf(const std::string& query,
                                v1::TreeFormat format = v1::TREE_FORMAT_PROTOBUF);
v1::FingerprintRequest FingerprintRequestOf(const std::string& query);

Call ParseCall(Client& client, const v1::ParseRequest& request);
Call FingerprintCall(Client& client, const v1::FingerprintRequest& request);

}  // namespace pgparsed::bench
