#include "cli/columnar_table.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/utf8_display.h"

namespace pgparsed::cli {
namespace {

constexpr uint32_t kMaxIndentDepth = 30;
constexpr int kTextColumns = 60;

std::string KindCell(const ColumnarTreeView::Node& node, uint32_t depth) {
  std::string cell(size_t{std::min(depth, kMaxIndentDepth)} * 2, ' ');
  if (depth > kMaxIndentDepth) absl::StrAppend(&cell, "(depth ", depth, ") ");
  cell += node.kind().empty() ? std::string_view("NULL") : node.kind();
  return cell;
}

std::string ValueCell(const ColumnarTreeView::Attribute& attribute) {
  switch (attribute.type()) {
    case AttributeType::kInt:
      return absl::StrCat(attribute.AsInt());
    case AttributeType::kUint:
      return absl::StrCat(attribute.AsUint());
    case AttributeType::kBool:
      return "true";
    case AttributeType::kDouble:
      return absl::StrCat(attribute.AsDouble());
    case AttributeType::kEnum:
      return PrintableLine(attribute.AsString(), kTextColumns);
    case AttributeType::kString:
      break;
  }
  return absl::StrCat("\"", PrintableLine(attribute.AsString(), kTextColumns), "\"");
}

}  // namespace

void WriteColumnarTable(const ColumnarTreeView& tree,
                        const std::function<bool(std::string_view)>& sink) {
  std::vector<uint32_t> depths(tree.size());
  size_t kind_width = 4;
  size_t field_width = 5;
  for (const auto node : tree.nodes()) {
    const auto parent = node.parent();
    if (parent.has_value()) depths[node.index()] = depths[parent->index()] + 1;
    kind_width = std::max(kind_width, KindCell(node, depths[node.index()]).size());
    field_width = std::max(field_width, node.field().size());
  }
  const auto line = [&](const std::string& node, const std::string& location,
                        const std::string& kind, std::string_view field,
                        const std::string& attributes) {
    std::string text =
        absl::StrFormat("%8s %8s  %-*s  %-*s  %s", node, location, static_cast<int>(kind_width),
                        kind, static_cast<int>(field_width), std::string(field), attributes);
    text.erase(text.find_last_not_of(' ') + 1);
    return sink(text + "\n");
  };
  if (!line("node", "location", "kind", "field", "attributes")) return;
  for (const auto node : tree.nodes()) {
    std::string attributes;
    for (const auto attribute : node.attributes()) {
      absl::StrAppend(&attributes, attributes.empty() ? "" : " ", std::string(attribute.field()),
                      "=", ValueCell(attribute));
    }
    const auto location = node.location();
    if (!line(absl::StrCat(node.index()), location.has_value() ? absl::StrCat(*location) : "-",
              KindCell(node, depths[node.index()]), node.field(), attributes)) {
      return;
    }
  }
}

}  // namespace pgparsed::cli
