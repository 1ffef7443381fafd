// Ranks that do the same but for the lengths of their loops: one group and one grammar in the file.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

#include "format/content.h"
#include "format/decode/decode.h"
#include "format/encode/encode.h"
#include "format/testing/synthetic.h"
#include "grammar/skeleton.h"

namespace refrain::format {
namespace {

using testing::Sig;
using testing::SyntheticRank;

// An outer loop around two inner ones, whose lengths depend on the rank; messages of a length that
// no expression explains.
RankRecord rounds(uint64_t me, uint64_t ranks, uint64_t outer, uint64_t first, uint64_t second) {
  SyntheticRank r(me, ranks);
  const auto size = static_cast<int64_t>(ranks);
  const auto length = static_cast<int64_t>(me * me * 7919 % 1009);
  r.call(Sig(1, r.site(1)).object(r.world()));
  for (uint64_t i = 0; i < outer; ++i) {
    for (uint64_t k = 0; k < first; ++k) {
      r.call(Sig(2, r.site(2)).integer(length).peer((static_cast<int64_t>(me) + 1) % size));
      r.call(Sig(3, r.site(3)).integer(4).object(r.world()));
    }
    for (uint64_t k = 0; k < second; ++k) r.call(Sig(4, r.site(4)).integer(length + 1));
    r.call(Sig(5, r.site(5)).object(r.world()));
  }
  r.call(Sig(6, r.site(6)).none());
  return r.finish();
}

struct Made {
  std::vector<RankRecord> ranks;
  TraceData trace;
  std::string bytes;
};
Made make(uint64_t ranks, const std::function<RankRecord(uint64_t)>& rank, uint64_t seed = 0) {
  Made made;
  for (uint64_t r = 0; r < ranks; ++r) made.ranks.push_back(rank(r));
  made.trace = testing::merge_all(made.ranks, seed);
  const auto findings = check_content(made.trace);
  EXPECT_TRUE(findings.empty()) << findings[0].to_string();
  const auto bytes = encode(made.trace);
  EXPECT_TRUE(bytes.ok());
  if (bytes.ok()) made.bytes = *bytes;
  return made;
}
TraceData expect_exact(const Made& made) {
  auto again = decode(made.bytes, "t.rfn");
  EXPECT_TRUE(again.ok()) << again.error().to_string();
  if (!again.ok()) return {};
  EXPECT_TRUE(check(made.bytes).empty());
  for (const RankRecord& r : made.ranks) {
    EXPECT_EQ(testing::difference(made.trace, r), "") << "rank " << r.rank;
    EXPECT_EQ(testing::difference(*again, r), "") << "rank " << r.rank;
  }
  EXPECT_EQ(*encode(*again), made.bytes);
  return std::move(*again);
}

int lines_of(const std::string& bytes, const std::string& meaning) {
  int n = 0;
  for (const ByteLine& line : annotate(bytes)) n += line.meaning.starts_with(meaning) ? 1 : 0;
  return n;
}

TEST(LoopCounts, SixteenUnlikeRanksAreOneGroupAndOneGrammar) {
  const Made made = make(16, [](uint64_t r) { return rounds(r, 16, 3 + r, 2 + r * r % 11, 40); });
  const TraceData trace = expect_exact(made);
  EXPECT_EQ(trace.groups.size(), 16u);
  EXPECT_EQ(trace.grammars.size(), 16u);
  EXPECT_EQ(trace.signatures.size(), 6u);
  EXPECT_EQ(lines_of(made.bytes, "location count of group"), 1);
  EXPECT_EQ(lines_of(made.bytes, "form of grammar"), 1);
  const Made alike = make(16, [](uint64_t r) { return rounds(r, 16, 3, 2, 40); });
  // Two columns of counts, and which grammar each rank has.
  EXPECT_LE(made.bytes.size(), alike.bytes.size() + 100);
}

TEST(LoopCounts, CountsThatFollowTheRankTakeTheSameBytesOnManyRanks) {
  const auto bytes = [](uint64_t ranks) {
    const Made made = make(ranks, [&](uint64_t r) { return rounds(r, ranks, 3, 5 + 2 * r, 40); });
    expect_exact(made);
    double totals = 0;
    const auto sizes = section_sizes(made.bytes, "t.rfn");
    for (const SectionSize& s : *sizes) {
      // Lengths of messages are a table.
      if (s.type == SectionType::kTotals || s.type == SectionType::kNumbers ||
          s.type == SectionType::kTables)
        totals += s.stored_bytes;
    }
    return made.bytes.size() - static_cast<size_t>(totals);
  };
  EXPECT_LE(bytes(256), bytes(64) + 40);
}

TEST(LoopCounts, AnyLengthsInAnyTreeAreExact) {
  std::mt19937_64 random(4);
  for (uint64_t seed = 1; seed < 30; ++seed) {
    std::vector<uint64_t> lengths;
    for (int i = 0; i < 3 * 24; ++i) lengths.push_back(1 + random() % (1 + seed));
    const Made made = make(
        24,
        [&](uint64_t r) {
          return rounds(r, 24, lengths[3 * r], lengths[3 * r + 1], lengths[3 * r + 2]);
        },
        seed);
    const TraceData trace = expect_exact(made);
    uint64_t calls = 0, expected = 0;
    for (const DurationStats& d : trace.durations) calls += d.count;
    for (const RankRecord& r : made.ranks)
      for (const DurationStats& d : r.durations) expected += d.count;
    EXPECT_EQ(calls, expected);
  }
}

TEST(LoopCounts, ThreadsAreUnlikeEachForItself) {
  const Made made = make(6, [](uint64_t r) {
    RankRecord record = rounds(r, 6, 2, 3, 4);
    record.threads.push_back({1, rounds(r, 6, 2 + r / 2, 3, 4).threads[0].grammar});
    record.threads.push_back({2, rounds(r, 6, 2, 3 + r % 2, 4).threads[0].grammar});
    return record;
  });
  const TraceData trace = expect_exact(made);
  EXPECT_EQ(trace.groups.size(), 6u);
  EXPECT_EQ(trace.groups[0].locations[0].grammar, trace.groups[5].locations[0].grammar);
  EXPECT_EQ(lines_of(made.bytes, "location count of group"), 1);
}

TEST(LoopCounts, WhatDoesNotFitTogetherIsFound) {
  const Made made = make(5, [](uint64_t r) { return rounds(r, 5, 2 + r, 3, 4); });
  ASSERT_EQ(made.trace.groups.size(), 5u);
  const std::function<void(TraceData&)> changes[] = {
      [](TraceData& t) { t.groups[0].is_like_before = true; },
      [](TraceData& t) { t.groups[2].is_like_before = false; },
      [](TraceData& t) { t.groups[2].signatures.pop_back(); },
      [](TraceData& t) { t.groups[2].places = {}; },
      [](TraceData& t) { std::swap(t.groups[2].places, t.groups[3].places); },
      [](TraceData& t) { t.groups[2].locations[0].thread = 1; },
      [](TraceData& t) { t.tables[0].append(1); },
  };
  for (size_t i = 0; i < std::size(changes); ++i) {
    TraceData trace = made.trace;
    changes[i](trace);
    EXPECT_FALSE(check_content(trace).empty()) << i;
    EXPECT_FALSE(encode(trace).ok()) << i;
  }
}

}  // namespace
}  // namespace refrain::format
