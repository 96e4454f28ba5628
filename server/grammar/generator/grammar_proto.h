// A grammar's pg_query.proto, read and resolved.
#pragma once

#include <google/protobuf/compiler/importer.h>
#include <google/protobuf/descriptor.h>

#include <memory>
#include <string>

namespace pgparsed::generator {

class GrammarProto {
 public:
  // Reads the file at `path`. Prints what is wrong to stderr and returns nullptr if it cannot.
  static std::unique_ptr<GrammarProto> Load(const std::string& path);

  const std::string& text() const { return text_; }
  const google::protobuf::FileDescriptor& file() const { return *file_; }

  // A message or enum of package pg_query. Ends the program with a message if there is none: the
  // grammar is not one that this generator knows.
  const google::protobuf::Descriptor& Message(const std::string& name) const;
  const google::protobuf::EnumDescriptor& Enum(const std::string& name) const;

 private:
  GrammarProto() = default;

  std::string text_;
  google::protobuf::compiler::DiskSourceTree source_tree_;
  std::unique_ptr<google::protobuf::compiler::Importer> importer_;
  const google::protobuf::FileDescriptor* file_ = nullptr;
};

}  // namespace pgparsed::generator
