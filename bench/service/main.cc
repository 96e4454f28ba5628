// service_bench: see --help. Prints tables, and the bars of each figure with what was measured.
#include <signal.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <regex>
#include <span>
#include <string>

#include "bench/service/book.h"
#include "bench/service/figures.h"
#include "bench/service/lab.h"
#include "bench/service/options.h"
#include "bench/service/report.h"

namespace pgparsed::bench {

std::span<const Figure> Figures() {
  static constexpr Figure kFigures[] = {
      {"unary", "closed loop of 1, 4, 16 and 64, Unix socket and TCP, against the echo", MakeUnary},
      {"sizes", "Parse from SELECT 1 to the reference job, each format, against the echo",
       MakeSizes},
      {"open", "open loop at the given rate, against the echo", MakeOpenLoop},
      {"one_mib", "front CPU of answers of 1 MiB against an echo that copies", MakeOneMib},
      {"batch", "Batch against in-process calls and against unary calls", MakeBatch},
      {"decode", "Batch Parse with decoding into arenas against the same in-process", MakeDecode},
      {"script", "ParseScript of a large dump against the raw parse of its statements", MakeScript},
      {"mixed", "p99 of unary calls while a batch saturates the pool, against idle", MakeMixed},
      {"workers", "two workers against one", MakeWorkers},
  };
  return kFigures;
}

namespace {

int Fail(const std::string& text) {
  std::fprintf(stderr, "service_bench: %s\n", text.c_str());
  return 1;
}

int Run(const Options& options) {
  std::regex filter;
  try {
    filter = options.filter;
  } catch (const std::regex_error&) {
    return Fail("--filter is no regular expression");
  }
  const auto lab = Lab::Open(options);
  if (!lab.ok()) return Fail(std::string(lab.status().message()));
  Book book;
  for (const Figure& figure : Figures()) {
    if (!std::regex_search(figure.name, filter)) continue;
    const auto begin = std::chrono::steady_clock::now();
    std::fprintf(stderr, "%-8s %s ...", figure.name, figure.text);
    if (absl::Status status = figure.make(**lab, book); !status.ok()) {
      std::fprintf(stderr, "\n");
      return Fail(figure.name + (": " + std::string(status.message())));
    }
    const Seconds passed = std::chrono::steady_clock::now() - begin;
    std::fprintf(stderr, " %.0f s\n", passed.count());
  }
  PrintReport(book, options);
  if (options.out.empty()) return 0;
  if (!WriteRecords(book, options, options.out)) return Fail("cannot write " + options.out);
  std::printf("wrote %s\n", options.out.c_str());
  return 0;
}

}  // namespace
}  // namespace pgparsed::bench

int main(int argc, char** argv) {
  using namespace pgparsed::bench;
  int exit_code = 0;
  const std::optional<Options> options = ParseOptions(argc, argv, exit_code);
  if (!options) return exit_code;
  if (options->list) {
    for (const Figure& figure : Figures()) std::printf("%-8s %s\n", figure.name, figure.text);
    return 0;
  }
  signal(SIGPIPE, SIG_IGN);  // a program that ended is an error like any other
  return Run(*options);
}
