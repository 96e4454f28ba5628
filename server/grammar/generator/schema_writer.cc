#include "grammar/generator/schema_writer.h"

#include <google/protobuf/descriptor.pb.h>

#include <map>
#include <sstream>

#include "grammar/generator/output_file.h"

namespace pgparsed::generator {
namespace {

using NumbersToNames = std::map<uint32_t, std::string>;

NumbersToNames Values(const google::protobuf::EnumDescriptor& values) {
  NumbersToNames names;
  for (int i = 0; i < values.value_count(); ++i) {
    names.emplace(values.value(i)->number(), values.value(i)->name());
  }
  return names;
}

// The node tags: the JSON names of the alternatives of pg_query.Node.
NumbersToNames NodeTags(const google::protobuf::Descriptor& node) {
  NumbersToNames names;
  for (int i = 0; i < node.field_count(); ++i) {
    names.emplace(node.field(i)->number(), node.field(i)->json_name());
  }
  return names;
}

// Three constants: k<what>Numbers, k<what>Names and k<what>Offsets.
void WriteTable(const std::string& what, const NumbersToNames& table, std::ostream& out) {
  std::ostringstream numbers;
  std::ostringstream offsets;
  std::ostringstream names;
  size_t offset = 0;
  for (const auto& [number, name] : table) {
    numbers << number << ", ";
    offsets << offset << ", ";
    names << "    \"" << name << "\\0\"\n";
    offset += name.size() + 1;
  }
  out << "inline constexpr uint32_t k" << what << "Numbers[] = {" << numbers.str() << "};\n"
      << "inline constexpr uint32_t k" << what << "Offsets[] = {" << offsets.str() << offset
      << "};\n"
      << "inline constexpr std::string_view k" << what << "Names(\n"
      << names.str() << "    , " << offset << ");\n\n";
}

// A C source that holds a file as an array `symbol`.
void WriteBlob(const std::string& symbol, const std::string& path, std::ostream& out) {
  out << "__asm__(\".section .rodata\\n\"\n"
      << "        \".globl " << symbol << "\\n.hidden " << symbol << "\\n.balign 16\\n\"\n"
      << "        \"" << symbol << ":\\n\"\n"
      << "        \".incbin \\\"" << path << "\\\"\\n.byte 0\\n.previous\\n\");\n";
}

}  // namespace

bool WriteSchema(const GrammarProto& proto, const std::string& out) {
  google::protobuf::FileDescriptorSet set;
  proto.file().CopyTo(set.add_file());
  proto.file().CopyJsonNameTo(set.mutable_file(0));
  const std::string descriptor_set = set.SerializeAsString();

  std::ostringstream header;
  header << "// Made by grammar_generator from pg_query.proto.\n"
         << "#pragma once\n\n#include <cstdint>\n#include <string_view>\n\n"
         << "extern \"C\" {\n"
         << "extern const char pgparsed_proto_text[];\n"
         << "extern const char pgparsed_descriptor_set[];\n"
         << "}\n\nnamespace pgparsed::grammar::schema_data {\n\n";
  WriteTable("Token", Values(proto.Enum("Token")), header);
  WriteTable("KeywordKind", Values(proto.Enum("KeywordKind")), header);
  WriteTable("Node", NodeTags(proto.Message("Node")), header);
  header << "inline constexpr const char* kProtoText = pgparsed_proto_text;\n"
         << "inline constexpr size_t kProtoTextBytes = " << proto.text().size() << ";\n"
         << "inline constexpr const char* kDescriptorSet = pgparsed_descriptor_set;\n"
         << "inline constexpr size_t kDescriptorSetBytes = " << descriptor_set.size() << ";\n\n"
         << "}  // namespace pgparsed::grammar::schema_data\n";

  std::ostringstream blobs;
  blobs << "/* Made by grammar_generator from pg_query.proto. */\n";
  WriteBlob("pgparsed_proto_text", out + "/pg_query.proto.txt", blobs);
  WriteBlob("pgparsed_descriptor_set", out + "/pg_query.fds", blobs);

  return WriteFile(out + "/pg_query.proto.txt", proto.text()) &&
         WriteFile(out + "/pg_query.fds", descriptor_set) &&
         WriteFile(out + "/schema_data.h", header.str()) &&
         WriteFile(out + "/schema_blobs.c", blobs.str());
}

}  // namespace pgparsed::generator
