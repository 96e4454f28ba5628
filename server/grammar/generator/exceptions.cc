#include "grammar/generator/exceptions.h"

#include <set>

namespace pgparsed::generator {
namespace {

bool EndsWith(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

}  // namespace

bool HasStruct(const google::protobuf::Descriptor& message) {
  static const std::set<std::string> kWithout = {
      "ParseResult", "ScanResult", "ScanToken", "Node",         "SummaryResult",
      "List",        "IntList",    "OidList",   "DistinctExpr", "NullIfExpr"};
  return kWithout.count(message.name()) == 0;
}

bool IsWritten(const google::protobuf::FieldDescriptor& field) {
  static const std::set<std::string> kPlans = {"JsonTablePathScan", "JsonTableSiblingJoin"};
  if (field.json_name() == "plan" && kPlans.count(field.containing_type()->name()) > 0) {
    return false;
  }
  return field.json_name() != "xpr";
}

std::string MemberOf(const google::protobuf::FieldDescriptor& field) {
  if (field.real_containing_oneof() != nullptr) {
    return field.containing_oneof()->name() + "." + field.name();
  }
  return field.json_name();
}

bool IsOffsetByOne(const google::protobuf::EnumDescriptor& values) {
  return values.name() == "LimitOption";
}

std::string MeaningOf(const google::protobuf::FieldDescriptor& field) {
  static const std::set<std::string> kLocations = {"location", "list_start", "list_end",
                                                   "rexpr_list_start", "rexpr_list_end"};
  const std::string& name = field.json_name();
  if (name == "stmt_len") return "kLength";
  if (kLocations.count(name) > 0 || EndsWith(name, "_location")) return "kLocation";
  return "kPlain";
}

}  // namespace pgparsed::generator
