// The front's side of a channel against whatever a hostile worker may have written: bytes as they
// are, and sections of every kind with payloads of every kind, read as every kind of response.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "channel/sections.h"
#include "pgparsed/v1/streams.pb.h"
#include "pool/description.h"
#include "service/answers.h"
#include "service/item_results.h"

namespace pgparsed {
namespace {

void Require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "not so: %s\n", what);
  std::abort();
}

template <typename Response>
void ReadAs(const channel::Answer& answer, std::span<const std::byte> region) {
  Response response;
  std::vector<service::RawField> raw;
  if (!service::FillAnswer(answer, response, raw).ok()) return;
  const char* const begin = reinterpret_cast<const char*>(region.data());
  for (const service::RawField& field : raw) {
    Require(field.payload.empty() ||
                (field.payload.data() >= begin &&
                 field.payload.data() + field.payload.size() <= begin + region.size()),
            "a raw field lies in the answer");
  }
  (void)response.SerializeAsString();
}

void Read(std::span<const std::byte> region, uint64_t bytes, uint32_t operations, uint32_t count) {
  const auto answer = channel::ReadAnswer({.region = region, .bytes = bytes});
  if (!answer.ok()) return;
  ReadAs<v1::ParseResponse>(*answer, region);
  ReadAs<v1::FingerprintResponse>(*answer, region);
  ReadAs<v1::ScanResponse>(*answer, region);
  ReadAs<v1::SplitResponse>(*answer, region);
  ReadAs<v1::ExtractCommentsResponse>(*answer, region);
  ReadAs<v1::SummarizeResponse>(*answer, region);
  ReadAs<v1::AnalyzeResponse>(*answer, region);
  ReadAs<v1::GetGrammarSchemaResponse>(*answer, region);
  (void)pool::ReadDescription({.region = region, .bytes = bytes}, 18);
  std::string columns;
  if (!service::AppendResults(*answer, operations, count, 0, columns).ok()) {
    Require(columns.empty(), "nothing of a bad answer is kept");
    return;
  }
  // What is passed on must be a message of the contract, but for UTF-8 in its strings.
  for (size_t at = 0; at < columns.size(); ++at) {
    if (static_cast<unsigned char>(columns[at]) >= 0x80) return;
  }
  Require(v1::ResultColumns().ParseFromString(columns), "columns are a message");
}

// Sections that are well-formed by themselves.
void ReadSections(std::string_view input) {
  const auto byte = [&] {
    const auto value = input.empty() ? 0u : static_cast<unsigned char>(input.front());
    if (!input.empty()) input.remove_prefix(1);
    return static_cast<uint32_t>(value);
  };
  const uint32_t operations = byte() | byte() << 8;
  const uint32_t count = byte() % 8;
  alignas(8) static std::byte region[64 << 10];
  channel::AnswerWriter writer(region, sizeof(region));
  while (!input.empty()) {
    const auto kind = static_cast<channel::SectionKind>(byte() % 51);
    const uint32_t wanted = byte();
    const size_t length = std::min<size_t>(wanted, input.size());
    writer.Add(kind, input.substr(0, length));
    input.remove_prefix(length);
  }
  const uint64_t bytes = writer.Finish(1, 1);
  Read(region, std::min<uint64_t>(bytes, sizeof(region)), operations, count);
}

void Check(std::string_view input) {
  ReadSections(input);
  // As they are, at an address that answers have.
  std::vector<uint64_t> aligned((input.size() + 7) / 8 + 1);
  std::memcpy(aligned.data(), input.data(), input.size());
  const std::span<const std::byte> region{reinterpret_cast<const std::byte*>(aligned.data()),
                                          input.size()};
  Read(region, input.size(), 0x3FF, 3);
}

}  // namespace
}  // namespace pgparsed

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  pgparsed::Check({reinterpret_cast<const char*>(data), size});
  return 0;
}
