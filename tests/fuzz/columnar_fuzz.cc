// The view of columnar trees against changed ones: Open says what is wrong, or all of it can be
// walked. The input is an SQL text; its tree is changed in places that the text itself chooses.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "grammar/parsed_query.h"
#include "grammar/tree_writer.h"
#include "pgparsed/columnar_tree.h"
#include "text/utf8.h"
#include "worker/region_sink.h"

namespace pgparsed {
namespace {

void Walk(std::string_view serialized) {
  const auto tree = ColumnarTreeView::Open(serialized);
  if (!tree.ok()) return;
  (void)ToJson(*tree);
  for (const auto node : tree->FindAll("ColumnRef")) {
    for (const auto child : node.children()) (void)child.kind();
  }
}

void Check(std::string_view input) {
  Walk(input);
  if (input.find('\0') != std::string_view::npos || text::FindInvalid(input)) return;
  const std::string sql(input);
  const auto parsed = grammar::ParsedQuery::Parse(sql.c_str(), {});
  if (!parsed.ok()) return;
  static std::vector<char> region(size_t{16} << 20);
  worker::RegionSink sink(region);
  const text::PositionIndex bytes(sql, text::Encoding::kUtf8);
  const auto written = grammar::WriteColumnar(parsed.value()->statements(), bytes, sink);
  if (!written.ok() || !sink.fits()) return;
  std::string tree(region.data(), written.value().bytes);
  Walk(tree);
  uint64_t state = sql.size();
  for (const char c : sql) state = state * 1099511628211u + static_cast<unsigned char>(c);
  for (int change = 0; change < 8 && !tree.empty(); ++change) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    tree[(state >> 16) % tree.size()] = static_cast<char>(state >> 8);
    Walk(tree);
  }
  Walk(std::string_view(tree).substr(0, (state >> 20) % (tree.size() + 1)));
}

}  // namespace
}  // namespace pgparsed

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  pgparsed::Check({reinterpret_cast<const char*>(data), size});
  return 0;
}
