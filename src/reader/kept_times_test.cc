#include "reader/kept_times.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "reader/internal.h"
#include "reader/test_trace.h"
#include "reader/time_store.h"
#include "refrain/calls.h"

namespace refrain {
namespace {

using format::TimedCall;
using reader::KeptTimes;

constexpr int kBlock = 0, kOther = 0;  // their addresses are names

std::vector<TimedCall> calls() {
  std::vector<TimedCall> out;
  // Calls that follow, one inside the next one, and the largest numbers there are.
  for (uint64_t i = 0; i < 1000; ++i) out.push_back({0, 100 * i + 7, 100 * i + 7 + i * i});
  out.push_back({0, 3, out.back().end_ns});
  out.push_back({0, UINT64_MAX - 1, UINT64_MAX});
  out.push_back({0, 0, UINT64_MAX});
  return out;
}

TEST(KeptTimes, ABlockIsKeptWhenItIsDecodedTheSecondTime) {
  KeptTimes kept;
  const std::vector<TimedCall> was = calls();
  std::vector<TimedCall> is(was.size());
  EXPECT_FALSE(kept.take(&kBlock, is));
  kept.decoded(&kBlock, was);
  EXPECT_FALSE(kept.take(&kBlock, is));
  const size_t before = kept.bytes();
  EXPECT_LT(before, size_t{200});
  kept.decoded(&kBlock, was);
  ASSERT_TRUE(kept.take(&kBlock, is));
  EXPECT_EQ(is, was);
  EXPECT_GT(kept.bytes(), before);
  EXPECT_FALSE(kept.take(&kOther, is));
}

TEST(KeptTimes, AreKeptAtOnceWhereTheyWillBeReadAgain) {
  KeptTimes kept;
  const std::vector<TimedCall> was = calls();
  std::vector<TimedCall> is(was.size());
  kept.decoded(&kBlock, was);
  kept.expect_more();
  kept.decoded(&kOther, was);
  EXPECT_FALSE(kept.take(&kBlock, is));
  ASSERT_TRUE(kept.take(&kOther, is));
  EXPECT_EQ(is, was);
}

TEST(KeptTimes, TakeNoMoreMemoryThanTheyMay) {
  const std::vector<TimedCall> was = calls();
  std::vector<TimedCall> is(was.size());
  KeptTimes all;
  for (int i = 0; i < 2; ++i) all.decoded(&kBlock, was);
  KeptTimes kept(3 * all.bytes());
  std::vector<int> names(100);
  for (int i = 0; i < 2; ++i)
    for (const int& name : names) kept.decoded(&name, was);
  EXPECT_LE(kept.bytes(), 3 * all.bytes());
  EXPECT_GT(std::count_if(names.begin(), names.end(),
                          [&](const int& name) { return kept.take(&name, is); }),
            0);
  EXPECT_FALSE(kept.take(&names.back(), is));
}

// A trace that is read again and again gives the same times from the file and from memory.
TEST(KeptTimes, AreThoseOfTheFileOnTheCommonClock) {
  reader::TraceBuilder b(2);
  reader::ShapeWriter shape("MPI_Barrier");
  const uint32_t barrier = b.signature(shape.object(b.world()));
  b.group({0, 1}, std::vector<uint32_t>(300, barrier));
  for (const uint64_t rank : {0, 1}) {
    std::vector<std::pair<uint64_t, uint64_t>> times;
    for (uint64_t i = 0; i < 300; ++i) times.emplace_back(100 * i + rank, 100 * i + 40 + i % 50);
    b.times(rank, times, "exact", 100);
  }
  b.clock(0, {});
  b.clock(1, {{0, -500}, {1'000'000, 1'000'500}});
  const Trace trace = b.open();
  reader::TimeStore& store = *reader::times_of(trace);
  std::vector<std::vector<uint64_t>> walks;
  std::vector<uint64_t> reads;
  for (int walk = 0; walk < 4; ++walk) {
    walks.emplace_back();
    for (const Rank rank : {0, 1}) {
      RankReader reader(trace, rank, Times::kRead);
      ASSERT_TRUE(reader
                      .for_each_call(0,
                                     [&](const Call& call) {
                                       walks.back().push_back(call.begin_ns);
                                       walks.back().push_back(call.end_ns);
                                       return call.has_time;
                                     })
                      .ok());
    }
    reads.push_back(store.reads());
    EXPECT_EQ(walks.back(), walks.front());
  }
  EXPECT_EQ(walks.front().size(), size_t{1200});
  EXPECT_EQ(reads[1], reads[0] + 6);  // blocks
  EXPECT_EQ(reads[2], reads[1]);
  EXPECT_EQ(reads[3], reads[1]);
}

}  // namespace
}  // namespace refrain
