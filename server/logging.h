// The log: spdlog's default logger, on standard error, as text or JSON. Log lines hold public
// fields only: never the SQL, nor anything made of it.
#pragma once

#include "options.h"

namespace pgparsed {

void StartLogging(const LogOptions& options);

}  // namespace pgparsed
