#include "analysis/computation/groups.h"

#include <gtest/gtest.h>

#include <numeric>

#include "analysis/computation/vectors.h"
#include "reader/test_trace.h"

namespace refrain::analysis::computation {
namespace {

using reader::ShapeWriter;
using reader::TraceBuilder;

// Ranks that compute `work[rank][k]` ns before their call k + 1; calls take 100 ns. Every third
// rank asks for its number instead of meeting the others.
struct Work {
  explicit Work(const std::vector<std::vector<uint64_t>>& work, std::vector<int64_t> others = {})
      : builder(work.size()) {
    const uint32_t world = builder.world();
    ShapeWriter init("MPI_Init"), barrier("MPI_Barrier"), size("MPI_Comm_size");
    const uint32_t begins = builder.signature(init.none().none());
    const uint32_t meets = builder.signature(barrier.object(world));
    const uint32_t asks = builder.signature(size.object(world).integer(int64_t(work.size())));
    std::vector<int64_t> usual;
    for (size_t r = 0; r < work.size(); ++r)
      if (std::find(others.begin(), others.end(), int64_t(r)) == others.end())
        usual.push_back(int64_t(r));
    add_group(usual, begins, meets, work[0].size());
    if (!others.empty()) add_group(others, begins, asks, work[0].size());
    for (size_t r = 0; r < work.size(); ++r) add_times(r, work[r]);
  }
  void add_group(const std::vector<int64_t>& ranks, uint32_t first, uint32_t then, size_t n) {
    std::vector<uint32_t> calls(n + 1, then);
    calls[0] = first;
    builder.group(ranks, calls);
  }
  void add_times(size_t rank, const std::vector<uint64_t>& work) {
    std::vector<std::pair<uint64_t, uint64_t>> times{{0, 100}};
    for (const uint64_t ns : work)
      times.emplace_back(times.back().second + ns, times.back().second + ns + 100);
    builder.times(rank, times);
  }
  Trace open() const { return builder.open(); }
  TraceBuilder builder;
};

std::vector<int64_t> list_of(const base::RunList& ranks) {
  std::vector<int64_t> out;
  for (uint64_t i = 0; i < ranks.size(); ++i) out.push_back(ranks.at(i));
  return out;
}

using Lists = std::vector<std::vector<int64_t>>;
Lists groups_in(const RankGroups& all) {
  Lists out;
  for (const RankGroup& group : all.groups) out.push_back(list_of(group.ranks));
  return out;
}

TEST(Sequences, AreFunctionsInTheirOrder) {
  const Work run({{1, 1}, {1, 1}, {1, 1}, {1, 1}}, {1, 2});
  const auto found = sequences_of(run.open());
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(list_of(found[0].ranks), (std::vector<int64_t>{0, 3}));
  EXPECT_EQ(list_of(found[1].ranks), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(found[0].key.calls, 3u);
}

TEST(Sequences, TellOrderAndNumberApart) {
  const auto key_of = [](const std::vector<int>& calls) {
    TraceBuilder builder(1);
    const uint32_t world = builder.world();
    ShapeWriter barrier("MPI_Barrier"), size("MPI_Comm_size");
    const uint32_t ids[] = {builder.signature(barrier.object(world)),
                            builder.signature(size.object(world).integer(1))};
    std::vector<uint32_t> sequence;
    for (const int call : calls) sequence.push_back(ids[call]);
    builder.group({0}, sequence);
    return sequences_of(builder.open())[0].key;
  };
  EXPECT_FALSE(key_of({0, 1, 0, 1}) == key_of({0, 1, 1, 0}));
  EXPECT_FALSE(key_of({0, 0, 0}) == key_of({0, 0, 0, 0}));
  // However the grammar cuts it.
  EXPECT_TRUE(key_of({0, 1, 0, 1, 0, 1}) == key_of({0, 1, 0, 1, 0, 1}));
}

TEST(Vectors, AreTheTimeBetweenCalls) {
  const Work run({{500, 0, 7}, {1, 2, 3}});
  const Trace trace = run.open();
  auto vectors = Vectors::read_from(trace, sequences_of(trace)[0]);
  ASSERT_TRUE(vectors.ok());
  ASSERT_EQ(vectors->units(), 3u);
  std::vector<uint64_t> all(6), part(2);
  ASSERT_TRUE(vectors->read(0, 3, all).ok());
  EXPECT_EQ(all, (std::vector<uint64_t>{500, 0, 7, 1, 2, 3}));
  ASSERT_TRUE(vectors->read(2, 1, part).ok());
  EXPECT_EQ(part, (std::vector<uint64_t>{7, 3}));
  EXPECT_EQ(vectors->sum_ns(0), 507u);
}

TEST(Vectors, AreWithoutTheSmallWorkOfTheRecorder) {
  Work run({{500, 0, 7}});
  run.builder.data().totals[0].own_ns = 40;  // 10 for each call
  const Trace trace = run.open();
  auto vectors = Vectors::read_from(trace, sequences_of(trace)[0]);
  ASSERT_TRUE(vectors.ok());
  std::vector<uint64_t> all(3);
  ASSERT_TRUE(vectors->read(0, 3, all).ok());
  EXPECT_EQ(all, (std::vector<uint64_t>{480, 0, 0}));
}

TEST(Vectors, LeastOfSeveralRuns) {
  const Work one({{500, 9, 7}}), two({{400, 10, 8}});
  const Trace a = one.open(), b = two.open();
  auto least = Vectors::read_from(a, sequences_of(a)[0]);
  auto more = Vectors::read_from(b, sequences_of(b)[0]);
  ASSERT_TRUE(least.ok() && more.ok());
  ASSERT_TRUE(least->take_least_of(*more).ok());
  std::vector<uint64_t> all(3);
  ASSERT_TRUE(least->read(0, 3, all).ok());
  EXPECT_EQ(all, (std::vector<uint64_t>{400, 9, 7}));
  EXPECT_EQ(least->sum_ns(0), 416u);
}

// Three kinds of ranks, some percent of noise on each.
std::vector<std::vector<uint64_t>> kinds(size_t ranks) {
  std::vector<std::vector<uint64_t>> out(ranks);
  for (size_t r = 0; r < ranks; ++r)
    for (size_t k = 0; k < 50; ++k)
      out[r].push_back(10000 * (1 + r % 3) + (r * 7919 + k * 104729) % 300);
  return out;
}

TEST(RankGroups, LinkageFindsTheKindsThatWerePutIn) {
  const Work run(kinds(9));
  const auto all = groups_of({run.open()}, {});
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(groups_in(*all), (Lists{{0, 3, 6}, {1, 4, 7}, {2, 5, 8}}));
  for (const RankGroup& group : all->groups) {
    EXPECT_LE(group.radius_ns, all->sequences[0].height_ns);
    EXPECT_EQ(all->group_of[static_cast<size_t>(group.representative)],
              &group - all->groups.data());
  }
  // Cut so high that nothing is apart, and so low that everything is.
  EXPECT_EQ(groups_of({run.open()}, {HowToGroup::By::kLinkage, 1000})->groups.size(), 1u);
  EXPECT_EQ(groups_of({run.open()}, {HowToGroup::By::kLinkage, 0})->groups.size(), 9u);
}

TEST(RankGroups, KMeansAndSequences) {
  const Work run(kinds(9));
  EXPECT_EQ(groups_in(*groups_of({run.open()}, {HowToGroup::By::kClusters, 0, 3, 1})),
            (Lists{{0, 3, 6}, {1, 4, 7}, {2, 5, 8}}));
  const Work mixed(kinds(6), {1, 4});
  EXPECT_EQ(groups_in(*groups_of({mixed.open()}, {HowToGroup::By::kSequence})),
            (Lists{{0, 2, 3, 5}, {1, 4}}));
  // Ranks with other calls are never one group, however alike they compute.
  EXPECT_EQ(groups_of({mixed.open()}, {HowToGroup::By::kLinkage, 1000})->groups.size(), 2u);
}

TEST(RankGroups, SumsAreThoseOfTheRanks) {
  const auto work = kinds(9);
  const auto all = groups_of({Work(work).open()}, {});
  ASSERT_TRUE(all.ok());
  double sum = 0;
  for (const auto& rank : work)
    sum += static_cast<double>(std::accumulate(rank.begin(), rank.end(), uint64_t{0}));
  double groups = 0;
  for (const RankGroup& group : all->groups) groups += group.computation_ns;
  EXPECT_EQ(groups, sum);
  EXPECT_EQ(all->sequences[0].computation_ns, sum);
  EXPECT_EQ(all->sequences[0].height_ns, 0.1 * sum / 9);
}

// The trace has no times at all: those of ranks that ran alone stand for them.
TEST(RankGroups, TimesOfRanksThatRanAlone) {
  const auto work = kinds(6);
  TraceBuilder untimed(6);
  ShapeWriter init("MPI_Init");
  std::vector<int64_t> ranks = {0, 1, 2, 3, 4, 5};
  untimed.group(ranks,
                std::vector<uint32_t>(work[0].size() + 1, untimed.signature(init.none().none())));
  SoloTimes times;
  times.file.ranks = 6;
  times.name = "run.rfv";
  for (uint32_t r = 0; r < 6; ++r) {
    format::vectors::Vector v;
    v.rank = r;
    v.runs = 1;
    v.least_ns = work[r];
    put(times.file, v);
  }
  const auto all = groups_of({untimed.open()}, {}, {}, &times);
  ASSERT_TRUE(all.ok()) << all.error().to_string();
  EXPECT_EQ(groups_in(*all), (Lists{{0, 3}, {1, 4}, {2, 5}}));
  times.file.vectors.pop_back();
  const auto lacking = groups_of({untimed.open()}, {}, {}, &times);
  ASSERT_FALSE(lacking.ok());
  EXPECT_NE(lacking.error().to_string().find("run.rfv: has no times of rank 5"), std::string::npos);
}

TEST(RankGroups, OtherRunsAreRefused) {
  const Work run(kinds(6)), mixed(kinds(6), {1, 4}), smaller(kinds(5));
  EXPECT_FALSE(groups_of({run.open(), mixed.open()}, {}).ok());
  EXPECT_FALSE(groups_of({run.open(), smaller.open()}, {}).ok());
  EXPECT_TRUE(groups_of({run.open(), run.open()}, {}).ok());
  TraceBuilder untimed(1);
  ShapeWriter init("MPI_Init");
  untimed.group({0}, {untimed.signature(init.none().none())});
  EXPECT_FALSE(groups_of({untimed.open()}, {}).ok());
}

}  // namespace
}  // namespace refrain::analysis::computation
