// The server's figures in Prometheus' text format.
#pragma once

#include <string>

#include "pool/pool.h"
#include "service/backend.h"

namespace pgparsed::http_door {

// All metrics at this moment. Thread-safe, does not block.
std::string MetricsText(const service::Backend& backend, const pool::Pool& pool);

}  // namespace pgparsed::http_door
