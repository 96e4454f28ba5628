#include "grammar/node_tables.h"

#include <algorithm>
#include <array>

// Last: its macros would break other headers.
#include "grammar/node_visitor.h"

namespace pgparsed::grammar {
namespace {

using nodes::kEnums;
using nodes::kFields;
using nodes::kMessages;

// Messages by a small number that each has at most once: 0 is none, else index and one more.
template <typename Key>
constexpr auto IndexBy(Key key) {
  constexpr size_t kEnd = 1024;
  std::array<uint16_t, kEnd> index{};
  for (size_t i = 0; i < std::size(kMessages); ++i) {
    index[static_cast<size_t>(key(kMessages[i]))] = static_cast<uint16_t>(i + 1);
  }
  index[0] = 0;
  return index;
}

constexpr auto kByTag = IndexBy([](const MessageRow& row) { return row.tag; });
constexpr auto kByNumber = IndexBy([](const MessageRow& row) { return row.node_number; });

// Indices in the order of the names.
constexpr auto kByName = [] {
  std::array<uint16_t, std::size(kMessages)> index{};
  for (size_t i = 0; i < index.size(); ++i) index[i] = static_cast<uint16_t>(i);
  std::sort(index.begin(), index.end(),
            [](uint16_t a, uint16_t b) { return kMessages[a].name < kMessages[b].name; });
  return index;
}();

const MessageRow* RowAt(uint16_t index) { return index > 0 ? &kMessages[index - 1u] : nullptr; }

}  // namespace

std::span<const MessageRow> Messages() { return kMessages; }

std::span<const FieldRow> Fields() { return kFields; }

std::span<const FieldRow> FieldsOf(const MessageRow& message) {
  return Fields().subspan(message.first_field, message.field_count);
}

const EnumRow& EnumOf(const FieldRow& field) { return kEnums[field.reference]; }

const MessageRow* FindMessageByTag(int32_t tag) {
  return tag > 0 && static_cast<size_t>(tag) < kByTag.size()
             ? RowAt(kByTag[static_cast<size_t>(tag)])
             : nullptr;
}

const MessageRow* FindMessageByNodeNumber(uint32_t number) {
  return number < kByNumber.size() ? RowAt(kByNumber[number]) : nullptr;
}

const MessageRow* FindMessageByName(std::string_view name) {
  const auto* index = std::lower_bound(
      kByName.begin(), kByName.end(), name,
      [](uint16_t row, std::string_view wanted) { return kMessages[row].name < wanted; });
  return index != kByName.end() && kMessages[*index].name == name ? &kMessages[*index] : nullptr;
}

}  // namespace pgparsed::grammar
