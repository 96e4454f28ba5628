#include "grammar/generator/node_writer.h"

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "grammar/generator/exceptions.h"
#include "grammar/generator/output_file.h"

namespace pgparsed::generator {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;

struct Field {
  const FieldDescriptor* proto;
  size_t id;  // index into kFields
  size_t reference = 0;
};

struct Message {
  const Descriptor* proto;
  int node_number;
  std::vector<Field> fields;
};

// The messages that stand for structs, with their fields and enums numbered.
class Model {
 public:
  explicit Model(const GrammarProto& grammar) {
    std::map<const Descriptor*, int> node_numbers;
    const Descriptor& node = grammar.Message("Node");
    for (int i = 0; i < node.field_count(); ++i) {
      node_numbers[node.field(i)->message_type()] = node.field(i)->number();
    }
    list_node_number_ = node_numbers.at(&grammar.Message("List"));
    std::map<const Descriptor*, size_t> message_index;
    for (int i = 0; i < grammar.file().message_type_count(); ++i) {
      const Descriptor* message = grammar.file().message_type(i);
      if (!HasStruct(*message)) continue;
      message_index[message] = messages_.size();
      messages_.push_back({message, node_numbers[message], {}});
    }
    size_t id = 0;
    for (Message& message : messages_) {
      for (int i = 0; i < message.proto->field_count(); ++i) {
        const FieldDescriptor* field = message.proto->field(i);
        if (!IsWritten(*field)) continue;
        Field row{field, id++};
        if (field->enum_type() != nullptr) row.reference = EnumIndex(field->enum_type());
        if (field->message_type() != nullptr && field->message_type() != &node) {
          row.reference = message_index.at(field->message_type());
        }
        message.fields.push_back(row);
      }
    }
  }

  const std::vector<Message>& messages() const { return messages_; }
  const std::vector<const EnumDescriptor*>& enums() const { return enums_; }
  int list_node_number() const { return list_node_number_; }

 private:
  size_t EnumIndex(const EnumDescriptor* values) {
    const auto [found, is_new] = enum_index_.emplace(values, enums_.size());
    if (is_new) enums_.push_back(values);
    return found->second;
  }

