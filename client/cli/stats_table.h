// The figures of a server as people read them.
#pragma once

#include <string>

#include "pgparsed/v1/admin.pb.h"

namespace pgparsed::cli {

// A line for the front and each worker, then what was counted. Ends with a line feed.
std::string StatsTable(const v1::GetStatsResponse& stats);

}  // namespace pgparsed::cli
