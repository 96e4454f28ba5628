// Library against direct: whatever parses must give the same protobuf and JSON both ways, come back
// from both as the same tree, and normalize to text. The readers also get the bytes as they are.
#include <pthread.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "grammar/parsed_query.h"
#include "grammar/stack_limit.h"
#include "grammar/tree_compare.h"
#include "grammar/tree_reader.h"
#include "grammar/tree_writer.h"
#include "text/utf8.h"
#include "worker/region_sink.h"

namespace pgparsed::grammar {
namespace {

void Require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "not so: %s\n", what);
  std::abort();
}

std::vector<char>& Region() {
  static std::vector<char> region(size_t{16} << 20);
  return region;
}

void CheckQuery(const std::string& sql) {
  const auto parsed = ParsedQuery::Parse(sql.c_str(), {});
  if (!parsed.ok()) return;
  ParsedQuery& query = *parsed.value();
  const text::PositionIndex bytes(sql, text::Encoding::kUtf8);

  const auto protobuf = WriteProtobuf(query.statements(), bytes, Region());
  Require(protobuf.ok() && protobuf.value().bytes <= Region().size(), "protobuf is written");
  const size_t size = protobuf.value().bytes;
  const std::string tree(Region().data() + Region().size() - size, size);
  const auto library = query.LibraryProtobuf();
  if (library.ok()) Require(library.value() == tree, "protobuf equals the library's");

  worker::RegionSink json_sink(Region());
  const auto json = WriteJson(query.statements(), bytes, json_sink);
  Require(json.ok() && json_sink.fits(), "JSON is written");
  const std::string text(Region().data(), json.value().bytes);
  const auto library_json = query.LibraryJson();
  if (library_json.ok()) Require(library_json.value() == text, "JSON equals the library's");

  worker::RegionSink columnar_sink(Region());
  Require(WriteColumnar(query.statements(), bytes, columnar_sink).ok(), "columns are written");

  LibraryScope scope;
  const auto from_protobuf = ReadProtobufTree(scope, tree);
  Require(from_protobuf.ok(), "protobuf is read");
  Require(!FirstDifference(query.statements(), from_protobuf.value()), "protobuf comes back");
  const auto from_json = ReadJsonTree(scope, text);
  if (PGPARSED_GRAMMAR > 15) {
    Require(from_json.ok(), "JSON is read");
    Require(!FirstDifference(query.statements(), from_json.value()), "JSON comes back");
  }
  Require(query.Normalize(false).ok(), "it normalizes");
}

void Check(std::string_view input) {
  if (input.find('\0') == std::string_view::npos && !text::FindInvalid(input)) {
    CheckQuery(std::string(input));
  }
  LibraryScope scope;
  (void)ReadProtobufTree(scope, input);
  (void)ReadJsonTree(scope, input);
}

// The library recurses: each input has a stack as in a worker, if smaller.
void CheckOnLargeStack(std::string_view input) {
  constexpr size_t kStackBytes = size_t{256} << 20;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_t thread;
  const auto run = [](void* argument) -> void* {
    pgparsed_set_stack_limit(static_cast<char*>(__builtin_frame_address(0)) - kStackBytes / 4 * 3);
    Check(*static_cast<std::string_view*>(argument));
    return nullptr;
  };
  if (pthread_create(&thread, &attributes, run, &input) != 0) std::abort();
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

}  // namespace
}  // namespace pgparsed::grammar

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  pgparsed::grammar::CheckOnLargeStack({reinterpret_cast<const char*>(data), size});
  return 0;
}
