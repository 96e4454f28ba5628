// Rows that are added one by one and read once. They never move, and no more memory is touched than
// they need: blocks double up to a size and stay there.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "grammar/short_string.h"

namespace pgparsed::grammar {

template <typename Row>
class RowBlocks {
 public:
  static_assert(std::is_trivially_copyable_v<Row>);

  // The reference stays valid until Clear.
  [[gnu::always_inline]] Row& Add(const Row& row) {
    if (next_ == end_) AddBlock();
    Row& added = *next_++;
    added = row;
    ++size_;
    return added;
  }

  size_t size() const { return size_; }

  // Calls use(rows) for each block, in order.
  template <typename Use>
  void ForEachBlock(Use use) const {
    for (const Block& block : blocks_) {
      const size_t left = &block == &blocks_.back() ? Left() : 0;
      use(std::span<const Row>(block.rows.get(), block.size - left));
    }
  }

  void Clear() {
    blocks_.clear();
    next_ = end_ = nullptr;
    size_ = 0;
  }

 private:
  static constexpr size_t kFirstBlock = 256;
  static constexpr size_t kLargestBlock = 16384;

  struct Block {
    std::unique_ptr<Row[]> rows;
    size_t size;
  };

  size_t Left() const { return static_cast<size_t>(end_ - next_); }

  [[gnu::noinline]] void AddBlock() {
    const size_t size =
        blocks_.empty() ? kFirstBlock : std::min(blocks_.back().size * 2, kLargestBlock);
    blocks_.push_back({std::make_unique_for_overwrite<Row[]>(size), size});
    next_ = blocks_.back().rows.get();
    end_ = next_ + size;
  }

  std::vector<Block> blocks_;
  Row* next_ = nullptr;
  Row* end_ = nullptr;
  size_t size_ = 0;
};

// Strings, one behind the other, and where each ends.
class StringBlocks {
 public:
  [[gnu::always_inline]] void Add(std::string_view text) {
    if (text.size() > Left()) AddBlock(text.size());
    CopyShort(next_, text.data(), text.size());
    next_ += text.size();
    bytes_ += text.size();
    ends_.Add(static_cast<uint32_t>(bytes_));
  }

  size_t size() const { return ends_.size(); }
  uint64_t bytes() const { return bytes_; }
  const RowBlocks<uint32_t>& ends() const { return ends_; }

  template <typename Use>
  void ForEachBlock(Use use) const {
    for (const Block& block : blocks_) {
      use(std::string_view(block.bytes.get(), &block == &blocks_.back() ? Used() : block.used));
    }
  }

 private:
  static constexpr size_t kFirstBlock = 4096;
  static constexpr size_t kLargestBlock = 256u << 10;

  struct Block {
    std::unique_ptr<char[]> bytes;
    size_t size;
    size_t used;  // known once the next block is there
  };

  size_t Left() const { return static_cast<size_t>(end_ - next_); }
  size_t Used() const { return static_cast<size_t>(next_ - blocks_.back().bytes.get()); }

  [[gnu::noinline]] void AddBlock(size_t least) {
    size_t size = kFirstBlock;
    if (!blocks_.empty()) {
      blocks_.back().used = Used();
      size = std::min(blocks_.back().size * 2, kLargestBlock);
    }
    size = std::max(size, least);
    blocks_.push_back({std::make_unique_for_overwrite<char[]>(size), size, 0});
    next_ = blocks_.back().bytes.get();
    end_ = next_ + size;
  }

  RowBlocks<uint32_t> ends_;
  std::vector<Block> blocks_;
  char* next_ = nullptr;
  char* end_ = nullptr;
  uint64_t bytes_ = 0;
};

}  // namespace pgparsed::grammar
