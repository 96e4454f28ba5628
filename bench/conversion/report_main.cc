// conversion_report FOLDER GRAMMAR...: reads <grammar>.json (Google Benchmark) and
// <grammar>.memory of each grammar in the folder, prints tables with ratios, and writes
// conversion.json (records of name, grammar, input, variant, value, unit) and conversion.svg.
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/conversion/chart.h"

namespace pgparsed::bench {
namespace {

using nlohmann::json;

struct Figure {
  double median = 0;     // µs of CPU time
  double deviation = 0;  // of the repetitions, relative
  uint64_t peak_bytes = 0;
};

// By input, then by variant.
using Figures = std::map<std::string, std::map<std::string, Figure>>;

bool ReadTimes(const std::string& path, Figures& figures, json& context) {
  std::ifstream file(path);
  const json times = json::parse(file, nullptr, false);
  if (times.is_discarded()) return false;
  context = times["context"];
  for (const json& run : times["benchmarks"]) {
    if (run.value("error_occurred", false)) continue;
    const std::string name = run["run_name"];
    const std::string input = name.substr(0, name.find('/'));
    std::string variant = name.substr(input.size() + 1);
    variant = variant.substr(0, variant.find('/'));
    Figure& figure = figures[input][variant];
    const std::string aggregate = run.value("aggregate_name", "");
    if (aggregate == "median" || run.value("repetitions", 1) == 1) {
      figure.median = run["cpu_time"];
    } else if (aggregate == "cv") {
      figure.deviation = run["cpu_time"];
    }
  }
  return true;
}

void ReadMemory(const std::string& path, Figures& figures) {
  std::ifstream file(path);
  std::string input, variant;
  for (uint64_t bytes = 0; file >> input >> variant >> bytes;) {
    figures[input][variant].peak_bytes = bytes;
  }
}

struct Ratio {
  const char* over;
  const char* under;
};
constexpr Ratio kRatios[] = {
    {"library_protobuf", "direct_protobuf"}, {"direct_protobuf", "raw_parse"},
    {"library_json", "direct_json"},         {"columnar", "raw_parse"},
    {"library_deparse", "direct_deparse"},   {"library_normalize", "direct_normalize"},
};
constexpr const char* kInputs[] = {"select_1",     "select_46", "select_384",
                                   "large_select", "corpus",    "reference_job"};

void PrintGrammar(const std::string& grammar, const Figures& figures) {
  for (const char* input : kInputs) {
    const auto found = figures.find(input);
    if (found == figures.end()) continue;
    std::printf("\ngrammar %s, %s\n  %-20s %14s %8s %12s\n", grammar.c_str(), input, "variant",
                "median µs", "spread", "peak KiB");
    for (const auto& [variant, figure] : found->second) {
      if (figure.median == 0) continue;
      std::printf("  %-20s %14.2f %7.1f%% %12llu\n", variant.c_str(), figure.median,
                  figure.deviation * 100, static_cast<unsigned long long>(figure.peak_bytes >> 10));
    }
    for (const Ratio& ratio : kRatios) {
      const auto over = found->second.find(ratio.over);
      const auto under = found->second.find(ratio.under);
      if (over == found->second.end() || under == found->second.end()) continue;
      if (over->second.median == 0 || under->second.median == 0) continue;
      std::printf("  %s / %s: %.2f", ratio.over, ratio.under,
                  over->second.median / under->second.median);
      if (over->second.peak_bytes > 0 && under->second.peak_bytes > 0) {
        std::printf(" (memory %.2f)", static_cast<double>(over->second.peak_bytes) /
                                          static_cast<double>(under->second.peak_bytes));
      }
      std::printf("\n");
    }
  }
}

void AddRecords(const std::string& grammar, const Figures& figures, json& records) {
  for (const auto& [input, variants] : figures) {
    for (const auto& [variant, figure] : variants) {
      const auto add = [&](const char* name, double value, const char* unit) {
        records.push_back({{"name", name},
                           {"grammar", grammar},
                           {"input", input},
                           {"variant", variant},
                           {"value", value},
                           {"unit", unit}});
      };
      if (figure.median > 0) {
        add("median", figure.median, "us");
        add("spread", figure.deviation, "ratio");
      }
      if (figure.peak_bytes > 0) add("peak", static_cast<double>(figure.peak_bytes), "bytes");
    }
  }
}

BarGroup ChartGroup(const std::string& grammar, const Figures& figures) {
  BarGroup group{"grammar " + grammar, {}};
  const auto found = figures.find("large_select");
  if (found == figures.end()) return group;
  for (const auto& [variant, label, ours] :
       {std::tuple("raw_parse", "raw parse", false),
        std::tuple("library_protobuf", "protobuf, library", false),
        std::tuple("direct_protobuf", "protobuf, direct", true),
        std::tuple("library_json", "JSON, library", false),
        std::tuple("direct_json", "JSON, direct", true),
        std::tuple("columnar", "columnar, direct", true)}) {
    const auto figure = found->second.find(variant);
    if (figure != found->second.end()) group.bars.push_back({label, figure->second.median, ours});
  }
  return group;
}

}  // namespace
}  // namespace pgparsed::bench

int main(int argc, char** argv) {
  using namespace pgparsed::bench;
  if (argc < 3) {
    std::cerr << "usage: conversion_report FOLDER GRAMMAR...\n";
    return 2;
  }
  const std::string folder = argv[1];
  nlohmann::json context;
  nlohmann::json records = nlohmann::json::array();
  std::vector<BarGroup> groups;
  for (int i = 2; i < argc; ++i) {
    const std::string grammar = argv[i];
    Figures figures;
    if (!ReadTimes(folder + "/" + grammar + ".json", figures, context)) {
      std::cerr << "cannot read " << folder << "/" << grammar << ".json\n";
      return 1;
    }
    ReadMemory(folder + "/" + grammar + ".memory", figures);
    PrintGrammar(grammar, figures);
    AddRecords(grammar, figures, records);
    groups.push_back(ChartGroup(grammar, figures));
  }
  std::ofstream(folder + "/conversion.json")
      << nlohmann::json{{"context", context}, {"records", records}}.dump(1) << "\n";
  std::ofstream(folder + "/conversion.svg")
      << BarChart("From a 2.5 KB query to a tree, CPU time", "µs", groups);
  std::printf("\nwrote %s/conversion.json and conversion.svg\n", folder.c_str());
  return 0;
}
