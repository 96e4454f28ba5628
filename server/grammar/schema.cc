#include "grammar/schema.h"

#include <algorithm>

#include "schema_data.h"

namespace pgparsed::grammar {

std::string_view NameTable::Find(uint32_t number) const {
  const auto found = std::lower_bound(numbers.begin(), numbers.end(), number);
  if (found == numbers.end() || *found != number) return {};
  const auto index = static_cast<size_t>(found - numbers.begin());
  return names.substr(offsets[index], offsets[index + 1] - offsets[index] - 1);
}

const Schema& GrammarSchema() {
  static constexpr Schema kSchema = {
      .tokens = {schema_data::kTokenNumbers, schema_data::kTokenNames, schema_data::kTokenOffsets},
      .nodes = {schema_data::kNodeNumbers, schema_data::kNodeNames, schema_data::kNodeOffsets},
      .keyword_kinds = {schema_data::kKeywordKindNumbers, schema_data::kKeywordKindNames,
                        schema_data::kKeywordKindOffsets},
      .proto_text = {schema_data::kProtoText, schema_data::kProtoTextBytes},
      .descriptor_set = {schema_data::kDescriptorSet, schema_data::kDescriptorSetBytes},
  };
  return kSchema;
}

}  // namespace pgparsed::grammar
