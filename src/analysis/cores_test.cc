// Who has to share cores: cases by hand, and any hosts against the obvious way.
#include "analysis/cores.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <set>

#include "reader/test_trace.h"

namespace refrain::analysis {
namespace {

struct Where {
  std::string host;
  std::set<uint64_t> cpus;  // empty: not known
};

format::RankPlace place_of(const std::set<uint64_t>& cpus, uint64_t cores) {
  format::RankPlace place;
  place.cores = cores;
  for (const uint64_t cpu : cpus) {
    auto& runs = place.cpus;
    if (runs.empty() || runs.back().first + runs.back().count != cpu) runs.push_back({cpu, 0});
    ++runs.back().count;
  }
  return place;
}

Trace trace_of(const std::vector<Where>& ranks, uint64_t cores) {
  reader::TraceBuilder builder(ranks.size());
  for (size_t r = 0; r < ranks.size(); ++r) builder.group({static_cast<int64_t>(r)}, {});
  format::TraceData& data = builder.data();
  data.meta.hosts.clear();
  data.meta.host_of_rank = {};
  bool is_known = false;
  for (const Where& where : ranks) {
    auto& hosts = data.meta.hosts;
    auto host = std::find(hosts.begin(), hosts.end(), where.host);
    if (host == hosts.end()) host = hosts.insert(hosts.end(), where.host);
    data.meta.host_of_rank.append(host - hosts.begin());
    const format::RankPlace place = place_of(where.cpus, cores);
    auto at = std::find(data.places.begin(), data.places.end(), place);
    if (!where.cpus.empty() && at == data.places.end())
      at = data.places.insert(data.places.end(), place);
    data.place_of_rank.append(where.cpus.empty() ? -1 : at - data.places.begin());
    is_known = is_known || !where.cpus.empty();
  }
  if (!is_known) data.place_of_rank = {};
  return builder.open();
}

// Ranks say in MPI_Finalize how often a core was taken from them, and what recording took.
TEST(Cores, SwitchesThatNobodyCountedAreNotNone) {
  const auto switches = [](uint64_t counted, uint64_t memory) {
    reader::TraceBuilder builder(1);
    builder.group({0}, {});
    format::TraceData& data = builder.data();
    data.totals.resize(1);
    data.totals[0].switches = counted;
    data.totals[0].cost.memory_bytes = memory;
    data.cost = format::cost_of(data.totals);
    return core_use(builder.open()).involuntary_switches;
  };
  EXPECT_EQ(switches(0, 0), std::nullopt);
  EXPECT_EQ(switches(0, 4096), 0U);
  EXPECT_EQ(switches(7, 4096), 7U);
}

TEST(Cores, MoreRanksThanCores) {
  const std::vector<Where> ranks(4, {"n1", {0, 1}});
  const CoreUse use = core_use(trace_of(ranks, 2));
  ASSERT_EQ(use.kinds.size(), 1U);
  EXPECT_EQ(use.kinds[0].cores, 2U);
  EXPECT_EQ(use.kinds[0].usable_cores, 2U);
  EXPECT_EQ(use.kinds[0].ranks, 4U);
  EXPECT_EQ(use.crowded_ranks, 4U);
  EXPECT_DOUBLE_EQ(use.most_waiting, 0.5);
}

TEST(Cores, ACoreForEach) {
  EXPECT_FALSE(core_use(trace_of({{"n1", {0, 1}}, {"n1", {0, 1}}}, 2)).is_crowded());
  EXPECT_FALSE(core_use(trace_of({{"n1", {0}}, {"n1", {1}}}, 2)).is_crowded());
  EXPECT_FALSE(core_use(trace_of({{"n1", {0}}, {"n2", {0}}}, 1)).is_crowded()) << "two hosts";
}

// There are enough cores, and all ranks were bound to one of them.
TEST(Cores, BoundToTheSameCore) {
  const CoreUse use =
      core_use(trace_of({{"n1", {0}}, {"n1", {0}}, {"n1", {1, 2, 3}}, {"n1", {1, 2, 3}}}, 4));
  EXPECT_EQ(use.crowded_ranks, 2U);
  EXPECT_EQ(use.kinds[0].crowded_cores, 1U);
  EXPECT_EQ(use.kinds[0].usable_cores, 4U);
  EXPECT_DOUBLE_EQ(use.most_waiting, 0.25) << "half of the time of half of the ranks";
}

TEST(Cores, NothingIsKnown) {
  const CoreUse use = core_use(trace_of({{"n1", {}}, {"n1", {}}}, 1));
  EXPECT_TRUE(use.kinds.empty());
  EXPECT_FALSE(use.is_crowded());
}

TEST(Cores, AlikeHostsAreOneKind) {
  std::vector<Where> ranks;
  for (int host = 0; host < 50; ++host)
    for (uint64_t core = 0; core < 8; ++core)
      ranks.push_back({std::string("n").append(std::to_string(host)), {core}});
  ranks.push_back({"n50", {0}});
  const CoreUse use = core_use(trace_of(ranks, 8));
  ASSERT_EQ(use.kinds.size(), 2U);
  EXPECT_EQ(use.kinds[0].hosts.size(), 50U);
  EXPECT_EQ(use.kinds[1].hosts, std::vector<uint64_t>{50});
  EXPECT_FALSE(use.is_crowded());
}

// Rank by rank, core by core.
double slow_waiting(const std::vector<Where>& ranks, uint64_t& crowded) {
  double sum = 0, known = 0;
  for (const Where& me : ranks) {
    if (me.cpus.empty()) continue;
    known += 1;
    double worst = 0;
    std::set<uint64_t> all;
    for (const Where& other : ranks)
      if (other.host == me.host) all.insert(other.cpus.begin(), other.cpus.end());
    std::vector<std::set<uint64_t>> shares = {all};
    for (const Where& other : ranks)
      if (other.host == me.host && !other.cpus.empty()) shares.push_back(other.cpus);
    for (const auto& share : shares) {
      const auto is_inside = [&](const Where& w) {
        return w.host == me.host && !w.cpus.empty() &&
               std::includes(share.begin(), share.end(), w.cpus.begin(), w.cpus.end());
      };
      if (!is_inside(me)) continue;
      const auto n = static_cast<double>(std::count_if(ranks.begin(), ranks.end(), is_inside));
      worst = std::max(worst, 1 - static_cast<double>(share.size()) / n);
    }
    crowded += worst > 0 ? 1 : 0;
    sum += worst;
  }
  return known > 0 ? sum / known : 0;
}

TEST(Cores, AnyHosts) {
  std::mt19937 random(4);
  for (int i = 0; i < 300; ++i) {
    std::vector<Where> ranks(1 + random() % 24);
    for (Where& where : ranks) {
      where.host = std::string("n").append(std::to_string(random() % 3));
      const unsigned first = random() % 6, count = random() % 4;
      for (unsigned cpu = first; cpu < first + count; ++cpu)
        if (random() % 5 != 0) where.cpus.insert(cpu);
    }
    uint64_t crowded = 0;
    const double waiting = slow_waiting(ranks, crowded);
    const CoreUse use = core_use(trace_of(ranks, 12));
    EXPECT_EQ(use.crowded_ranks, crowded);
    EXPECT_NEAR(use.most_waiting, waiting, 1e-12);
  }
}

}  // namespace
}  // namespace refrain::analysis
