#include "tests/conformance/scan_tokens.h"

#include <google/protobuf/compiler/importer.h>
#include <google/protobuf/dynamic_message.h>

#include <filesystem>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace pgparsed::conformance {
namespace {

namespace pb = google::protobuf;

class Errors : public pb::compiler::MultiFileErrorCollector {
 public:
  void AddError(const std::string& file, int line, int, const std::string& message) override {
    absl::StrAppend(&text, file, ":", line + 1, ": ", message, "\n");
  }
  std::string text;
};

class Reader : public ScanTokenReader {
 public:
  absl::Status Import(const std::filesystem::path& proto) {
    tree_.MapPath("", proto.parent_path().string());
    importer_ = std::make_unique<pb::compiler::Importer>(&tree_, &errors_);
    if (importer_->Import(proto.filename().string()) == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("cannot read ", proto.string(), ": ", errors_.text));
    }
    result_ = importer_->pool()->FindMessageTypeByName("pg_query.ScanResult");
    if (result_ == nullptr || result_->FindFieldByName("tokens") == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat("no ScanResult in ", proto.string()));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<ScannedToken>> Read(const std::string& scan_result) const override {
    std::unique_ptr<pb::Message> message(factory_.GetPrototype(result_)->New());
    if (!message->ParseFromString(scan_result)) {
      return absl::InvalidArgumentError("the library's scan is no ScanResult");
    }
    const pb::FieldDescriptor* list = result_->FindFieldByName("tokens");
    const pb::Descriptor* type = list->message_type();
    const pb::Reflection* outer = message->GetReflection();
    std::vector<ScannedToken> tokens;
    for (int i = 0; i < outer->FieldSize(*message, list); ++i) {
      const pb::Message& token = outer->GetRepeatedMessage(*message, list, i);
      const pb::Reflection* inner = token.GetReflection();
      const auto number = [&](const char* name) {
        return static_cast<uint32_t>(inner->GetInt32(token, type->FindFieldByName(name)));
      };
      const auto enumerated = [&](const char* name) {
        return inner->GetEnumValue(token, type->FindFieldByName(name));
      };
      const int kind = enumerated("token");
      const pb::EnumValueDescriptor* named =
          type->FindFieldByName("token")->enum_type()->FindValueByNumber(kind);
      tokens.push_back({number("start"), number("end"), static_cast<uint32_t>(kind),
                        static_cast<uint32_t>(enumerated("keyword_kind")),
                        named != nullptr ? named->name() : std::string()});
    }
    return tokens;
  }

 private:
  pb::compiler::DiskSourceTree tree_;
  Errors errors_;
  std::unique_ptr<pb::compiler::Importer> importer_;
  const pb::Descriptor* result_ = nullptr;
  mutable pb::DynamicMessageFactory factory_;  // Thread-safe, though not const.
};

}  // namespace

absl::StatusOr<std::unique_ptr<ScanTokenReader>> ScanTokenReader::Load(const std::string& proto) {
  auto reader = std::make_unique<Reader>();
  if (absl::Status status = reader->Import(proto); !status.ok()) return status;
  return reader;
}

}  // namespace pgparsed::conformance
