// What service_bench is told on its command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace pgparsed::bench {

struct Options {
  // Folder of pgparsed, service_echo and service_in_process_<grammar>.
  std::string programs;
  std::string corpus;
  std::string out;
  // Figures whose name it finds are made.
  std::string filter = ".";
  bool list = false;
  int rounds = 5;
  // Of one measurement.
  double seconds = 0.5;
  // Of the server; figures "per worker" have a server with one.
  uint32_t workers = 0;
  // Of the open loop, a second.
  double rate = 1'000;
  uint64_t dump_megabytes = 200;
};

// Nothing when the program is to end at once with `exit_code`: help was printed, or what is wrong.
std::optional<Options> ParseOptions(int argc, char** argv, int& exit_code);

}  // namespace pgparsed::bench
