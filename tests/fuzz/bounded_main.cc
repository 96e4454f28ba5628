// bounded_main RUNS CORPUS: a fuzz target without libFuzzer, for every compiler: RUNS inputs made
// from the corpus' statements by cutting, joining and changing them, the same ones each time.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "tests/conformance/corpus.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

using Statements = std::vector<pgparsed::conformance::CorpusStatement>;

std::string Mutated(const Statements& seeds, std::mt19937& random) {
  const auto below = [&](size_t end) { return end > 0 ? random() % end : 0; };
  const auto any = [&] { return seeds[below(seeds.size())].sql; };
  std::string input = any();
  for (size_t change = below(4); change-- > 0;) {
    const size_t at = below(input.size() + 1);
    switch (below(5)) {
      case 0:
        input.erase(at, below(8));
        break;
      case 1:
        input.insert(at, 1, " ();,'\"$+-*[]x1"[below(15)]);
        break;
      case 2: {  // a part of another statement
        const std::string other = any();
        const size_t from = below(other.size() + 1);
        input.insert(at, other.substr(from, below(40)));
        break;
      }
      case 3:
        input += "; " + any();
        break;
      default:
        if (at < input.size()) input[at] = static_cast<char>(input[at] ^ (1 << below(7)));
        break;
    }
  }
  return input;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s RUNS CORPUS\n", argv[0]);
    return 2;
  }
  const auto seeds = pgparsed::conformance::LoadCorpus(argv[2]);
  if (!seeds.ok() || seeds->empty()) {
    std::fprintf(stderr, "no statements in %s\n", argv[2]);
    return 1;
  }
  std::mt19937 random(20261201);
  const long runs = std::strtol(argv[1], nullptr, 10);
  for (long i = 0; i < runs; ++i) {
    const std::string input = Mutated(*seeds, random);
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(input.data()), input.size());
  }
  std::printf("%ld inputs\n", runs);
  return 0;
}
