// Signatures of every field type: split, joined, read as a tree; hostile bytes are refused.
#include "format/signatures/walk.h"

#include <gtest/gtest.h>

#include <random>

#include "format/testing/synthetic.h"

namespace refrain::format {
namespace {

using testing::Sig;

// One of every tag.
std::string everything() {
  Sig s(300, 4);
  s.none().integer(-5).constant("MPI_PROC_NULL").object(3).request(2).new_request(1);
  s.buffer(BufferClass::kHeap, 9, -16).text("name").status(1, 7);
  s.tag(FieldTag::kStatusError);
  s.integer(1).integer(2).integer(15);
  s.tag(FieldTag::kStatusAsPosted);
  s.tag(FieldTag::kStatusEmpty);
  s.tag(FieldTag::kMatched);
  s.integer(3).integer(4);
  s.tag(FieldTag::kMatchedArray).put_varint(2);
  s.none();
  s.tag(FieldTag::kMatched);
  s.integer(5).integer(6);
  s.array(5).times(4).integer(8).times(1).constant("MPI_PROC_NULL");
  base::ByteWriter& runs = s.tag(FieldTag::kIntRuns);
  for (const uint64_t v : {7u, 3u, 20u, 2u, 4u, 40u, 0u}) runs.put_varint(v);
  s.tag(FieldTag::kChanged);
  s.integer(1).integer(0);
  s.tag(FieldTag::kFunction).put_varint(6);
  s.tag(FieldTag::kBytes).put_string("\x01\x02");
  base::ByteWriter& bits = s.tag(FieldTag::kBits);
  for (const uint64_t v : {64u, 2u, 11u, 12u}) bits.put_varint(v);
  base::ByteWriter& pairs = s.tag(FieldTag::kPairArray);
  pairs.put_varint(1);
  for (const int64_t v : {0, 6, 2}) pairs.put_zigzag(v);
  s.tag(FieldTag::kResult);
  s.integer(15);
  return s.bytes();
}

TEST(Walk, SplitsAndJoinsEveryField) {
  const std::string bytes = everything();
  const auto split = split_signature(bytes);
  ASSERT_TRUE(split);
  EXPECT_LT(split->shape.size(), bytes.size());
  const auto again = join_signature(split->shape, split->values);
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, bytes);
  const auto info = inspect_shape(split->shape);
  ASSERT_TRUE(info);
  EXPECT_EQ(info->call_id, 300u);
  EXPECT_EQ(info->slots.size(), split->values.size());
  EXPECT_EQ(info->requests, std::vector<uint32_t>{2});
  EXPECT_EQ(info->object_slots, (std::vector<uint32_t>{0, 2}));
  auto few = split->values;
  few.pop_back();
  EXPECT_FALSE(join_signature(split->shape, few));
  EXPECT_FALSE(parse_fields(split->shape, few));
}

TEST(Walk, TreeHasEveryField) {
  const auto split = split_signature(everything());
  const auto call = parse_fields(split->shape, split->values);
  ASSERT_TRUE(call);
  EXPECT_EQ(call->call_id, 300u);
  EXPECT_EQ(call->site.number, 4u);
  const auto& p = call->parameters;
  ASSERT_EQ(p.size(), 21u);
  EXPECT_EQ(p[0].tag, FieldTag::kNone);
  EXPECT_EQ(p[1].value, -5);
  EXPECT_EQ(p[3].number, 3u);
  EXPECT_EQ(p[4].number, 2u);
  EXPECT_EQ(p[5].number, 1u);
  EXPECT_EQ(p[6].buffer_class, BufferClass::kHeap);
  EXPECT_EQ(p[6].value, 9);
  EXPECT_EQ(p[6].offset_bytes, -16);
  EXPECT_EQ(p[7].text, "name");
  EXPECT_EQ(p[8].children[1].value, 7);
  EXPECT_EQ(p[9].children[2].value, 15);
  EXPECT_EQ(p[13].number, 2u);
  EXPECT_EQ(p[13].children[1].children[0].value, 5);
  EXPECT_EQ(p[14].number, 5u);
  ASSERT_EQ(p[14].children.size(), 2u);
  EXPECT_EQ(p[14].children[0].repeat, 4u);
  EXPECT_EQ(p[14].children[0].value, 8);
  EXPECT_EQ(p[15].number, 7u);
  ASSERT_EQ(p[15].runs.size(), 2u);
  EXPECT_EQ(p[15].runs[0].count, 3u);
  EXPECT_EQ(p[15].runs[0].start, 10);
  EXPECT_EQ(p[15].runs[0].step, 1);
  EXPECT_EQ(p[15].runs[1].count, 4u);
  EXPECT_EQ(p[15].runs[1].start, 20);
  EXPECT_EQ(p[16].children[0].value, 1);
  EXPECT_EQ(p[17].number, 6u);
  EXPECT_EQ(p[18].text, "\x01\x02");
  EXPECT_EQ(p[19].number, 64u);
  EXPECT_EQ(p[19].constants, (std::vector<uint32_t>{11, 12}));
  EXPECT_EQ(p[20].ranges[0], (std::array<int64_t, 3>{0, 6, 2}));
  ASSERT_TRUE(call->result);
  EXPECT_EQ(call->result->value, 15);
}

TEST(Walk, RenumbersRequests) {
  const auto split = split_signature(everything());
  const auto renumbered = renumber_requests(split->shape, std::vector<uint32_t>{7, 8, 9999});
  ASSERT_TRUE(renumbered);
  EXPECT_EQ(inspect_shape(*renumbered)->requests, std::vector<uint32_t>{9999});
  EXPECT_FALSE(renumber_requests(split->shape, std::vector<uint32_t>{7, 8}));
}

TEST(Walk, TruncatedAndDamagedBytesAreSafe) {
  const std::string bytes = everything();
  for (size_t n = 0; n < bytes.size(); ++n) {
    const auto split = split_signature(bytes.substr(0, n));
    if (!split) continue;
    EXPECT_TRUE(parse_fields(split->shape, split->values)) << n;
  }
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    std::string bad = bytes;
    bad[random() % bad.size()] = static_cast<char>(random());
    const auto split = split_signature(bad);
    if (!split) continue;
    ASSERT_TRUE(parse_fields(split->shape, split->values));
    ASSERT_TRUE(join_signature(split->shape, split->values));
  }
}

