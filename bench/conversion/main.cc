// conversion_bench_<grammar> --corpus=DIR --memory-out=FILE [Google Benchmark's options]: times
// every variant on every input, interleaved, and measures what each takes in memory.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/conversion/memory.h"
#include "bench/conversion/variants.h"
#include "bench/inputs.h"
#include "bench/large_stack.h"

namespace pgparsed::bench {
namespace {

void Time(benchmark::State& state, const Variant& variant, const std::vector<std::string>& texts) {
  uint64_t bytes = 0;
  for (auto _ : state) {
    bytes = 0;
    for (const std::string& text : texts) bytes += variant.run(text);
    benchmark::DoNotOptimize(bytes);
  }
  if (bytes == 0) state.SkipWithError("not possible");
  state.counters["bytes_made"] = static_cast<double>(bytes);
}

void Register(const Input& input, const Variant& variant) {
  std::vector<std::string> texts;
  for (const std::string& text : input.texts) {
    std::string prepared = variant.prepare != nullptr ? variant.prepare(text) : text;
    if (!prepared.empty()) texts.push_back(std::move(prepared));
  }
  auto* registered = benchmark::RegisterBenchmark(
      (input.name + "/" + std::string(variant.name)).c_str(),
      [&variant, texts](benchmark::State& state) { Time(state, variant, texts); });
  registered->Unit(benchmark::kMicrosecond)->MeasureProcessCPUTime();
  // The library's normalizer takes some ten seconds for the reference job.
  const bool once = input.name == "reference_job" && variant.name == "library_normalize";
  if (input.long_running) registered->Iterations(1);
  registered->Repetitions(once ? 1 : input.long_running ? 3 : 7);
}

void WriteMemory(const std::vector<Input>& inputs, const std::string& path) {
  std::ofstream out(path);
  for (const Input& input : inputs) {
    if (input.texts.size() != 1) continue;
    for (const Variant& variant : Variants()) {
      out << input.name << ' ' << variant.name << ' ' << PeakBytes(variant, input.texts[0]) << '\n';
    }
  }
}

struct Arguments {
  std::string corpus;
  std::string memory_out;
};

void Run(const Arguments& arguments) {
  const std::vector<Input> inputs = Inputs(arguments.corpus);
  if (!arguments.memory_out.empty()) WriteMemory(inputs, arguments.memory_out);
  for (const Input& input : inputs) {
    for (const Variant& variant : Variants()) Register(input, variant);
  }
  benchmark::RunSpecifiedBenchmarks();
}

// Takes `name`'s value out of the arguments.
std::string TakeOption(std::vector<char*>& arguments, std::string_view name) {
  for (auto at = arguments.begin(); at != arguments.end(); ++at) {
    const std::string_view argument(*at);
    if (argument.starts_with(name) && argument.substr(name.size()).starts_with('=')) {
      const std::string value(argument.substr(name.size() + 1));
      arguments.erase(at);
      return value;
    }
  }
  return "";
}

}  // namespace
}  // namespace pgparsed::bench

int main(int argc, char** argv) {
  std::vector<char*> rest(argv, argv + argc);
  pgparsed::bench::Arguments arguments;
  arguments.corpus = pgparsed::bench::TakeOption(rest, "--corpus");
  arguments.memory_out = pgparsed::bench::TakeOption(rest, "--memory-out");
  int count = static_cast<int>(rest.size());
  benchmark::Initialize(&count, rest.data());
  if (benchmark::ReportUnrecognizedArguments(count, rest.data())) return 2;

  if (!pgparsed::bench::RunOnLargeStack([&] { pgparsed::bench::Run(arguments); })) {
    std::cerr << "cannot start a thread with a stack of 1 GiB\n";
    return 1;
  }
  return 0;
}
