#include "grpc/byte_buffer.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "pgparsed/errors.h"
#include "pgparsed/v1/parser.pb.h"

namespace pgparsed::grpc_door {
namespace {

grpc::ByteBuffer Buffer(const std::string& bytes) {
  grpc::Slice slice(bytes);
  return grpc::ByteBuffer(&slice, 1);
}

std::string Bytes(const grpc::ByteBuffer& buffer) {
  grpc::Slice slice;
  EXPECT_TRUE(buffer.DumpToSingleSlice(&slice).ok());
  return std::string(reinterpret_cast<const char*>(slice.begin()), slice.size());
}

TEST(DecodeRequest, ReadsAMessage) {
  v1::ParseRequest sent, read;
  sent.set_query("SELECT 1");
  ASSERT_TRUE(DecodeRequest(Buffer(sent.SerializeAsString()), read, 1).ok());
  EXPECT_EQ(read.query(), "SELECT 1");
}

TEST(DecodeRequest, TellsInvalidUtf8InTheQueryFromABrokenMessage) {
  v1::ParseRequest read;
  const std::string invalid = std::string("\x0a\x02\xff\xfe\x50\x01", 6);
  EXPECT_EQ(ReasonOf(DecodeRequest(Buffer(invalid), read, 1)), Reason::kInvalidQueryText);
  EXPECT_EQ(ReasonOf(DecodeRequest(Buffer(std::string("\x0a\x7fxx", 4)), read, 1)),
            Reason::kInvalidRequest);
  EXPECT_EQ(ReasonOf(DecodeRequest(Buffer("\xff\xff\xff"), read, 1)), Reason::kInvalidRequest);
}

TEST(EncodeAnswer, RawFieldsReadLikeOrdinaryOnes) {
  v1::ParseResponse message, read;
  message.set_grammar(18);
  const std::string small = "{\"small\":1}";
  const std::string large(kShareBytes * 3, 'x');
  for (const std::string& payload : {small, large}) {
    const auto lease = std::make_shared<int>(0);
    const grpc::ByteBuffer buffer = EncodeAnswer(
        message, {{v1::ParseResponse::kJsonFieldNumber, payload}}, std::shared_ptr<void>(lease));
    ASSERT_TRUE(read.ParseFromString(Bytes(buffer)));
    EXPECT_EQ(read.grammar(), 18u);
    EXPECT_EQ(read.json(), payload);
  }
}

TEST(EncodeAnswer, HoldsTheLeaseOfALargePayloadUntilTheBufferIsGone) {
  auto lease = std::make_shared<int>(0);
  const std::string large(kShareBytes, 'x');
  {
    const grpc::ByteBuffer buffer = EncodeAnswer(v1::ParseResponse(), {{10, large}}, lease);
    EXPECT_EQ(lease.use_count(), 2);
  }
  EXPECT_EQ(lease.use_count(), 1);
}

TEST(EncodeAnswer, DoesNotHoldTheLeaseOfASmallPayload) {
  auto lease = std::make_shared<int>(0);
  const grpc::ByteBuffer buffer = EncodeAnswer(v1::ParseResponse(), {{10, "{}"}}, lease);
  EXPECT_EQ(lease.use_count(), 1);
}

}  // namespace
}  // namespace pgparsed::grpc_door
