// service_in_process_<grammar>: what a program pays that links libpg_query itself. Commands: "text"
// takes a query; "run VARIANT MILLISECONDS" does the variant again and again and says how often, in
// how many nanoseconds of time and of CPU time; "dump BYTES" parses the statements of a generated
// dump, split beforehand, and says their number and the same.
#include <pg_query.h>
#include <time.h>

#include <chrono>
#include <cstdint>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "bench/conversion/variants.h"
#include "bench/large_stack.h"
#include "bench/service/commands.h"
#include "bench/service/dump.h"
#include "bench/service/tree_decoder.h"
#include "grammar/parsed_query.h"

namespace pgparsed::bench {
namespace {

uint64_t CpuNanoseconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(time.tv_nsec);
}

// Time that passes, and CPU time of this thread.
class Stopwatch {
 public:
  uint64_t nanoseconds() const {
    return static_cast<uint64_t>(
        std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin_).count());
  }
  std::string Words() const {
    return absl::StrCat(nanoseconds(), " ", CpuNanoseconds() - cpu_begin_);
  }

 private:
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  const uint64_t cpu_begin_ = CpuNanoseconds();
};

bool LibraryFingerprint(const std::string& text) {
  const PgQueryFingerprintResult result = pg_query_fingerprint(text.c_str());
  const bool ok = result.error == nullptr;
  pg_query_free_fingerprint_result(result);
  return ok;
}

bool LibraryProtobufDecoded(const std::string& text, TreeDecoder& decoder) {
  const PgQueryProtobufParseResult result = pg_query_parse_protobuf(text.c_str());
  const bool ok =
      result.error == nullptr && decoder.Decode({result.parse_tree.data, result.parse_tree.len});
  pg_query_free_protobuf_parse_result(result);
  return ok;
}

class Program {
 public:
  absl::StatusOr<std::string> Obey(const Words& words, std::string bytes) {
    uint64_t number = 0;
    if (words == Words{"text"}) {
      text_ = std::move(bytes);
      return "";
    }
    if (words.size() == 3 && words[0] == "run" && absl::SimpleAtoi(words[2], &number)) {
      return Run(words[1], number * 1'000'000u);
    }
    if (words.size() == 2 && words[0] == "dump" && absl::SimpleAtoi(words[1], &number)) {
      return ParseDump(number);
    }
    return absl::InvalidArgumentError("no such command");
  }

 private:
  bool Once(std::string_view name) {
    if (name == "library_fingerprint") return LibraryFingerprint(text_);
    if (name == "library_protobuf_decoded") {
      return decoder_ != nullptr && LibraryProtobufDecoded(text_, *decoder_);
    }
    for (const Variant& variant : Variants()) {
      if (variant.name == name) return variant.run(text_) > 0;
    }
    return false;
  }

  absl::StatusOr<std::string> Run(std::string_view variant, uint64_t nanoseconds) {
    if (!Once(variant)) return absl::InvalidArgumentError("cannot do " + std::string(variant));
    uint64_t runs = 0;
    const Stopwatch watch;
    do {
      for (int i = 0; i < 16; ++i, ++runs) Once(variant);
    } while (watch.nanoseconds() < nanoseconds);
    return absl::StrCat(runs, " ", watch.Words());
  }

  static absl::StatusOr<std::string> ParseDump(uint64_t bytes) {
    // Each with its NUL byte.
    std::string texts;
    std::vector<size_t> begins;
    GenerateDump(bytes, [&](std::string_view text, bool is_statement) {
      if (!is_statement) return;
      begins.push_back(texts.size());
      texts.append(text).push_back('\0');
    });
    const Stopwatch watch;
    for (const size_t begin : begins) {
      if (!grammar::ParsedQuery::Parse(texts.data() + begin, {}).ok()) {
        return absl::InternalError(absl::StrCat("an error in ", texts.data() + begin));
      }
    }
    return absl::StrCat(begins.size(), " ", watch.Words());
  }

  std::string text_;
  const std::unique_ptr<TreeDecoder> decoder_ = MakeTreeDecoder(PGPARSED_GRAMMAR);
};

}  // namespace
}  // namespace pgparsed::bench

int main() {
  const auto obey = [] {
    pgparsed::bench::Program program;
    pgparsed::bench::ObeyCommands([&](const pgparsed::bench::Words& words, std::string bytes) {
      return program.Obey(words, std::move(bytes));
    });
  };
  if (!pgparsed::bench::RunOnLargeStack(obey)) {
    std::cerr << "cannot start a thread with a stack of 1 GiB\n";
    return 1;
  }
  return 0;
}
