#include "bench/service/tree_decoder.h"

#include <google/protobuf/arena.h>

#include <vector>

#ifdef PGPARSED_BENCH_TREES_17
#include "grammar_17.pb.h"
#endif
#ifdef PGPARSED_BENCH_TREES_18
#include "grammar_18.pb.h"
#endif

namespace pgparsed::bench {
namespace {

// The arena's first block, which it keeps, has room for the trees of usual queries.
constexpr size_t kFirstBlockBytes = 256 << 10;

google::protobuf::ArenaOptions OptionsWith(std::vector<char>& block) {
  google::protobuf::ArenaOptions options;
  options.initial_block = block.data();
  options.initial_block_size = block.size();
  return options;
}

template <typename Tree>
class ArenaDecoder final : public TreeDecoder {
 public:
  ArenaDecoder() : block_(kFirstBlockBytes), arena_(OptionsWith(block_)) {}

  bool Decode(std::string_view tree) override {
    arena_.Reset();
    auto* const decoded = google::protobuf::Arena::CreateMessage<Tree>(&arena_);
    return decoded->ParseFromArray(tree.data(), static_cast<int>(tree.size()));
  }

 private:
  std::vector<char> block_;
  google::protobuf::Arena arena_;
};

}  // namespace

std::unique_ptr<TreeDecoder> MakeTreeDecoder([[maybe_unused]] uint32_t grammar) {
#ifdef PGPARSED_BENCH_TREES_17
  if (grammar == 17) return std::make_unique<ArenaDecoder<grammar_17::ParseResult>>();
#endif
#ifdef PGPARSED_BENCH_TREES_18
  if (grammar == 18) return std::make_unique<ArenaDecoder<grammar_18::ParseResult>>();
#endif
  return nullptr;
}

}  // namespace pgparsed::bench