  int list_node_number_ = 0;
  std::vector<Message> messages_;
  std::vector<const EnumDescriptor*> enums_;
  std::map<const EnumDescriptor*, size_t> enum_index_;
};

std::string ShapeOf(const FieldDescriptor& field) {
  if (field.message_type() != nullptr) {
    if (field.is_repeated()) return "kList";
    return field.message_type()->name() == "Node" ? "kNode" : "kMessage";
  }
  return field.is_repeated() ? "kIntegerSet" : "kScalar";
}

// The visitor's method for a field: node_visitor.h says what each gets.
std::string MethodOf(const FieldDescriptor& field) {
  if (field.enum_type() != nullptr) return "Enum";
  const std::string shape = ShapeOf(field);
  if (shape != "kScalar") return shape.substr(1);
  if (field.type() == FieldDescriptor::TYPE_STRING) return "Text";
  if (field.type() == FieldDescriptor::TYPE_BOOL) return "Bool";
  const std::string meaning = MeaningOf(field);
  return meaning == "kPlain" ? "Number" : meaning.substr(1);
}

void WriteEnums(const Model& model, std::ostream& out) {
  for (const EnumDescriptor* values : model.enums()) {
    out << "inline constexpr EnumValue k" << values->name() << "Values[] = {\n";
    for (int i = 0; i < values->value_count(); ++i) {
      const auto& value = *values->value(i);
      if (value.number() == 0) continue;  // …_UNDEFINED: the proto's own
      out << "    {";
      if (IsOffsetByOne(*values)) {
        out << value.number() - 1;
      } else {
        out << "static_cast<int32_t>(::" << value.name() << ")";
      }
      out << ", " << value.number() << ", \"" << value.name() << "\"},\n";
    }
    out << "};\n";
  }
  out << "\ninline constexpr EnumRow kEnums[] = {\n";
  for (const EnumDescriptor* values : model.enums()) {
    out << "    {\"" << values->name() << "\", k" << values->name() << "Values},\n";
  }
  out << "};\n\n";
}

void WriteFields(const Model& model, std::ostream& out) {
  out << "inline constexpr FieldRow kFields[] = {\n";
  for (const Message& message : model.messages()) {
    for (const Field& field : message.fields) {
      const std::string member = MemberOf(*field.proto);
      out << "    {\"\\\"" << field.proto->json_name() << "\\\":\", " << field.proto->number()
          << ", Shape::" << ShapeOf(*field.proto) << ", "
          << (field.proto->enum_type() != nullptr
                  ? "CType::kEnum"
                  : "TypeOf<decltype(::" + message.proto->name() + "{}." + member + ")>()")
          << ", Meaning::" << MeaningOf(*field.proto) << ", "
          << (field.proto->real_containing_oneof() != nullptr ? "true" : "false") << ", "
          << field.reference << ", offsetof(::" << message.proto->name() << ", " << member
          << ")},\n";
    }
  }
  out << "};\n\n";
}

void WriteMessages(const Model& model, std::ostream& out) {
  size_t first = 0;
  out << "inline constexpr MessageRow kMessages[] = {\n";
  for (const Message& message : model.messages()) {
    const std::string& name = message.proto->name();
    out << "    {\"" << name << "\", "
        << (message.node_number > 0 ? "::T_" + name : std::string("0")) << ", "
        << message.node_number << ", " << first << ", " << message.fields.size()
        << ", sizeof(::" << name << ")},\n";
    first += message.fields.size();
  }
  out << "};\n\n";
}

void WriteVisit(const Message& message, const Field& field, std::ostream& out) {
  const std::string member = "node." + MemberOf(*field.proto);
  const std::string method = MethodOf(*field.proto);
  out << "  ";
  if (const auto* oneof = field.proto->real_containing_oneof()) {
    out << "if (nodeTag(&node." << oneof->name() << ") == ::T_"
        << field.proto->message_type()->name() << ") ";
  }
  out << "visitor.template " << method << "<" << field.id << ">(" << member;
  if (method == "Length") {
    out << ", node." << message.fields[&field - message.fields.data() - 1].proto->json_name();
  }
  out << ");\n";
}

void WriteVisitors(const Model& model, std::ostream& out) {
  for (size_t i = 0; i < model.messages().size(); ++i) {
    const Message& message = model.messages()[i];
    const std::string& name = message.proto->name();
    out << "template <>\ninline constexpr size_t kMessageOf<::" << name << "> = " << i << ";\n";
    const std::string parameters = message.fields.empty()
                                       ? "(Visitor&, const ::" + name + "&) {\n"
                                       : "(Visitor& visitor, const ::" + name + "& node) {\n";
    const std::string function =
        "template <typename Visitor>\n[[gnu::always_inline]] inline void Visit";
    out << function << "Forward" << parameters;
    for (const Field& field : message.fields) WriteVisit(message, field, out);
    out << "}\n" << function << "Backward" << parameters;
    for (auto field = message.fields.rbegin(); field != message.fields.rend(); ++field) {
      WriteVisit(message, *field, out);
    }
    out << "}\n\n";
  }
  out << "inline constexpr uint32_t kListNodeNumber = " << model.list_node_number() << ";\n\n";
  out << "template <typename Visitor>\n"
      << "[[gnu::always_inline]] inline auto Dispatch(const ::Node* node, Visitor&& visitor) {\n"
      << "  switch (nodeTag(node)) {\n";
  for (const Message& message : model.messages()) {
    if (message.node_number == 0) continue;
    const std::string& name = message.proto->name();
    out << "    case ::T_" << name << ":\n      return visitor(*reinterpret_cast<const ::" << name
        << "*>(node));\n";
  }
  out << "    default:\n      return visitor.Other(node);\n  }\n}\n";
}

}  // namespace

bool WriteNodes(const GrammarProto& proto, const std::string& out) {
  const Model model(proto);
  std::ostringstream text;
  text << "// Made by grammar_generator from pg_query.proto. For node_visitor.h only.\n";
  WriteEnums(model, text);
  WriteFields(model, text);
  WriteMessages(model, text);
  WriteVisitors(model, text);
  return WriteFile(out + "/nodes.inc", text.str());
}

}  // namespace pgparsed::generator
