// A columnar tree as libpg_query's JSON. Fields come in the order of their kind's; a stack on the
// heap holds the nodes that are open.
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "pgparsed/columnar_tree.h"

namespace pgparsed {
namespace {

using columnar::Columns;

// What is special about a scalar field.
enum class Rule : uint8_t {
  kNone,
  kLocation,      // has its value in node_location
  kAlwaysString,  // printed even if it is empty
  kBoolval,       // printed even if it is false, when the node has its tag around it
  kPositive,      // printed only if it is more than 0
  kItems,         // a list that is printed even if it is empty
};

class JsonPrinter {
 public:
  explicit JsonPrinter(const Columns& columns)
      : c_(columns), prints_empty_(columns.postgres_version < 180000) {
    rules_.reserve(c_.field_names.size());
    for (size_t kind = 0; kind < c_.kind_names.size(); ++kind) {
      const uint16_t end = c_.first_field(kind + 1);
      for (uint16_t field = c_.first_field(kind); field < end; ++field) {
        rules_.push_back(RuleOf(c_.kind_names[kind], c_.field_names[field]));
      }
    }
  }

  std::string Print() {
    absl::StrAppend(&out_, "{\"version\":", c_.postgres_version, ",\"stmts\":[");
    for (uint32_t root = 0; root < c_.node_count; root = c_.end(root)) {
      Element();
      Push(root, FieldShape::kMessage);
      while (!open_.empty()) {
        uint32_t child = 0;
        if (NextChild(open_.back(), &child)) {
          Push(child, c_.shape(c_.parent_field(child)));
        } else {
          Pop();
        }
      }
    }
    out_ += "]}";
    return std::move(out_);
  }

 private:
  // A node whose closing brace is still to come.
  struct Open {
    uint32_t node;
    uint32_t attribute;     // its next attribute,
    uint32_t child;         // child
    uint16_t field;         // and field
    bool in_field = false;  // a child of this field was printed
    bool has_tag;
  };

  Rule RuleOf(std::string_view kind, std::string_view field) const {
    if (field == "location") return Rule::kLocation;
    if (field == "sval" || field == "fval" || field == "bsval") return Rule::kAlwaysString;
    if (kind == "Boolean" && field == "boolval") return Rule::kBoolval;
    // libpg_query 15 leaves out negative values.
    if (c_.postgres_version < 160000 && kind == "Integer" && field == "ival") {
      return Rule::kPositive;
    }
    if (kind == "List" && field == "items") return Rule::kItems;
    return Rule::kNone;
  }

  void Push(uint32_t node, FieldShape shape) {
    const uint16_t kind = c_.kind(node);
    const std::string_view tag = c_.kind_names[kind];
    const bool has_tag = shape != FieldShape::kMessage && !tag.empty();
    if (has_tag) {
      out_ += "{\"";
      out_ += tag;
      out_ += "\":";
    }
    out_ += '{';
    open_.push_back({.node = node,
                     .attribute = c_.first_attribute[node],
                     .child = node + 1,
                     .field = c_.first_field(kind),
                     .has_tag = has_tag});
  }

  void Pop() {
    out_ += '}';
    if (open_.back().has_tag) out_ += '}';
    open_.pop_back();
  }

  // Prints the fields of a node up to its next child, or all that are left.
  bool NextChild(Open& open, uint32_t* child) {
    const uint16_t end = c_.first_field(size_t{c_.kind(open.node)} + 1);
    for (; open.field < end; ++open.field) {
      switch (c_.shape(open.field)) {
        case FieldShape::kScalar:
          Scalar(open);
          break;
        case FieldShape::kIntegers:
          Integers(open);
          break;
        case FieldShape::kNode:
        case FieldShape::kMessage:
        case FieldShape::kList:
          if (ChildInField(open, child)) return true;
          break;
      }
    }
    return false;
  }

