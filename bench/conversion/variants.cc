#include "bench/conversion/variants.h"

#include <pg_query.h>
#include <sys/mman.h>

#include <cstring>
#include <memory>
#include <vector>

#include "grammar/byte_sink.h"
#include "grammar/deparse.h"
#include "grammar/operations.h"
#include "grammar/parsed_query.h"
#include "grammar/tree_reader.h"
#include "grammar/tree_writer.h"
#include "text/positions.h"

namespace pgparsed::bench {
namespace {

// Stands for the answer region of a channel: sparse memory, written in place.
std::span<char> Region() {
  constexpr size_t kBytes = size_t{192} << 20;
  static void* const region = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return {static_cast<char*>(region), kBytes};
}

class RegionSink final : public grammar::ByteSink {
 public:
  std::span<char> Next(size_t) override { return Region(); }
  void Finish(size_t) override {}
};

text::PositionIndex Bytes(const std::string& text) { return {text, text::Encoding::kUtf8}; }

// Parses and hands the raw tree to `convert`.
template <typename Convert>
uint64_t Parsed(const std::string& text, Convert convert) {
  const auto query = grammar::ParsedQuery::Parse(text.c_str(), {});
  return query.ok() ? convert(*query.value()) : 0;
}

uint64_t RawParse(const std::string& text) {
  return Parsed(text, [](grammar::ParsedQuery&) { return uint64_t{1}; });
}

uint64_t LibraryProtobuf(const std::string& text) {
  const PgQueryProtobufParseResult result = pg_query_parse_protobuf(text.c_str());
  const uint64_t bytes = result.error == nullptr ? result.parse_tree.len : 0;
  pg_query_free_protobuf_parse_result(result);
  return bytes;
}

uint64_t DirectProtobuf(const std::string& text) {
  return Parsed(text, [&](grammar::ParsedQuery& query) {
    return grammar::WriteProtobuf(query.statements(), Bytes(text), Region()).value().bytes;
  });
}

uint64_t LibraryJson(const std::string& text) {
  const PgQueryParseResult result = pg_query_parse(text.c_str());
  const uint64_t bytes = result.error == nullptr ? std::strlen(result.parse_tree) : 0;
  pg_query_free_parse_result(result);
  return bytes;
}

uint64_t DirectJson(const std::string& text) {
  RegionSink sink;
  return Parsed(text, [&](grammar::ParsedQuery& query) {
    return grammar::WriteJson(query.statements(), Bytes(text), sink).value().bytes;
  });
}

uint64_t Columnar(const std::string& text) {
  RegionSink sink;
  return Parsed(text, [&](grammar::ParsedQuery& query) {
    return grammar::WriteColumnar(query.statements(), Bytes(text), sink).value().bytes;
  });
}

std::string TreeOf(const std::string& text) {
  std::string tree;
  Parsed(text, [&](grammar::ParsedQuery& query) {
    const uint64_t bytes =
        grammar::WriteProtobuf(query.statements(), Bytes(text), Region()).value().bytes;
    tree.assign(Region().data() + Region().size() - bytes, bytes);
    return bytes;
  });
  return tree;
}

uint64_t LibraryDeparse(const std::string& tree) {
  PgQueryProtobuf protobuf = {};
  protobuf.len = tree.size();
  protobuf.data = const_cast<char*>(tree.data());
  const PgQueryDeparseResult result = pg_query_deparse_protobuf(protobuf);
  const uint64_t bytes = result.error == nullptr ? std::strlen(result.query) : 0;
  pg_query_free_deparse_result(result);
  return bytes;
}

uint64_t DirectDeparse(const std::string& tree) {
  grammar::LibraryScope scope;
  std::vector<grammar::LibraryText> results;
  const auto statements = grammar::ReadProtobufTree(scope, tree);
  if (!statements.ok()) return 0;
  const auto printed = grammar::PrintStatements(scope, statements.value(), {}, {}, false, results);
  return printed.ok() ? printed.value().size() : 0;
}

// Nothing where the direct way refuses: the library's deparsers crash on some of those.
std::string TreeToDeparse(const std::string& text) {
  std::string tree = TreeOf(text);
  if (DirectDeparse(tree) == 0) tree.clear();
  return tree;
}

uint64_t Format(const std::string& text) {
  return Parsed(text, [](grammar::ParsedQuery& query) {
    const auto formatted = query.Format({.pretty = grammar::kFeatures.pretty_print}, true, true);
    return formatted.ok() ? formatted.value().size() : 0;
  });
}

uint64_t LibraryNormalize(const std::string& text) {
  const PgQueryNormalizeResult result = pg_query_normalize(text.c_str());
  const uint64_t bytes = result.error == nullptr ? std::strlen(result.normalized_query) : 0;
  pg_query_free_normalize_result(result);
  return bytes;
}

uint64_t DirectNormalize(const std::string& text) {
  return Parsed(text, [](grammar::ParsedQuery& query) {
    const auto normalized = query.Normalize(false);
    return normalized.ok() ? normalized.value().view().size() : 0;
  });
}

constexpr Variant kVariants[] = {
    {"raw_parse", RawParse, nullptr},
    {"library_protobuf", LibraryProtobuf, nullptr},
    {"direct_protobuf", DirectProtobuf, nullptr},
    {"library_json", LibraryJson, nullptr},
    {"direct_json", DirectJson, nullptr},
    {"columnar", Columnar, nullptr},
    {"library_deparse", LibraryDeparse, TreeToDeparse},
    {"direct_deparse", DirectDeparse, TreeToDeparse},
    {"format", Format, nullptr},
    {"library_normalize", LibraryNormalize, nullptr},
    {"direct_normalize", DirectNormalize, nullptr},
};

}  // namespace

std::span<const Variant> Variants() { return kVariants; }

}  // namespace pgparsed::bench
