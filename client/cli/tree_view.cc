#include "cli/tree_view.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "pgparsed/errors.h"

namespace pgparsed::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kTagColour = "\033[1;36m";
constexpr std::string_view kDim = "\033[2m";
constexpr std::string_view kReset = "\033[0m";

// A node tag and what is in the node. Tags are the objects' only keys, and start with a capital
// letter; field names do not.
struct Tagged {
  const std::string& tag;
  const Json& body;
};

std::optional<Tagged> AsTagged(const Json& value) {
  if (!value.is_object() || value.size() != 1) return std::nullopt;
  const auto entry = value.begin();
  const std::string& key = entry.key();
  if (key.empty() || key[0] < 'A' || key[0] > 'Z' || !entry.value().is_object()) {
    return std::nullopt;
  }
  return Tagged{key, entry.value()};
}

std::string Dump(const Json& plain) {
  return plain.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// The one member of a value node's body, or what its absence stands for.
std::optional<std::string> Member(const Json& body, const char* key, const char* absent) {
  if (body.empty()) return absent;
  if (body.size() != 1 || body.begin().key() != key || body.begin()->is_structured()) {
    return std::nullopt;
  }
  std::string text = Dump(*body.begin());
  // Numbers that are too long for others stand in JSON as strings.
  if (std::string_view(key) == "fval" && text.size() > 2) text = text.substr(1, text.size() - 2);
  return text;
}

std::optional<std::string> ValueNode(const Json& value) {
  const auto node = AsTagged(value);
  if (!node.has_value()) return std::nullopt;
  if (node->tag == "String") return Member(node->body, "sval", "\"\"");
  if (node->tag == "Integer") return Member(node->body, "ival", "0");
  if (node->tag == "Float") return Member(node->body, "fval", "\"\"");
  if (node->tag == "Boolean") return Member(node->body, "boolval", "false");
  if (node->tag == "BitString") return Member(node->body, "bsval", "\"\"");
  if (node->tag == "A_Star" && node->body.empty()) return "*";
  return std::nullopt;
}

// A_Const holds its value behind the same key twice: "ival": {"ival": 1}.
std::optional<std::string> ConstantMember(const std::string& key, const Json& value) {
  if (!value.is_object()) return std::nullopt;
  if (key == "ival") return Member(value, "ival", "0");
  if (key == "fval") return Member(value, "fval", "\"\"");
  if (key == "sval") return Member(value, "sval", "\"\"");
  if (key == "bsval") return Member(value, "bsval", "\"\"");
  if (key == "boolval") return Member(value, "boolval", "false");
  return std::nullopt;
}

// What can stand on its holder's line.
std::optional<std::string> Inline(const std::string& key, const Json& value) {
  if (!value.is_structured()) return Dump(value);
  if (value.empty()) return value.is_array() ? "[]" : ConstantMember(key, value).value_or("{}");
  if (value.is_array()) {
    std::string list = "[";
    for (const Json& item : value) {
      std::optional<std::string> text = item.is_structured() ? ValueNode(item) : Dump(item);
      if (!text.has_value()) return std::nullopt;
      if (list.size() > 1) list += ", ";
      list += *text;
    }
    return list + "]";
  }
  if (auto constant = ConstantMember(key, value)) return constant;
  return ValueNode(value);
}

struct Pending {
  const Json* value;
  std::string label;
  int depth;
};

class View {
 public:
  View(bool colour, const Sink& sink) : colour_(colour), sink_(sink) {}

  void Write(const Json& root) {
    Push(root, "", 0);
    while (!stack_.empty()) {
      const Pending next = std::move(stack_.back());
      stack_.pop_back();
      if (!WriteNode(next)) return;
    }
  }

 private:
  // Puts a structured value on the stack; an array as its items, the first on top.
  void Push(const Json& value, const std::string& label, int depth) {
    if (!value.is_array()) {
      stack_.push_back({&value, label, depth});
      return;
    }
    for (size_t i = value.size(); i > 0; --i) {
      stack_.push_back({&value[i - 1], absl::StrCat(label, "[", i - 1, "]"), depth});
    }
  }

  bool WriteNode(const Pending& node) {
    std::string line;
    line.append(static_cast<size_t>(std::min(node.depth, kMaxIndentDepth)) * 2, ' ');
    if (node.depth > kMaxIndentDepth) Add(line, absl::StrCat("(depth ", node.depth, ") "), kDim);
    if (!node.label.empty()) absl::StrAppend(&line, node.label, ":");

    const Json* body = node.value;
    bool has_head = !node.label.empty();
    if (const auto plain = Inline("", *node.value)) {
      Space(line);
      absl::StrAppend(&line, *plain, "\n");
      return sink_(line);
    }
    if (const auto tagged = AsTagged(*node.value)) {
      Space(line);
      Add(line, tagged->tag, kTagColour);
      body = &tagged->body;
      has_head = true;
    }
    std::vector<std::pair<const std::string*, const Json*>> children;
    std::string location;
    if (body->is_object()) {
      for (const auto& [key, value] : body->items()) {
        if (key == "location" && value.is_number_integer()) {
          if (value.get<int64_t>() >= 0) location = absl::StrCat("@", Dump(value));
        } else if (const auto plain = Inline(key, value)) {
          Space(line);
          absl::StrAppend(&line, key, "=", *plain);
        } else {
          children.emplace_back(&key, &value);
        }
      }
    } else {
      children.emplace_back(&empty_, body);  // a list in a list
    }
    if (!location.empty()) {
      Space(line);
      Add(line, location, kDim);
    }
    for (auto child = children.rbegin(); child != children.rend(); ++child) {
      // What stands at the top, beside the version, needs no indentation.
      Push(*child->second, *child->first, has_head ? node.depth + 1 : node.depth);
    }
    if (line.empty()) return true;  // a root without values of its own
    line += '\n';
    return sink_(line);
  }

  static void Space(std::string& line) {
    if (!line.empty() && line.back() != ' ') line += ' ';
  }

  void Add(std::string& line, std::string_view text, std::string_view colour) const {
    if (!colour_) {
      line += text;
      return;
    }
    line += colour;
    line += text;
    line += kReset;
  }

  const bool colour_;
  const Sink& sink_;
  const std::string empty_;
  std::vector<Pending> stack_;
};

}  // namespace

absl::Status WriteTreeView(std::string_view json, bool colour, const Sink& sink) {
  const Json root = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (root.is_discarded()) {
    return MakeError(Reason::kInternal,
                     "the server's tree is no valid JSON: --format json shows it");
  }
  View(colour, sink).Write(root);
  return absl::OkStatus();
}

}  // namespace pgparsed::cli
