// Signatures that were written more than once become one.
#include "format/merge/unique.h"

#include <gtest/gtest.h>

#include <string>

#include "base/bytes.h"
#include "format/merge/signature_list.h"
#include "format/signature.h"
#include "mpi/call_ids.h"

namespace refrain::format {
namespace {

// A call without a site: a number, or the request that another one made.
std::string signature(mpi::CallId call, FieldTag tag, uint64_t value) {
  base::ByteWriter out;
  out.put_varint(call);
  out.put_u8(static_cast<uint8_t>(FieldTag::kNone));
  out.put_u8(static_cast<uint8_t>(tag));
  if (tag == FieldTag::kInt) {
    out.put_zigzag(static_cast<int64_t>(value));
  } else {
    out.put_varint(value);
  }
  return out.take();
}
std::string makes(uint64_t position) {
  return signature(mpi::kMPI_Isend, FieldTag::kNewRequest, position);
}
std::string waits(uint64_t terminal) {
  return signature(mpi::kMPI_Wait, FieldTag::kRequest, terminal);
}
std::string number(uint64_t v) { return signature(mpi::kMPI_Pcontrol, FieldTag::kInt, v); }

TEST(UniqueSignatures, RequestsAreThoseOfTheFirst) {
  UniqueSignatures all;
  for (const std::string& s : {makes(0), waits(0), makes(1), waits(2)}) EXPECT_TRUE(all.add(s));
  // Forgotten, and here again.
  for (const std::string& s : {makes(0), waits(4), makes(1), waits(2), waits(6), number(5)})
    EXPECT_TRUE(all.add(s));
  EXPECT_EQ(all.numbers(), (std::vector<uint32_t>{0, 1, 2, 3, 0, 1, 2, 3, 3, 4}));
  EXPECT_EQ(all.terminals(), 10u);
  const ByteStrings kept = all.take();
  ASSERT_EQ(kept.size(), 5u);
  EXPECT_EQ(kept[1], waits(0));
  EXPECT_EQ(kept[3], waits(2));
  EXPECT_EQ(kept[4], number(5));
}

TEST(UniqueSignatures, RequestsOfLaterCallsAreRefused) {
  UniqueSignatures all;
  EXPECT_TRUE(all.add(makes(0)));
  EXPECT_TRUE(all.add(makes(0)));
  EXPECT_FALSE(all.add(waits(7)));
  EXPECT_FALSE(all.add("\xff"));
  EXPECT_EQ(all.terminals(), 2u);
}

TEST(UniqueSignatures, ManyAreFound) {
  constexpr uint64_t kCount = 5000;
  UniqueSignatures all;
  for (uint64_t i = 0; i < 2 * kCount; ++i) EXPECT_TRUE(all.add(number(i % kCount)));
  EXPECT_EQ(all.signatures().size(), kCount);
  for (uint64_t i = 0; i < 2 * kCount; ++i) EXPECT_EQ(all.numbers()[i], i % kCount);
}

TEST(SignatureList, GivesWhatWasPut) {
  PartialSignature plain;
  plain.shape = 700;
  plain.values = {0, -1, INT64_MAX, INT64_MIN};
  plain.duration.count = 3;
  plain.duration.min_ns = 1;
  plain.duration.max_ns = UINT64_MAX;
  plain.duration.sum_ns = 0.3;
  plain.duration.histogram.add(0, 1);
  plain.duration.histogram.add(63, 2);
  PartialSignature states;
  states.slots.resize(2);
  states.slots[0].alive = SlotState::kAffineAlive | SlotState::kSlopeFixed;
  states.slots[0].first = 7;
  states.slots[0].slope = -2;
  states.slots[1].alive = 0;
  for (const int64_t v : {1, 2, 3, 9, 10, 11, 4}) states.slots[1].values.append(v);
  SignatureList list;
  list.push_back(plain);
  list.push_back(PartialSignature());
  list.push_back(states);
  ASSERT_EQ(list.size(), 3u);
  EXPECT_EQ(list.shape(0), 700u);
  EXPECT_EQ(list[0].values, plain.values);
  EXPECT_EQ(list[0].duration.sum_ns, 0.3);
  EXPECT_EQ(list[0].duration.max_ns, UINT64_MAX);
  EXPECT_EQ(list[0].duration.histogram[0], 1u);
  EXPECT_EQ(list[0].duration.histogram[31], 0u);
  EXPECT_EQ(list[0].duration.histogram[63], 2u);
  EXPECT_TRUE(list[1].values.empty() && list[1].slots.empty());
  ASSERT_EQ(list[2].slots.size(), 2u);
  EXPECT_EQ(list[2].slots[0].alive, states.slots[0].alive);
  EXPECT_EQ(list[2].slots[0].first, 7);
  EXPECT_EQ(list[2].slots[0].slope, -2);
  EXPECT_EQ(list[2].slots[1].values.runs(), states.slots[1].values.runs());
}

TEST(Histogram, CopiesAreApart) {
  Histogram a;
  a.add(5, 1);
  Histogram b = a;
  b.add(5, 1);
  b.add(3, 4);
  Histogram c = b;
  c.add(10, 1);
  a = std::move(b);
  EXPECT_EQ(a[5], 2u);
  EXPECT_EQ(a[3], 4u);
  EXPECT_EQ(a[4], 0u);
  EXPECT_EQ(a[10], 0u);
  EXPECT_EQ(c[10], 1u);
  EXPECT_EQ(c[3], 4u);
  c.add(a);
  EXPECT_EQ(c[3], 8u);
  EXPECT_EQ(c.first(), 3u);
  EXPECT_EQ(c.used(), 8u);
}

}  // namespace
}  // namespace refrain::format
