// Signatures that were written more than once become one.
#include "format/merge/unique.h"

#include <gtest/gtest.h>

#include <random>

#include <string>

#include "base/bytes.h"
#include "format/merge/signature_list.h"
#include "format/signatures/signature.h"
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
  DurationStats d;
  d.count = 3;
  d.min_ns = 1;
  d.max_ns = UINT64_MAX;
  d.sum_ns = 0.3;
  d.histogram.add(0, 1);
  d.histogram.add(63, 2);
  const std::vector<int64_t> values = {0, -1, INT64_MAX, INT64_MIN, 1 << 30, -(1 << 30)};
  SignatureList plain;
  plain.begin(700);
  for (const int64_t v : values) plain.push_value(v);
  plain.begin(0);
  plain.begin(1);
  plain.push_value(5);
  for (const DurationStats& one : {d, DurationStats(), DurationStats()})
    plain.durations().push_back(one);
  ASSERT_EQ(plain.size(), 3u);
  EXPECT_FALSE(plain.has_states());
  EXPECT_EQ(plain.shape(0), 700u);
  ASSERT_EQ(plain.slots(0), values.size());
  for (size_t k = 0; k < values.size(); ++k) EXPECT_EQ(plain.value(0, k), values[k]);
  EXPECT_EQ(plain.slots(1), 0u);
  ASSERT_EQ(plain.slots(2), 1u);
  EXPECT_EQ(plain.value(2, 0), 5);
  DurationList::Reader durations(std::move(plain.durations()));
  const DurationStats back = durations.next();
  EXPECT_EQ(back.sum_ns, 0.3);
  EXPECT_EQ(back.max_ns, UINT64_MAX);
  EXPECT_EQ(back.histogram[0], 1u);
  EXPECT_EQ(back.histogram[31], 0u);
  EXPECT_EQ(back.histogram[63], 2u);
  EXPECT_EQ(durations.next().count, 0u);
}

TEST(SignatureList, StatesAreWhatWasSetLast) {
  std::mt19937_64 random(2);
  constexpr size_t kSlots = 200;
  SignatureList list;
  list.begin(0);
  for (size_t k = 0; k < kSlots; ++k) list.push_value(static_cast<int64_t>(random()));
  list.make_states(0);
  std::vector<SlotState> states(kSlots);
  std::vector<base::NestedRuns> values(kSlots);
  for (size_t k = 0; k < kSlots; ++k) {
    states[k] = list.state(0, k);
    EXPECT_EQ(states[k].first, list.value(0, k));
  }
  for (int round = 0; round < 5000; ++round) {
    const size_t k = random() % kSlots;
    const auto number = [&] { return static_cast<int64_t>(random() >> random() % 64); };
    if (random() % 4 == 0) {
      states[k] = {0, 0, 0};
      values[k] = base::NestedRuns();
      for (uint64_t n = random() % 4; n > 0; --n) values[k].append(number());
      list.set_values(0, k, values[k]);
      continue;
    }
    states[k] = {SlotState::kModAlive, number(), 0};
    if (random() % 2 == 0) states[k].alive |= SlotState::kXorAlive;
    if (random() % 2 == 0) {
      states[k].alive |= SlotState::kAffineAlive | SlotState::kSlopeFixed;
      states[k].slope = number() % 3;
    }
    list.set_state(0, k, states[k]);
  }
  for (size_t k = 0; k < kSlots; ++k) {
    const SlotState s = list.state(0, k);
    ASSERT_EQ(s.alive, states[k].alive);
    if (s.alive == 0) {
      base::NestedRuns room;
      ASSERT_EQ(list.values(0, k, room).runs(), values[k].runs());
    } else {
      ASSERT_EQ(s.first, states[k].first);
      ASSERT_EQ(s.slope, states[k].slope);
    }
  }
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
