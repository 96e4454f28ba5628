// What conversions cost, by path: how many trees were made or read, in what time. The difference
// between the paths is the price of the library's serialization.
//
// Jobs that do other things besides are left out: their time is not that of the conversion.
//
// Thread-safe; together the values are no snapshot.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "channel/message.h"

namespace pgparsed::service {

class ConversionCounters {
 public:
  struct Values {
    std::atomic<uint64_t> trees{0};
    std::atomic<uint64_t> bytes{0};       // of the answers
    std::atomic<uint64_t> parse_ns{0};    // Parse: the raw parse. Deparse: reading the tree
    std::atomic<uint64_t> convert_ns{0};  // Parse: writing the tree. Deparse: printing the SQL
  };

  enum Operation : uint32_t { kParse = 0, kDeparse = 1 };
  enum Path : uint32_t { kDirect = 0, kLibrary = 1 };

  explicit ConversionCounters(std::span<const uint32_t> grammars) {
    for (const uint32_t grammar : grammars) values_.try_emplace(grammar);
  }

  // A job with that header was answered. `trees`: its items.
  void Add(uint32_t grammar, const channel::JobHeader& job, const channel::AnswerHeader& answer,
           uint64_t trees) {
    const bool parse = job.operations == channel::kOpParse;
    if (!parse && job.operations != channel::kOpDeparse) return;
    const auto found = values_.find(grammar);
    if (found == values_.end()) return;
    const auto path = job.conversion == channel::Conversion::kLibrary ? kLibrary : kDirect;
    Values& values = found->second[Index(parse ? kParse : kDeparse, job.tree_format, path)];
    const auto add = [](std::atomic<uint64_t>& value, uint64_t more) {
      value.fetch_add(more, std::memory_order_relaxed);
    };
    add(values.trees, trees);
    add(values.bytes, answer.total_bytes + answer.tail_bytes);
    add(values.parse_ns, answer.parse_ns);
    add(values.convert_ns, answer.convert_ns);
  }

  const Values& Of(uint32_t grammar, Operation operation, channel::TreeFormat format,
                   Path path) const {
    return values_.at(grammar)[Index(operation, format, path)];
  }

  std::vector<uint32_t> grammars() const {
    std::vector<uint32_t> majors;
    for (const auto& [major, values] : values_) majors.push_back(major);
    return majors;
  }

 private:
  static constexpr size_t kFormats = 3;

  static size_t Index(Operation operation, channel::TreeFormat format, Path path) {
    return (operation * kFormats + (static_cast<size_t>(format) - 1) % kFormats) * 2 + path;
  }

  std::map<uint32_t, std::array<Values, 2 * kFormats * 2>> values_;  // the keys never change
};

}  // namespace pgparsed::service
