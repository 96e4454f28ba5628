#include "bench/service/options.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <thread>

namespace pgparsed::bench {

std::optional<Options> ParseOptions(int argc, char** argv, int& exit_code) {
  Options options;
  std::error_code error;
  options.programs = std::filesystem::read_symlink("/proc/self/exe", error).parent_path().string();
  options.workers = std::thread::hardware_concurrency();
  bool quick = false;

  CLI::App app(
      "service_bench: pgparsed under load, beside a bare gRPC echo server and libpg_query "
      "in-process,\nin turn, round by round. Starts and stops all of them itself.");
  app.name("service_bench");
  app.add_flag("--list", options.list, "Print the names of the figures and end");
  app.add_option("--filter", options.filter,
                 "Only figures whose name this regular expression finds")
      ->type_name("REGEX");
  app.add_flag("--quick", quick, "Few short rounds and a small dump: a look, not a measurement");
  const auto* const rounds =
      app.add_option("--rounds", options.rounds, "Rounds of each figure; the median counts")
          ->check(CLI::Range(1, 99))
          ->capture_default_str();
  const auto* const seconds =
      app.add_option("--seconds", options.seconds, "Length of one measurement")
          ->check(CLI::Range(0.05, 60.0))
          ->capture_default_str();
  app.add_option("--workers", options.workers,
                 "Workers of the server; figures for one worker have another server")
      ->check(CLI::Range(1, 64))
      ->default_str("one for each CPU");
  app.add_option("--rate", options.rate, "Calls a second of the open loop")
      ->check(CLI::Range(1.0, 1e6))
      ->capture_default_str();
  const auto* const megabytes =
      app.add_option("--dump-megabytes", options.dump_megabytes, "Size of the generated dump")
          ->check(CLI::Range(1, 4'000))
          ->capture_default_str();
  app.add_option("--programs", options.programs,
                 "Folder of pgparsed, service_echo and service_in_process_<grammar>")
      ->type_name("FOLDER")
      ->default_str("the folder of service_bench");
  app.add_option("--corpus", options.corpus, "Folder of the corpus, for bench/large_select.sql")
      ->type_name("FOLDER");
  app.add_option("--out", options.out, "Write all records there as JSON")->type_name("FILE");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& parse_error) {
    exit_code = app.exit(parse_error) == 0 ? 0 : 2;
    return std::nullopt;
  }
  if (quick) {
    if (rounds->count() == 0) options.rounds = 3;
    if (seconds->count() == 0) options.seconds = 0.2;
    if (megabytes->count() == 0) options.dump_megabytes = 20;
  }
  return options;
}

}  // namespace pgparsed::bench
