#include "channel/sections.h"

#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace pgparsed::channel {
namespace {

std::span<std::byte> Bytes(std::vector<uint64_t>& words) {
  return std::as_writable_bytes(std::span(words));
}

TEST(Sections, WhatIsWrittenIsRead) {
  std::vector<uint64_t> words(64);
  AnswerWriter writer(Bytes(words), 512);
  writer.Add(SectionKind::kNormalized, "SELECT $1");
  const std::vector<uint32_t> column = {1, 2, 3};
  writer.AddColumn(SectionKind::kTokenStart, column);
  writer.Add(SectionKind::kPieceIncomplete, "");
  ASSERT_FALSE(writer.overflowed());
  const uint64_t bytes = writer.Finish(11, 22);

  const auto answer = ReadAnswer({Bytes(words), bytes});
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->header.parse_ns, 11u);
  EXPECT_EQ(answer->header.convert_ns, 22u);
  ASSERT_EQ(answer->sections.size(), 3u);
  EXPECT_EQ(answer->sections[0].kind, SectionKind::kNormalized);
  EXPECT_EQ(answer->sections[0].payload, "SELECT $1");
  EXPECT_EQ(answer->sections[1].payload.size(), 12u);
  EXPECT_EQ(answer->sections[2].payload, "");
}

TEST(Sections, ThePiecesOfASectionAreJoined) {
  std::vector<uint64_t> words(64);
  AnswerWriter writer(Bytes(words), 512);
  writer.Begin(SectionKind::kTreeJson);
  writer.Append("{\"a\":");
  writer.Append("1}");
  writer.End();
  const auto answer = ReadAnswer({Bytes(words), writer.Finish(0, 0)});
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->sections[0].payload, "{\"a\":1}");
}

TEST(Sections, AnOverflowIsCountedAndCanBeTakenBack) {
  std::vector<uint64_t> words(16);  // 128 bytes
  AnswerWriter writer(Bytes(words), 128);
  writer.Add(SectionKind::kFingerprint, "12345678");
  const uint32_t before = writer.section_count();
  writer.Add(SectionKind::kTreeJson, std::string(1000, 'x'));
  EXPECT_TRUE(writer.overflowed());
  EXPECT_EQ(writer.needed_bytes(), 48u + 24u + 16u + 1000u);
  writer.TruncateTo(before);
  EXPECT_FALSE(writer.overflowed());
  const auto answer = ReadAnswer({Bytes(words), writer.Finish(0, 0)});
  ASSERT_TRUE(answer.ok());
  ASSERT_EQ(answer->sections.size(), 1u);
  EXPECT_EQ(answer->sections[0].payload, "12345678");
}

TEST(Sections, TheTailStandsAtTheEndOfTheRegion) {
  std::vector<uint64_t> words(64);
  AnswerWriter writer(Bytes(words), 512);
  const std::span<char> room = writer.TailRoom(100);
  ASSERT_EQ(room.size(), 512u - sizeof(AnswerHeader) - 100);
  std::memcpy(room.data() + room.size() - 5, "12345", 5);
  writer.AddTail(SectionKind::kTreeProtobuf, 5);
  writer.Add(SectionKind::kNormalized, "SELECT $1");
  EXPECT_EQ(writer.needed_bytes(), sizeof(AnswerHeader) + 16 + 16 + 5);
  const auto answer = ReadAnswer({Bytes(words), writer.Finish(0, 0)});
  ASSERT_TRUE(answer.ok()) << answer.status();
  ASSERT_EQ(answer->sections.size(), 2u);
  EXPECT_EQ(answer->sections[0].payload, "SELECT $1");
  EXPECT_EQ(answer->sections[1].kind, SectionKind::kTreeProtobuf);
  EXPECT_EQ(answer->sections[1].payload, "12345");
}

