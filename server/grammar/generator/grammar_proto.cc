#include "grammar/generator/grammar_proto.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

namespace pgparsed::generator {
namespace {

class PrintErrors : public google::protobuf::compiler::MultiFileErrorCollector {
 public:
  void AddError(const std::string& filename, int line, int column,
                const std::string& message) override {
    std::cerr << filename << ":" << line + 1 << ":" << column + 1 << ": " << message << "\n";
  }
};

template <typename T>
const T& OrExit(const T* found, const std::string& name) {
  if (found != nullptr) return *found;
  std::cerr << "grammar_generator: pg_query.proto has no " << name << "\n";
  std::exit(1);
}

}  // namespace

std::unique_ptr<GrammarProto> GrammarProto::Load(const std::string& path) {
  std::unique_ptr<GrammarProto> proto(new GrammarProto);
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) {
    std::cerr << "grammar_generator: cannot read " << path << "\n";
    return nullptr;
  }
  proto->text_ = text.str();

  const std::filesystem::path where(path);
  PrintErrors errors;
  proto->source_tree_.MapPath("", where.parent_path().string());
  proto->importer_ =
      std::make_unique<google::protobuf::compiler::Importer>(&proto->source_tree_, &errors);
  proto->file_ = proto->importer_->Import(where.filename().string());
  return proto->file_ != nullptr ? std::move(proto) : nullptr;
}

const google::protobuf::Descriptor& GrammarProto::Message(const std::string& name) const {
  return OrExit(file_->FindMessageTypeByName(name), "message " + name);
}

const google::protobuf::EnumDescriptor& GrammarProto::Enum(const std::string& name) const {
  return OrExit(file_->FindEnumTypeByName(name), "enum " + name);
}

}  // namespace pgparsed::generator
