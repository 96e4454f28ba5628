// Decodes trees into arenas with generated C++, as a program does that works on them.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

namespace pgparsed::bench {

class TreeDecoder {
 public:
  virtual ~TreeDecoder() = default;
  // Decodes one tree; the one before is gone. False if it is malformed.
  virtual bool Decode(std::string_view tree) = 0;
};

// nullptr if this program has no classes for the trees of that grammar.
std::unique_ptr<TreeDecoder> MakeTreeDecoder(uint32_t grammar);

}  // namespace pgparsed::bench
