// One job of the channel done with the grammar's operations, and its answer written in sections.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "channel/message.h"
#include "grammar/byte_sink.h"

namespace pgparsed::worker {

// Does the job and writes the answer to `answer`, which has room for 256 KiB at least. A NUL must
// stand behind the text (the channel puts it there). Returns the answer's length. Never fails: an
// operation that does is a kError section. An answer over header.max_answer_bytes (0: the region's
// size) loses the results that do not fit, each of which becomes an error kResultTooLarge.
//
// `pieces` takes the tree of a job with kFlagTreeInPieces, and is not used otherwise.
uint64_t AnswerJob(const channel::JobHeader& header, std::string_view text,
                   std::string_view comments, std::span<std::byte> answer,
                   grammar::ByteSink* pieces = nullptr);

}  // namespace pgparsed::worker
