#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim/collectives/collective.h"

namespace refrain::sim {
namespace {

// Runs an algorithm on all ranks: what each has heard of in the end, and how many bytes went.
struct Outcome {
  std::vector<std::set<int64_t>> heard;
  uint64_t bytes = 0, reduced = 0, messages = 0;
  std::vector<uint64_t> received;
  bool has_ended = true;
};

class Blocks : public BlockSizes {
 public:
  uint64_t bytes(int64_t i) const override { return 100 + 10 * static_cast<uint64_t>(i); }
};

Outcome run(StepFunction algorithm, CollectiveCall call) {
  struct Rank {
    uint32_t step = 0;
    bool is_posted = false, is_done = false;
    Step now;
  };
  struct Message {
    std::set<int64_t> heard;
    uint64_t bytes;
  };
  const auto n = static_cast<size_t>(call.ranks);
  std::vector<Rank> ranks(n);
  std::map<std::pair<int64_t, int64_t>, std::deque<Message>> on_the_way;
  Outcome out;
  out.heard.resize(n);
  out.received.resize(n);
  for (size_t r = 0; r < n; ++r) out.heard[r].insert(static_cast<int64_t>(r));
  bool goes_on = true;
  while (goes_on) {
    goes_on = false;
    for (size_t r = 0; r < n; ++r) {
      Rank& rank = ranks[r];
      const auto me = static_cast<int64_t>(r);
      if (rank.is_done) continue;
      call.me = me;
      if (!rank.is_posted) {
        rank.now.clear();
        rank.is_done = !algorithm(call, rank.step, rank.now);
        goes_on = rank.is_posted = true;
        for (const Part& part : rank.now.parts) {
          EXPECT_NE(part.peer, me);
          if (!part.sends) continue;
          on_the_way[{me, part.peer}].push_back({out.heard[r], part.bytes});
          out.bytes += part.bytes;
          ++out.messages;
        }
        continue;
      }
      std::map<int64_t, size_t> wanted;
      bool is_complete = true;
      for (const Part& part : rank.now.parts)
        if (!part.sends) ++wanted[part.peer];
      for (const auto& [peer, count] : wanted)
        is_complete = is_complete && on_the_way[{peer, me}].size() >= count;
      if (!is_complete) continue;
      for (const auto& [peer, count] : wanted)
        for (size_t i = 0; i < count; ++i) {
          const Message message = on_the_way[{peer, me}].front();
          on_the_way[{peer, me}].pop_front();
          out.heard[r].insert(message.heard.begin(), message.heard.end());
          out.received[r] += message.bytes;
        }
      out.reduced += rank.now.reduced;
      ++rank.step;
      rank.is_posted = false;
      goes_on = true;
    }
  }
  for (const Rank& rank : ranks) out.has_ended = out.has_ended && rank.is_done;
  for (const auto& [pair, rest] : on_the_way) out.has_ended = out.has_ended && rest.empty();
  return out;
}

// Whether rank `me` needs what rank `other` has.
bool needs(const CollectiveCall& call, int64_t me, int64_t other) {
  switch (call.what) {
    case Collective::kBcast:
    case Collective::kScatter: return other == call.root;
    case Collective::kReduce:
    case Collective::kGather: return me == call.root;
    case Collective::kScan: return other <= me;
    default: return true;
  }
}

// 8 bytes for 33 ranks: a byte for each of 8. Seven messages scatter them, and a ring brings them
// to all.
TEST(Collectives, AScatterLeavesOutRanksWithoutAPart) {
  CollectiveCall call;
  call.what = Collective::kBcast;
  call.ranks = 33;
  call.root = 11;
  call.bytes = 8;
  const Outcome outcome = run(find_algorithm("scatter_allgather", call.what)->step, call);
  ASSERT_TRUE(outcome.has_ended);
  EXPECT_EQ(outcome.messages, 7U + 32 * 33);
  for (const auto& heard : outcome.heard) EXPECT_EQ(heard.count(call.root), 1U);
}

TEST(Collectives, EveryAlgorithmBringsToEachRankWhatItNeeds) {
  int checked = 0;
  for (const Algorithm& algorithm : algorithms()) {
    if (algorithm.step == nullptr) continue;
    for (unsigned what = 0; what <= static_cast<unsigned>(Collective::kScan); ++what)
      for (const int64_t n : {1, 2, 3, 4, 5, 6, 7, 8, 11, 16, 17, 33})
        for (const uint64_t segment : {uint64_t{0}, uint64_t{300}}) {
          CollectiveCall call;
          call.what = static_cast<Collective>(what);
          if (!algorithm.is_for(call.what)) continue;
          call.ranks = n;
          call.root = n / 3;
          call.bytes = 1000;
          call.segment = segment;
          const Outcome outcome = run(algorithm.step, call);
          const std::string where = std::string(algorithm.name) + " " +
                                    std::string(name_of(call.what)) + " " + std::to_string(n);
          ASSERT_TRUE(outcome.has_ended) << where;
          for (int64_t me = 0; me < n; ++me)
            for (int64_t other = 0; other < n; ++other)
              if (needs(call, me, other)) {
                ASSERT_EQ(outcome.heard[static_cast<size_t>(me)].count(other), 1U)
                    << where << ": " << me << " of " << other;
              }
          ++checked;
        }
  }
  EXPECT_GT(checked, 500);
}

Outcome run(const char* name, Collective what, int64_t ranks, uint64_t bytes,
            const BlockSizes* blocks = nullptr) {
  CollectiveCall call;
  call.what = what;
  call.ranks = ranks;
  call.bytes = bytes;
  call.blocks = blocks;
  return run(find_algorithm(name, what)->step, call);
}

TEST(Collectives, TheyMoveTheBytesOfTheirFormulas) {
  for (const int64_t n : {2, 4, 8, 16}) {
    const auto ranks = static_cast<uint64_t>(n);
    const uint64_t all = 1600 * ranks;
    EXPECT_EQ(run("binomial", Collective::kBcast, n, 1600).bytes, 1600 * (ranks - 1));
    EXPECT_EQ(run("chain", Collective::kBcast, n, 1600).bytes, 1600 * (ranks - 1));
    EXPECT_EQ(run("ring", Collective::kAllgather, n, 1600).bytes, all * (ranks - 1));
    EXPECT_EQ(run("bruck", Collective::kAllgather, n, 1600).bytes, all * (ranks - 1));
    EXPECT_EQ(run("recursive_doubling", Collective::kAllgather, n, 1600).bytes, all * (ranks - 1));
    EXPECT_EQ(run("pairwise", Collective::kAlltoall, n, 1600).bytes, all * (ranks - 1));
    EXPECT_EQ(run("linear", Collective::kAlltoall, n, 1600).bytes, all * (ranks - 1));
    EXPECT_EQ(run("bruck", Collective::kAlltoall, n, 1600).bytes, all * ranks / 2 * ceil_log2(n));
    EXPECT_EQ(run("rabenseifner", Collective::kAllreduce, n, 1600).bytes, 2 * 1600 * (ranks - 1));
    EXPECT_EQ(run("ring", Collective::kAllreduce, n, 1600).bytes, 2 * 1600 * (ranks - 1));
    EXPECT_EQ(run("rabenseifner", Collective::kAllreduce, n, 1600).reduced, 1600 * (ranks - 1));
    EXPECT_EQ(run("recursive_halving", Collective::kReduceScatter, n, 1600).bytes,
              all * (ranks - 1));
    EXPECT_EQ(run("recursive_doubling", Collective::kAllreduce, n, 1600).bytes, all * ceil_log2(n));
    EXPECT_EQ(run("dissemination", Collective::kBarrier, n, 0).messages, ranks * ceil_log2(n));
    EXPECT_EQ(run("rabenseifner", Collective::kReduce, n, 1600).received[0],
              2 * 1600 * (ranks - 1) / ranks);
  }
}

TEST(Collectives, BlocksOfDifferentSizes) {
  const Blocks blocks;
  for (const int64_t n : {3, 8, 13}) {
    uint64_t sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += blocks.bytes(i);
    for (const char* name : {"ring", "bruck", "linear"}) {
      const Outcome outcome = run(name, Collective::kAllgather, n, 0, &blocks);
      for (int64_t i = 0; i < n; ++i)
        EXPECT_EQ(outcome.received[static_cast<size_t>(i)], sum - blocks.bytes(i)) << name;
    }
    const auto others = static_cast<uint64_t>(n - 1);
    EXPECT_EQ(run("pairwise", Collective::kAlltoall, n, 0, &blocks).bytes, sum * others);
    EXPECT_EQ(run("ring", Collective::kReduceScatter, n, 0, &blocks).bytes, sum * others);
    EXPECT_EQ(run("pairwise", Collective::kReduceScatter, n, 0, &blocks).bytes, sum * others);
    EXPECT_EQ(run("linear", Collective::kGather, n, 0, &blocks).received[0], sum - blocks.bytes(0));
    EXPECT_EQ(run("linear", Collective::kScatter, n, 0, &blocks).bytes, sum - blocks.bytes(0));
  }
}

TEST(Collectives, PresetsChooseWhatTheyCan) {
  const Blocks blocks;
  for (const char* preset : {"mpich", "openmpi"})
    for (unsigned what = 0; what <= static_cast<unsigned>(Collective::kScan); ++what)
      for (const int64_t n : {1, 2, 7, 8, 33, 64, 1000})
        for (const uint64_t bytes : {uint64_t{0}, uint64_t{8}, uint64_t{5000}, uint64_t{1} << 20})
          for (const bool differ : {false, true}) {
            CollectiveCall call;
            call.what = static_cast<Collective>(what);
            call.ranks = n;
            call.bytes = bytes;
            const bool has_blocks = what >= static_cast<unsigned>(Collective::kGather) &&
                                    call.what != Collective::kScan;
            if (differ && has_blocks) call.blocks = &blocks;
            uint64_t segment = 0;
            const Algorithm& chosen = preset_algorithm(preset, call, segment);
            EXPECT_TRUE(chosen.is_for(call.what)) << chosen.name << name_of(call.what);
            EXPECT_TRUE(call.blocks == nullptr || chosen.takes_blocks || chosen.name == "bruck");
          }
}

TEST(Collectives, Formulas) {
  CollectiveCall call;
  call.ranks = 8;
  call.bytes = 1000;
  const Hockney costs{100, 0.5, 0.25};
  EXPECT_EQ(analytic_ns(call, costs), 300);
  call.what = Collective::kBcast;
  EXPECT_EQ(analytic_ns(call, costs), 3 * (100 + 500));
  call.what = Collective::kAllreduce;
  EXPECT_EQ(analytic_ns(call, costs), 600 + 0.875 * 1000 * 1.25);
}

}  // namespace
}  // namespace refrain::sim