TEST(Walk, RunLengthsAndNestingAreBounded) {
  // Arrays in arrays would multiply to far more values than the limit.
  Sig s(1, 0);
  for (int depth = 0; depth < 3; ++depth) s.array(1 << 20).times(1 << 20);
  s.integer(1);
  EXPECT_FALSE(split_signature(s.bytes()));
  Sig deep(1, 0);
  for (uint32_t depth = 0; depth < kMaxFieldDepth + 1; ++depth) deep.array(1).times(1);
  deep.integer(1);
  EXPECT_FALSE(split_signature(deep.bytes()));
  // Elements that take no bytes in split form are slots, and slots are counted.
  base::ByteWriter pairs;
  pairs.put_varint(1);
  pairs.put_u8(0);
  pairs.put_u8(static_cast<uint8_t>(FieldTag::kPairArray));
  pairs.put_varint(uint64_t{1} << 40);
  EXPECT_FALSE(inspect_shape(pairs.view()));
  Sig result_first(1, 0);
  result_first.tag(FieldTag::kResult);
  result_first.integer(1).integer(2);
  EXPECT_FALSE(split_signature(result_first.bytes())) << "a result is the last field";
}

TEST(Walk, ABufferOnADeviceSaysWhichDevice) {
  Sig device(1, 0), managed(1, 0);
  device.buffer(BufferClass::kDevice, 3, 64, 2);
  managed.buffer(BufferClass::kManaged, 3, 64).integer(2);
  for (const Sig* s : {&device, &managed}) {
    const auto split = split_signature(s->bytes());
    ASSERT_TRUE(split);
    EXPECT_EQ(split->values, (std::vector<int64_t>{0, 3, 64, 2}));
    EXPECT_EQ(join_signature(split->shape, split->values), s->bytes());
    const auto call = parse_fields(split->shape, split->values);
    ASSERT_TRUE(call);
    EXPECT_EQ(call->parameters[0].value, 3);
    EXPECT_EQ(call->parameters[0].offset_bytes, 64);
    EXPECT_EQ(call->parameters[0].device, s == &device ? 2 : 0);
  }
  // A class that nobody has defined.
  std::string bytes(device.bytes());
  bytes[bytes.size() - 5] = 7;
  EXPECT_FALSE(split_signature(bytes));
}

}  // namespace
}  // namespace refrain::format
