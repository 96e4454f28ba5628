// The figures of a running server, for AdminService and metrics.
#pragma once

#include "absl/time/time.h"
#include "pgparsed/v1/admin.pb.h"
#include "pool/pool.h"

namespace pgparsed::service {

// Reads /proc for each worker: some milliseconds in all. `started` is when the front was.
// Thread-safe.
v1::GetStatsResponse CollectStats(const pool::Pool& pool, absl::Time started);

}  // namespace pgparsed::service