TEST(Sections, SectionsDoNotRunIntoTheTail) {
  std::vector<uint64_t> words(16);  // 128 bytes
  AnswerWriter writer(Bytes(words), 128);
  writer.AddTail(SectionKind::kTreeProtobuf, 48);
  writer.Add(SectionKind::kNormalized, std::string(32, 'x'));
  EXPECT_TRUE(writer.overflowed());
  EXPECT_EQ(words[15], 0u);
  writer.DropTail();
  EXPECT_FALSE(writer.overflowed());
}

TEST(Sections, AreWrittenInPlace) {
  std::vector<uint64_t> words(64);
  AnswerWriter writer(Bytes(words), 512);
  writer.Begin(SectionKind::kTreeJson);
  std::memcpy(writer.Room(8).data(), "{\"a\":1}", 7);
  writer.Appended(7);
  writer.End();
  const auto answer = ReadAnswer({Bytes(words), writer.Finish(0, 0)});
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->sections[0].payload, "{\"a\":1}");
}

class LyingAnswer : public testing::Test {
 protected:
  void SetUp() override {
    AnswerWriter writer(Bytes(words_), 512);
    writer.Add(SectionKind::kNormalized, "SELECT $1");
    bytes_ = writer.Finish(0, 0);
  }
  bool Accepted(uint64_t bytes) { return ReadAnswer({Bytes(words_), bytes}).ok(); }
  template <typename T>
  void Poke(size_t offset, T value) {
    std::memcpy(Bytes(words_).data() + offset, &value, sizeof(value));
  }

  std::vector<uint64_t> words_ = std::vector<uint64_t>(64);
  uint64_t bytes_ = 0;
};

TEST_F(LyingAnswer, IsAcceptedWhenItDoesNotLie) { EXPECT_TRUE(Accepted(bytes_)); }

TEST_F(LyingAnswer, WithASizeBeyondTheRegionIsRefused) {
  EXPECT_FALSE(Accepted(513));
  EXPECT_FALSE(Accepted(~uint64_t{0}));
}

TEST_F(LyingAnswer, WithASizeBelowTheHeaderIsRefused) {
  EXPECT_FALSE(Accepted(0));
  EXPECT_FALSE(Accepted(sizeof(AnswerHeader) - 1));
}

TEST_F(LyingAnswer, WithAnotherVersionIsRefused) {
  Poke<uint32_t>(offsetof(AnswerHeader, version), 99);
  EXPECT_FALSE(Accepted(bytes_));
}

TEST_F(LyingAnswer, WithMoreSectionsThanItHoldsIsRefused) {
  Poke<uint32_t>(offsetof(AnswerHeader, section_count), 2);
  EXPECT_FALSE(Accepted(bytes_));
  Poke<uint32_t>(offsetof(AnswerHeader, section_count), 0xFFFFFFFF);
  EXPECT_FALSE(Accepted(bytes_));
}

TEST_F(LyingAnswer, WithATailBeyondTheRegionIsRefused) {
  Poke<uint64_t>(offsetof(AnswerHeader, tail_bytes), 512 - bytes_);
  EXPECT_TRUE(Accepted(bytes_));
  for (const uint64_t lie : {513 - bytes_, uint64_t{512}, ~uint64_t{0}}) {
    Poke<uint64_t>(offsetof(AnswerHeader, tail_bytes), lie);
    EXPECT_FALSE(Accepted(bytes_)) << lie;
  }
}

TEST_F(LyingAnswer, WithASectionLongerThanTheAnswerIsRefused) {
  const size_t length = sizeof(AnswerHeader) + offsetof(SectionHeader, bytes);
  for (const uint64_t lie : {uint64_t{17}, uint64_t{480}, ~uint64_t{0}, ~uint64_t{0} - 7}) {
    Poke<uint64_t>(length, lie);
    EXPECT_FALSE(Accepted(bytes_)) << lie;
  }
}

}  // namespace
}  // namespace pgparsed::channel
