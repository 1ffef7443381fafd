// Gaps between calls go the way of durations: merged over ranks, coded, and read back.
#include <gtest/gtest.h>

#include <cmath>

#include "format/codes/quantise.h"
#include "format/decode/decode.h"
#include "format/encode/encode.h"
#include "format/merge/merge.h"
#include "format/testing/synthetic.h"

namespace refrain::format {
namespace {

DurationStats stats_of_gaps(uint64_t count, uint64_t first, uint64_t step) {
  DurationStats d;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t ns = first + i * step;
    d.min_ns = i == 0 ? ns : std::min(d.min_ns, ns);
    d.max_ns = std::max(d.max_ns, ns);
    d.sum_ns += static_cast<double>(ns);
    d.histogram.add(Histogram::bucket_of(ns), 1);
    ++d.count;
  }
  return d;
}

// Each gap of signature t on rank r begins at 1000 * (t + 1) + 100 * r.
std::vector<RankRecord> halo_with_gaps(uint64_t edge) {
  std::vector<RankRecord> ranks;
  for (uint64_t r = 0; r < edge * edge; ++r) {
    ranks.push_back(testing::halo_2d(r, edge, edge, true, 20));
    RankRecord& record = ranks.back();
    for (size_t t = 0; t < record.signatures.size(); ++t)
      record.gaps.push_back(stats_of_gaps(record.durations[t].count, 1000 * (t + 1) + 100 * r, 10));
  }
  return ranks;
}

double sum_of(const std::deque<DurationStats>& all) {
  double sum = 0;
  for (const DurationStats& d : all) sum += d.sum_ns;
  return sum;
}
double sum_of(const std::vector<RankRecord>& ranks) {
  double sum = 0;
  for (const RankRecord& r : ranks)
    for (const DurationStats& d : r.gaps) sum += d.sum_ns;
  return sum;
}

TEST(Gaps, AreAddedOverRanksWhateverTheOrder) {
  const std::vector<RankRecord> ranks = halo_with_gaps(4);
  for (const uint64_t seed : {0, 1, 2}) {
    const TraceData trace = testing::merge_all(ranks, seed);
    ASSERT_EQ(trace.gaps.size(), trace.signatures.size());
    EXPECT_DOUBLE_EQ(sum_of(trace.gaps), sum_of(ranks));
    for (size_t i = 0; i < trace.gaps.size(); ++i) {
      EXPECT_EQ(trace.gaps[i].count, trace.durations[i].count) << i;
      EXPECT_GE(trace.gaps[i].min_ns, 1000u) << i;
    }
    EXPECT_TRUE(trace.losses.empty());
  }
}

TEST(Gaps, ComeBackAsDurationsDo) {
  const TraceData trace = testing::merge_all(halo_with_gaps(4));
  const auto bytes = encode(trace);
  ASSERT_TRUE(bytes.ok()) << bytes.error().to_string();
  EXPECT_TRUE(check(*bytes).empty());
  const auto again = decode(*bytes, "t.rfn");
  ASSERT_TRUE(again.ok()) << again.error().to_string();
  ASSERT_EQ(again->gaps.size(), trace.gaps.size());
  EXPECT_NEAR(sum_of(again->gaps), sum_of(trace.gaps), sum_of(trace.gaps) / 2048);
  for (size_t i = 0; i < trace.gaps.size(); ++i) {
    EXPECT_EQ(again->gaps[i].count, trace.gaps[i].count) << i;
    EXPECT_NEAR(static_cast<double>(again->gaps[i].max_ns),
                static_cast<double>(trace.gaps[i].max_ns),
                static_cast<double>(trace.gaps[i].max_ns) / 64)
        << i;
  }
  EXPECT_EQ(*encode(*again), *bytes) << "encoding what was decoded gives the same bytes";
  TraceData without = trace;
  without.gaps.clear();
  EXPECT_EQ(decode(*encode(without), "t.rfn")->gaps.size(), 0u);
  // No longer than the room for it, and all else stays as it was.
  const uint64_t more = bytes->size() - encode(without)->size();
  EXPECT_LE(more, 8 * trace.gaps.size() + 32);
}

TEST(Gaps, OfVeryManySignaturesTakeThreeBytesEach) {
  testing::SyntheticRank rank(0, 1);
  constexpr size_t kMany = 5000;
  for (size_t i = 0; i < kMany; ++i)
    for (size_t k = 0; k < 3; ++k)
      rank.call(testing::Sig(7, rank.site(static_cast<int64_t>(9 + i % 4)))
                    .integer(static_cast<int64_t>(i * i))
                    .object(rank.world()));
  RankRecord record = rank.finish();
  for (size_t t = 0; t < record.signatures.size(); ++t)
    record.gaps.push_back(stats_of_gaps(3, 500 + t * 7919 % 100'000, 50 + t % 700));
  auto trace = finish(std::move(*leaf(std::move(record), 1)));
  ASSERT_TRUE(trace.ok());
  const auto bytes = encode(*trace);
  ASSERT_TRUE(bytes.ok());
  const auto sizes = section_sizes(*bytes, "t.rfn");
  uint64_t found = 0;
  for (const SectionSize& s : *sizes)
    if (s.type == SectionType::kGaps) found = s.raw_bytes;
  EXPECT_GT(found, 0u);
  EXPECT_LE(found, 3 * kMany + 16);
  EXPECT_NEAR(sum_of(decode(*bytes, "t.rfn")->gaps), sum_of(trace->gaps),
              sum_of(trace->gaps) / 2048);
}

TEST(Gaps, OfSomeRanksOnlyAreNobodysAndALoss) {
  for (const size_t without : {0, 7, 15}) {
    std::vector<RankRecord> ranks = halo_with_gaps(4);
    ranks[without].gaps.clear();
    const TraceData trace = testing::merge_all(ranks);
    EXPECT_TRUE(trace.gaps.empty());
    ASSERT_EQ(trace.losses.size(), 1u);
    EXPECT_EQ(trace.losses[0].reason, "gaps_missing");
    EXPECT_TRUE(encode(trace).ok());
  }
}

TEST(Gaps, OfARankWithoutCallsAreNotMissed) {
  std::vector<RankRecord> ranks = halo_with_gaps(2);
  RankRecord silent = std::move(ranks[3]);
  silent.signatures = ByteStrings();
  silent.durations.clear();
  silent.gaps.clear();
  silent.threads.clear();
  ranks[3] = std::move(silent);
  const TraceData trace = testing::merge_all(ranks);
  EXPECT_EQ(trace.gaps.size(), trace.signatures.size());
  EXPECT_TRUE(trace.losses.empty());
}

TEST(Gaps, NotAsManyAsSignaturesAreAnError) {
  RankRecord record = std::move(halo_with_gaps(1)[0]);
  record.gaps.pop_back();
  EXPECT_FALSE(leaf(std::move(record), 1).ok());
}

}  // namespace
}  // namespace refrain::format