  bool ChildInField(Open& open, uint32_t* child) {
    const bool is_list = c_.shape(open.field) == FieldShape::kList;
    if (open.child < c_.end(open.node) && c_.parent_field(open.child) == open.field) {
      if (!open.in_field) {
        Key(open.field);
        if (is_list) out_ += '[';
      }
      if (is_list) Element();
      open.in_field = true;
      *child = open.child;
      open.child = c_.end(open.child);
      return true;
    }
    if (open.in_field && is_list) {
      out_ += ']';
    } else if (rules_[open.field] == Rule::kItems) {
      Key(open.field);
      out_ += "[]";
    }
    open.in_field = false;
    return false;
  }

  bool HasAttribute(const Open& open) const {
    return open.attribute < c_.first_attribute[open.node + 1] &&
           c_.attribute_name(open.attribute) == open.field;
  }

  void Scalar(Open& open) {
    const Rule rule = rules_[open.field];
    if (HasAttribute(open)) {
      if (IsPrinted(open.attribute, rule)) {
        Key(open.field);
        Value(open.attribute);
      }
      ++open.attribute;
    } else if (rule == Rule::kLocation) {
      const int32_t location = c_.location(open.node);
      // Where JSON has -1 there is an attribute.
      if (location == 0 || location == -1) return;
      Key(open.field);
      absl::StrAppend(&out_, location);
    } else if (rule == Rule::kBoolval && open.has_tag) {
      Key(open.field);
      out_ += "false";
    }
  }

  bool IsPrinted(uint32_t attribute, Rule rule) const {
    if (rule == Rule::kPositive) return static_cast<int64_t>(c_.value(attribute)) > 0;
    return prints_empty_ || rule == Rule::kAlwaysString ||
           c_.type(attribute) != AttributeType::kString || !c_.text(c_.value(attribute)).empty();
  }

  void Integers(Open& open) {
    if (!HasAttribute(open)) return;
    Key(open.field);
    out_ += '[';
    for (; HasAttribute(open); ++open.attribute) {
      Element();
      Value(open.attribute);
    }
    out_ += ']';
  }

  void Value(uint32_t attribute) {
    const uint64_t value = c_.value(attribute);
    switch (c_.type(attribute)) {
      case AttributeType::kInt:
        absl::StrAppend(&out_, static_cast<int64_t>(value));
        break;
      case AttributeType::kUint:
        absl::StrAppend(&out_, value);
        break;
      case AttributeType::kBool:
        out_ += "true";
        break;
      case AttributeType::kString:
      case AttributeType::kEnum:
        String(c_.text(value));
        break;
      case AttributeType::kDouble:
        absl::StrAppendFormat(&out_, "%f", std::bit_cast<double>(value));
        break;
    }
  }

  void String(std::string_view text) {
    constexpr char kDigits[] = "0123456789abcdef";
    constexpr std::string_view kLetters = "\bb\ff\nn\rr\tt\"\"\\\\";
    out_ += '"';
    size_t plain = 0;  // where the bytes begin that are printed as they are
    for (size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      const auto byte = static_cast<uint8_t>(c);
      // '<' and '>' need no escape, but libpg_query writes one.
      if (byte >= 0x20 && c != '"' && c != '\\' && c != '<' && c != '>') continue;
      out_ += text.substr(plain, i - plain);
      plain = i + 1;
      size_t letter = 0;
      while (letter < kLetters.size() && kLetters[letter] != c) letter += 2;
      if (letter < kLetters.size()) {
        out_ += '\\';
        out_ += kLetters[letter + 1];
      } else {
        out_ += "\\u00";
        out_ += kDigits[byte >> 4];
        out_ += kDigits[byte & 15];
      }
    }
    out_ += text.substr(plain);
    out_ += '"';
  }

  void Key(uint16_t field) {
    if (out_.back() != '{') out_ += ',';
    out_ += '"';
    out_ += c_.field_names[field];
    out_ += "\":";
  }

  void Element() {
    if (out_.back() != '[') out_ += ',';
  }

  const Columns& c_;
  const bool prints_empty_;  // empty strings of all fields
  std::vector<Rule> rules_;  // for each field
  std::vector<Open> open_;
  std::string out_;
};

}  // namespace

std::string ToJson(const ColumnarTreeView& tree) { return JsonPrinter(*tree.columns_).Print(); }

}  // namespace pgparsed
