#include "grpc/wire_message.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "pgparsed/errors.h"
#include "pgparsed/v1/streams.pb.h"

namespace pgparsed::grpc_door {
namespace {

using std::string_literals::operator""s;

constexpr int kOptions = v1::BatchRequest::kOptionsFieldNumber;
constexpr int kChunk = v1::BatchRequest::kChunkFieldNumber;
constexpr size_t kMost = 1000;

WireMessage Message(const std::vector<std::string>& slices) {
  std::vector<grpc::Slice> made;
  for (const std::string& slice : slices) made.emplace_back(slice);
  return WireMessage(grpc::ByteBuffer(made.data(), made.size()));
}

std::string Chunk(const std::vector<std::string>& queries) {
  v1::BatchRequest request;
  for (const std::string& query : queries) request.mutable_chunk()->add_queries(query);
  return request.SerializeAsString();
}

std::vector<std::string> Strings(std::string_view message, size_t most = kMost) {
  const auto values = StringsOf(message, v1::BatchRequest::Chunk::kQueriesFieldNumber, most);
  if (!values.ok()) return {std::string(ReasonName(ReasonOf(values.status())))};
  return {values->begin(), values->end()};
}

TEST(WireMessageTest, FindsThePartOfAMessage) {
  const WireMessage message = Message({Chunk({"SELECT 1", "", "SELECT 2"})});
  const auto part = message.LastOf({kOptions, kChunk});
  ASSERT_TRUE(part.has_value());
  EXPECT_EQ(part->number, kChunk);
  EXPECT_EQ(Strings(part->bytes), (std::vector<std::string>{"SELECT 1", "", "SELECT 2"}));
}

TEST(WireMessageTest, AMessageInSeveralSlicesIsJoined) {
  const std::string bytes = Chunk({std::string(10'000, 'a'), std::string(10'000, 'b')});
  const WireMessage message =
      Message({bytes.substr(0, 1), bytes.substr(1, 9'000), bytes.substr(9'001)});
  EXPECT_EQ(message.bytes(), bytes);
}

TEST(WireMessageTest, AnEmptyMessageHasNoPart) {
  EXPECT_FALSE(Message({}).LastOf({kOptions, kChunk}));
  EXPECT_FALSE(Message({""}).LastOf({kOptions, kChunk}));
}

TEST(WireMessageTest, AnEmptyPartIsAPart) {
  const WireMessage message = Message({Chunk({})});
  EXPECT_FALSE(message.LastOf({kOptions, kChunk})) << "the request has no chunk";
  v1::BatchRequest request;
  request.mutable_chunk();
  const auto part = Message({request.SerializeAsString()}).LastOf({kOptions, kChunk});
  ASSERT_TRUE(part.has_value());
  EXPECT_EQ(part->bytes, "");
}

TEST(WireMessageTest, OfSeveralPartsTheLastCounts) {
  v1::BatchRequest options;
  options.mutable_options()->set_grammar(17);
  const std::string both = options.SerializeAsString() + Chunk({"a"});
  EXPECT_EQ(Message({both}).LastOf({kOptions, kChunk})->number, kChunk);
  v1::BatchRequest read;
  ASSERT_TRUE(read.ParseFromString(both));
  EXPECT_TRUE(read.has_chunk()) << "as protobuf reads it";
  EXPECT_EQ(Message({Chunk({"a"}) + options.SerializeAsString()})
                .LastOf({kOptions, kChunk})
                ->number,
            kOptions);
}

TEST(WireMessageTest, PartsOfLaterVersionsArePassedOver) {
  // Field 15: a string, a varint, a fixed 32 and a group.
  const std::string unknown = "\x7a\x03xyz"s + "\x78\x05"s + "\x7d\x01\x02\x03\x04"s + "\x7b\x7c"s;
  const auto part = Message({Chunk({"a"}) + unknown}).LastOf({kOptions, kChunk});
  ASSERT_TRUE(part.has_value());
  EXPECT_EQ(part->number, kChunk);
  EXPECT_FALSE(Message({unknown}).LastOf({kOptions, kChunk}));
  // A known number with another wire type is unknown, too.
  EXPECT_FALSE(Message({"\x10\x05"s}).LastOf({kOptions, kChunk}));
}

TEST(WireMessageTest, AMalformedMessageHasNoPart) {
  const std::string good = Chunk({"a"});
  for (const std::string& bad : {
           "\x12"s,                          // no length
           "\x12\x05x"s,                     // too long
           "\x12\xff\xff\xff\xff\x0f"s,      // 4 GiB
           "\x12\xff\xff\xff\xff\xff\xff"s,  // an endless varint
           "\x00"s,                          // no field
           "\x7c"s,                          // the end of a group that did not begin
           "\x7b"s,                          // a group without an end
           "\x7f"s,                          // no wire type
       }) {
    EXPECT_FALSE(Message({good + bad}).LastOf({kOptions, kChunk})) << bad.size();
  }
  EXPECT_FALSE(Message({std::string(100'000, '\x7b')}).LastOf({kOptions, kChunk}))
      << "groups without end";
}

TEST(StringsOf, DoesNotLookAtTheText) {
  EXPECT_EQ(Strings("\x0a\x02\xff\xfe\x0a\x01\x00"s),
            (std::vector<std::string>{"\xff\xfe"s, "\x00"s}));
}

TEST(StringsOf, PassesOtherFieldsOver) {
  EXPECT_EQ(Strings("\x12\x01x\x0a\x01y\x08\x07"s), (std::vector<std::string>{"y"}));
}

TEST(StringsOf, RefusesAMalformedMessage) {
  EXPECT_EQ(Strings("\x0a\x05x"s), (std::vector<std::string>{"INVALID_REQUEST"}));
  EXPECT_EQ(Strings("\x0a"s), (std::vector<std::string>{"INVALID_REQUEST"}));
}

TEST(StringsOf, CollectsNoMoreThanTellsThatThereAreTooMany) {
  std::string message;
  for (int i = 0; i < 5000; ++i) message += "\x0a\x00"s;
  EXPECT_EQ(Strings(message, 5000).size(), 5000u);
  EXPECT_EQ(Strings(message, 4999).size(), 5000u);
  EXPECT_EQ(Strings(message, 10).size(), 11u);
  EXPECT_EQ(Strings(message + "\x0a", 10), (std::vector<std::string>{"INVALID_REQUEST"}));
}

}  // namespace
}  // namespace pgparsed::grpc_door
