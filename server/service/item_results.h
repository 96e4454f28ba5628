// The results of a stream's items as they cross the wire: pieces of a serialized
// pgparsed.v1.ResultColumns. All its fields are repeated, so that pieces joined in the order of the
// items are the whole, and nobody needs to decode what workers wrote.
//
// Pure.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "channel/sections.h"

namespace pgparsed::service {

// Appends the results of a job of `count` items to `columns`; the first of them is item
// `first_item` of its answer. What the worker wrote is copied first and then checked: it has an
// entry for each item in each column of `operations` and no other fields, and errors in the order of
// the items. kInternal otherwise, with nothing appended.
absl::Status AppendResults(const channel::Answer& answer, uint32_t operations, uint32_t count,
                           uint32_t first_item, std::string& columns);

// Appends an item that failed as a whole: empty entries, and the error.
void AppendFailedItem(uint32_t operations, uint32_t item, const absl::Status& error,
                      std::string& columns);

}  // namespace pgparsed::service
