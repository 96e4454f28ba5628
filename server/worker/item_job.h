// A job of several items: each done like a job of its own, the results gathered as columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "channel/message.h"

namespace pgparsed::worker {

// `texts` are the items' texts, a NUL behind each, `lengths` a u32 for each of them (without its
// NUL), header.item_count in number. The region serves as scratch for one item's answer, too.
// Otherwise as AnswerJob: header.max_answer_bytes holds for each item. One that fails has an empty
// entry in each column and an error; kResultTooLarge also for one that no longer fits into the
// region.
uint64_t AnswerItems(const channel::JobHeader& header, std::string_view texts,
                     std::string_view lengths, std::span<std::byte> answer);

}  // namespace pgparsed::worker
