// Segments of calls, cut one by one, and profiles of ranks that travel.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "format/segments/reduced.h"
#include "format/segments/run_profile.h"
#include "format/time/segment_encoder.h"
#include "grammar/builder.h"

namespace refrain::format {
namespace {

using similarity::MethodSpec;
using similarity::SegmentView;

struct Calls {
  std::vector<uint32_t> terminals;
  std::vector<int64_t> begin_ns, end_ns;
};

// An exchange of three calls, a reduction now and then, a call of its own in front; some ranks have
// a call more. Loads differ by rank and iteration.
Calls calls_of(uint32_t rank, uint32_t iterations, uint64_t seed) {
  std::mt19937_64 random(seed * 1000 + rank);
  Calls calls;
  int64_t now = static_cast<int64_t>(random() % 5000);
  const auto call = [&](uint32_t terminal, int64_t before, int64_t takes) {
    calls.terminals.push_back(terminal);
    now += before + static_cast<int64_t>(random() % 300);
    calls.begin_ns.push_back(now);
    now += takes + static_cast<int64_t>(random() % 200);
    calls.end_ns.push_back(now);
  };
  call(0, 0, 1000);
  for (uint32_t i = 0; i < iterations; ++i) {
    const bool is_slow = random() % 10 == 0;
    call(1, 20'000 + (rank % 3) * 3000 + (is_slow ? 50'000 : 0), 500);
    call(2, 100, 600);
    call(3, 100, 4000);
    if (i % 10 == 9) call(4, 2000, 3000);
    if (rank % 4 == 3 && i % 25 == 0) call(5, 10, 10);
  }
  return calls;
}

grammar::Grammar grammar_of(const Calls& calls) {
  grammar::Builder builder;
  for (const uint32_t t : calls.terminals) builder.append(t);
  return builder.finish();
}

void feed(const Calls& calls, SegmentCutter& cutter) {
  for (size_t i = 0; i < calls.terminals.size(); ++i)
    cutter.call({calls.terminals[i], 0, nullptr, calls.begin_ns[i], calls.end_ns[i], 1});
  cutter.finish();
}

LoopPlan plain_plan(uint32_t terminals) {
  LoopPlan plan;
  for (uint32_t t = 0; t < terminals; ++t) plan.keys.push_back(t);
  return plan;
}

RunProfile profile_of(uint32_t rank, const MethodSpec& method, uint64_t seed) {
  const Calls calls = calls_of(rank, 60, seed);
  const grammar::Grammar grammar = grammar_of(calls);
  const LoopPlan plan = plain_plan(6);
  similarity::StoreOptions how;
  how.method = method;
  LocationMatcher matcher(how);
  ContextNames names;
  CutCounts counts;
  LoopCutter cutter(plan, grammar, &names, &counts,
                    [&](const SegmentView& s, uint64_t) { matcher.segment(s); });
  feed(calls, cutter);
  auto profile = matcher.finish(rank, 0, names, counts);
  EXPECT_TRUE(profile.ok());
  return std::move(*profile);
}

const char* const kMethods[] = {"relDiff:0.2", "absDiff:5us",   "Manhattan",    "Euclidean",
                                "Chebyshev",   "iter_k:3",      "iter_avg",     "avgWave",
                                "haarWave",    "auto:0.05:0.1", "auto:0.2:0.02"};

TEST(LoopCutter, EveryCallIsInOneSegmentAndNothingLiesBetween) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const Calls calls = calls_of(static_cast<uint32_t>(seed), 40, seed);
    const grammar::Grammar grammar = grammar_of(calls);
    const LoopPlan plan = plain_plan(6);
    ContextNames names;
    CutCounts counts;
    size_t at = 0, segments = 0;
    LoopCutter cutter(plan, grammar, &names, &counts, [&](const SegmentView& s, uint64_t messages) {
      EXPECT_EQ(s.start_ns, at == 0 ? calls.begin_ns[0] : calls.end_ns[at - 1]);
      EXPECT_EQ(messages, s.event_count());
      for (size_t k = 0; k < s.event_count(); ++k, ++at) {
        EXPECT_EQ(s.start_ns + static_cast<int64_t>(s.stamps[2 * k]), calls.begin_ns[at]);
        EXPECT_EQ(s.start_ns + static_cast<int64_t>(s.stamps[2 * k + 1]), calls.end_ns[at]);
      }
      EXPECT_LT(s.context, names.all().size());
      ++segments;
    });
    feed(calls, cutter);
    EXPECT_EQ(at, calls.terminals.size());
    EXPECT_EQ(counts.calls, calls.terminals.size());
    EXPECT_EQ(segments, count_segments(grammar));
    EXPECT_GT(segments, 40u);
  }
}

TEST(LoopCutter, LongSegmentsAreDivided) {
  Calls calls;
  const uint32_t n = static_cast<uint32_t>(2 * kMaxCallsPerSegment + 10);
  for (uint32_t t = 0; t < n; ++t) {
    calls.terminals.push_back(t);
    calls.begin_ns.push_back(10 * t);
    calls.end_ns.push_back(10 * t + 5);
  }
  const grammar::Grammar grammar = grammar_of(calls);
  const LoopPlan plan = plain_plan(n);
  ContextNames names;
  CutCounts counts;
  std::vector<size_t> sizes;
  std::set<uint64_t> structures;
  LoopCutter cutter(plan, grammar, &names, &counts, [&](const SegmentView& s, uint64_t) {
    sizes.push_back(s.event_count());
    structures.insert(s.structure);
  });
  feed(calls, cutter);
  EXPECT_EQ(sizes, (std::vector<size_t>{kMaxCallsPerSegment, kMaxCallsPerSegment, 10}));
  EXPECT_EQ(structures.size(), 3u);
  EXPECT_EQ(counts.divided, 1u);
}

