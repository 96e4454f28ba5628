#include "grpc/byte_buffer.h"

#include <string>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/wire_format_lite.h>
#include <grpcpp/support/proto_buffer_reader.h>
#include <grpcpp/support/slice.h>

#include "pgparsed/errors.h"
#include "text/utf8.h"

namespace pgparsed::grpc_door {
namespace {

using google::protobuf::internal::WireFormatLite;

// Whether the message is well-formed at its top level and its query is not valid UTF-8.
bool QueryIsInvalidUtf8(const grpc::ByteBuffer& buffer, int query_field) {
  grpc::ByteBuffer copy(buffer);
  grpc::ProtoBufferReader stream(&copy);
  if (!stream.status().ok()) return false;
  google::protobuf::io::CodedInputStream input(&stream);
  input.SetTotalBytesLimit(static_cast<int>(buffer.Length()));
  bool invalid = false;
  while (const uint32_t tag = input.ReadTag()) {
    if (WireFormatLite::GetTagFieldNumber(tag) == query_field &&
        WireFormatLite::GetTagWireType(tag) == WireFormatLite::WIRETYPE_LENGTH_DELIMITED) {
      uint32_t length = 0;
      std::string query;
      if (!input.ReadVarint32(&length) || !input.ReadString(&query, static_cast<int>(length))) {
        return false;
      }
      invalid = text::FindInvalid(query).has_value();
    } else if (!WireFormatLite::SkipField(&input, tag)) {
      return false;
    }
  }
  return invalid;
}

void AppendHeader(int field, uint64_t bytes, std::string& out) {
  google::protobuf::io::StringOutputStream stream(&out);
  google::protobuf::io::CodedOutputStream output(&stream);
  output.WriteTag(WireFormatLite::MakeTag(field, WireFormatLite::WIRETYPE_LENGTH_DELIMITED));
  output.WriteVarint32(static_cast<uint32_t>(bytes));
}

void DeleteString(void* text) { delete static_cast<std::string*>(text); }

// Gives one copy of a lease back when gRPC is done with a slice.
void ReleaseLease(void* lease) { delete static_cast<std::shared_ptr<void>*>(lease); }

}  // namespace

absl::Status DecodeRequest(const grpc::ByteBuffer& buffer, google::protobuf::MessageLite& message,
                           int query_field) {
  grpc::ByteBuffer copy(buffer);  // the reader takes a mutable one; the slices are shared
  grpc::ProtoBufferReader stream(&copy);
  if (stream.status().ok() && message.ParseFromZeroCopyStream(&stream)) return absl::OkStatus();
  if (query_field != 0 && QueryIsInvalidUtf8(buffer, query_field)) {
    return MakeError(Reason::kInvalidQueryText,
                     "the query holds invalid UTF-8; send valid UTF-8 without NUL bytes");
  }
  return MakeError(Reason::kInvalidRequest,
                   "the request is not a valid message of the contract; check the client's stubs");
}

grpc::ByteBuffer EncodeAnswer(const google::protobuf::MessageLite& message,
                              const std::vector<service::RawField>& raw,
                              const std::shared_ptr<void>& lease) {
  std::vector<grpc::Slice> slices;
  std::string head;  // what is not yet in a slice
  message.AppendToString(&head);
  for (const service::RawField& field : raw) {
    AppendHeader(field.number, field.payload.size(), head);
    if (field.payload.size() < kShareBytes) {
      head.append(field.payload);
      continue;
    }
    slices.emplace_back(head);
    head.clear();
    // gRPC reads the payload only; the cast is what its interface asks for.
    slices.emplace_back(const_cast<char*>(field.payload.data()), field.payload.size(),
                        &ReleaseLease, new std::shared_ptr<void>(lease));
  }
  if (!head.empty() || slices.empty()) slices.emplace_back(head);
  return grpc::ByteBuffer(slices.data(), slices.size());
}

grpc::ByteBuffer EncodeColumns(const google::protobuf::MessageLite& message, int field,
                               std::vector<std::string> columns) {
  uint64_t bytes = 0;
  for (const std::string& part : columns) bytes += part.size();
  std::string head;
  message.AppendToString(&head);
  AppendHeader(field, bytes, head);
  std::vector<grpc::Slice> slices;
  for (std::string& part : columns) {
    if (part.size() < kShareBytes) {
      head += part;
      continue;
    }
    slices.emplace_back(head);
    head.clear();
    auto* owned = new std::string(std::move(part));
    slices.emplace_back(owned->data(), owned->size(), &DeleteString, owned);
  }
  if (!head.empty()) slices.emplace_back(head);
  return grpc::ByteBuffer(slices.data(), slices.size());
}

}  // namespace pgparsed::grpc_door
