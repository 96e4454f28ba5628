// Memory of the library: its contexts, and results that it allocated with malloc.
#pragma once

#include <cstdlib>
#include <memory>
#include <string_view>
#include <utility>

namespace pgparsed::grammar {

// A result that belongs to the caller.
class LibraryText {
 public:
  LibraryText() = default;
  // Takes over `data`, which came from malloc.
  LibraryText(char* data, size_t size) : data_(data), size_(size) {}

  std::string_view view() const { return {data_.get(), size_}; }

 private:
  struct Free {
    void operator()(char* data) const { std::free(data); }
  };
  std::unique_ptr<char, Free> data_;
  size_t size_ = 0;
};

// A memory context of the library, in which trees and what is made of them live; all of it goes
// with the scope. Scopes may overlap in time on one thread.
class LibraryScope {
 public:
  LibraryScope();
  ~LibraryScope();
  LibraryScope(const LibraryScope&) = delete;
  LibraryScope& operator=(const LibraryScope&) = delete;

  void* memory_context() const { return context_; }

 private:
  void* context_;
};

// Frees the memory contexts that the library keeps for reuse on this thread.
void ReleaseLibraryMemory();

}  // namespace pgparsed::grammar