// Calls that have no times any more are in no segment, those before them are.
TEST(LoopCutter, EndsWhereTimesEnd) {
  Calls calls = calls_of(0, 40, 1);
  const grammar::Grammar grammar = grammar_of(calls);
  calls.terminals.resize(50);
  const LoopPlan plan = plain_plan(6);
  ContextNames names;
  CutCounts counts;
  size_t seen = 0;
  LoopCutter cutter(plan, grammar, &names, &counts,
                    [&](const SegmentView& s, uint64_t) { seen += s.event_count(); });
  feed(calls, cutter);
  EXPECT_EQ(seen, 50u);
  EXPECT_EQ(counts.calls, 50u);
}

// As the recorder unites ranks: round by round, through bytes.
RunProfile united_by_tree(std::vector<RunProfile> ranks, const MethodSpec& method,
                          AcrossRanks across) {
  for (size_t step = 1; step < ranks.size(); step *= 2)
    for (size_t r = 0; r + step < ranks.size(); r += 2 * step) {
      auto other = parse_profile(serialise(ranks[r + step]));
      EXPECT_TRUE(other.ok());
      unite(&ranks[r], std::move(*other), method, across);
    }
  return std::move(ranks[0]);
}

TEST(RunProfile, ATreeOfRanksGivesWhatOneAfterTheOtherDoes) {
  for (const char* text : kMethods) {
    const MethodSpec method = similarity::parse_method(text).value();
    for (const AcrossRanks across :
         {AcrossRanks::kOff, AcrossRanks::kGroups, AcrossRanks::kSegments})
      for (const uint32_t ranks : {1u, 2u, 3u, 5u, 6u, 7u, 11u}) {
        std::vector<RunProfile> all;
        Uniter uniter(method, effective(across, method));
        for (uint32_t r = 0; r < ranks; ++r) {
          all.push_back(profile_of(r, method, ranks));
          uniter.add(all.back());
        }
        const RunProfile tree = united_by_tree(std::move(all), method, effective(across, method));
        EXPECT_EQ(serialise(tree), serialise(uniter.finish())) << text << ", ranks " << ranks;
        EXPECT_EQ(tree.locations.size(), ranks);
        EXPECT_TRUE(tree.problem.empty());
      }
  }
}

// What a rank sends where groups are not compared: its representatives, each once.
TEST(RunProfile, TheOrderOfFirstUseIsEnoughForNumbers) {
  for (const char* text : {"avgWave", "auto:0.1"}) {
    const MethodSpec method = similarity::parse_method(text).value();
    for (const AcrossRanks across : {AcrossRanks::kOff, AcrossRanks::kSegments}) {
      Uniter whole(method, across), brief(method, across);
      for (uint32_t r = 0; r < 6; ++r) {
        RunProfile profile = profile_of(r, method, 5);
        whole.add(profile);
        std::vector<uint32_t>& sequence = profile.profile.groups[0].sequence;
        std::vector<uint32_t> used;
        for (const uint32_t id : sequence)
          if (std::find(used.begin(), used.end(), id) == used.end()) used.push_back(id);
        EXPECT_LT(used.size(), sequence.size());
        sequence = used;
        brief.add(std::move(profile));
      }
      const ReducedHow how{method, SegmentSource::kLoops, across, 0};
      const auto a = finish_profile(whole.finish(), how), b = finish_profile(brief.finish(), how);
      ASSERT_TRUE(a.ok() && b.ok());
      EXPECT_EQ(a->representatives, b->representatives);
      EXPECT_EQ(a->info, b->info);
      EXPECT_EQ(a->bytes, b->bytes);
    }
  }
}

TEST(RunProfile, OneProblemIsThatOfAll) {
  const MethodSpec method = similarity::parse_method("avgWave").value();
  std::vector<RunProfile> ranks;
  for (uint32_t r = 0; r < 5; ++r) ranks.push_back(profile_of(r, method, 3));
  ranks[3] = {};
  ranks[3].problem = "rank 3: no memory";
  EXPECT_EQ(united_by_tree(std::move(ranks), method, AcrossRanks::kGroups).problem,
            "rank 3: no memory");
}

TEST(RunProfile, DamagedBytesAreRefusedOrConsistent) {
  const MethodSpec method = similarity::parse_method("auto:0.1").value();
  const std::string good = serialise(profile_of(3, method, 9));
  ASSERT_TRUE(parse_profile(good).ok());
  for (size_t n = 0; n < good.size(); n += 7) EXPECT_FALSE(parse_profile(good.substr(0, n)).ok());
  std::mt19937_64 random(4);
  for (int i = 0; i < 3000; ++i) {
    std::string bytes = good;
    for (int k = 0; k < 3; ++k) bytes[random() % bytes.size()] = static_cast<char>(random());
    const auto profile = parse_profile(bytes);
    if (!profile.ok()) continue;
    for (const similarity::ProcessGroup& g : profile->profile.groups)
      for (const uint32_t id : g.sequence) EXPECT_LT(id, profile->profile.segments.size());
  }
}

}  // namespace
}  // namespace refrain::format
