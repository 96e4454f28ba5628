// How a worker introduces itself: the job that asks for it, and the check of what it says.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "channel/message.h"
#include "channel/sections.h"
#include "pool/pool.h"

namespace pgparsed::pool {

channel::JobHeader DescribeJob();

// Reads the answer to DescribeJob out of a channel. FAILED_PRECONDITION with a message for the
// operator if the worker is not one of `major` or of another version of pgparsed.
absl::StatusOr<GrammarStatus> ReadDescription(const channel::UnreadAnswer& answer, uint32_t major);

}  // namespace pgparsed::pool
