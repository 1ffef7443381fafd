// Sums of clusters, added up in one row and along a tree, and the search for their number.

#include "format/clusters/cluster_sums.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/bytes.h"
#include "format/trace_data.h"

namespace refrain::format {
namespace {

using similarity::mean_of;
using similarity::RankFeature;

std::vector<ClusterMember> random_members(size_t ranks, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<ClusterMember> out(ranks);
  for (size_t r = 0; r < ranks; ++r) {
    ClusterMember& m = out[r];
    m.head.rank = static_cast<uint32_t>(r);
    m.head.structure = random() % 2;
    for (int64_t& mean : m.head.signature.means) mean = static_cast<int64_t>(random() % 1000);
    m.head.signature.loop = random();
    m.head.signature.types[0] = random() % 16;
    m.load = {random() % 100, random() % 1000, random(), random() % 10};
  }
  return out;
}

// Every third rank is of the cluster of rank 0, all others of that of rank 1.
size_t cluster_of_rank(size_t rank) { return rank % 3 == 0 ? 0 : 1; }

std::vector<ClusterSum> sums_of(const std::vector<ClusterMember>& all, size_t begin, size_t end) {
  std::vector<ClusterSum> out = {cluster_of(all[0].head), cluster_of(all[1].head)};
  for (size_t r = begin; r < end; ++r)
    add_member(out[cluster_of_rank(r)], all[cluster_of_rank(r)].head, all[r]);
  return out;
}

std::string bytes_of(const std::vector<ClusterSum>& sums) {
  base::ByteWriter out;
  for (const ClusterSum& s : sums) put_sum(out, s);
  return out.take();
}

// As ranks do it, with what travels between them.
std::vector<ClusterSum> along_a_tree(const std::vector<ClusterMember>& all, size_t begin,
                                     size_t end) {
  if (end - begin == 1) return sums_of(all, begin, end);
  const size_t middle = begin + (end - begin) / 2;
  std::vector<ClusterSum> out = along_a_tree(all, begin, middle);
  const std::string bytes = bytes_of(along_a_tree(all, middle, end));
  base::ByteReader in(bytes);
  for (ClusterSum& s : out) unite(s, read_sum(in, all.size()));
  EXPECT_TRUE(in.ok() && in.at_end());
  return out;
}

TEST(ClusterSums, AreTheSameAlongATree) {
  for (const size_t ranks : {2, 3, 17, 200}) {
    const auto all = random_members(ranks, ranks);
    const auto once = sums_of(all, 0, ranks), tree = along_a_tree(all, 0, ranks);
    EXPECT_EQ(bytes_of(once), bytes_of(tree));
    for (const ClusterMetric metric :
         {ClusterMetric::kReplay, ClusterMetric::kProfile, ClusterMetric::kWaits})
      EXPECT_EQ(predicted_error(metric, once), predicted_error(metric, tree));
    EXPECT_EQ(stood_for(once, {}).ranks, ranks - 2);
  }
}

TEST(ClusterSums, NoMemberIsWorseThanPredicted) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    const auto all = random_members(40, seed);
    const auto sums = sums_of(all, 0, all.size());
    std::vector<ClusterMember> others(all.begin() + 2, all.end());
    const std::vector<similarity::RankHead> leads = {all[0].head, all[1].head};
    for (const ClusterMetric metric :
         {ClusterMetric::kReplay, ClusterMetric::kProfile, ClusterMetric::kWaits})
      EXPECT_LE(checked_error(metric, sums, leads, others), predicted_error(metric, sums) + 1e-12);
    // Of the worst rank, by hand.
    double worst = 0;
    for (const ClusterMember& m : others) {
      const auto& lead = all[cluster_of_rank(m.head.rank)].head.signature.means;
      const auto& own = m.head.signature.means;
      const size_t a = mean_of(RankFeature::kComputation), b = mean_of(RankFeature::kCommunication);
      const auto off = std::abs(own[a] - lead[a]) + std::abs(own[b] - lead[b]);
      worst = std::max(worst, static_cast<double>(off) / static_cast<double>(own[a] + own[b]));
    }
    EXPECT_DOUBLE_EQ(checked_error(ClusterMetric::kReplay, sums, leads, others), worst);
  }
}

TEST(ClusterSums, SampledRanksAreMembersAndFollowFromTheSeed) {
  const auto all = random_members(40, 1);
  const std::vector<similarity::RankHead> leads = {all[0].head, all[1].head};
  const auto some = sampled_ranks(leads, 40, 7);
  EXPECT_EQ(some.size(), 16u);
  EXPECT_TRUE(std::is_sorted(some.begin(), some.end()));
  EXPECT_GE(some.front(), 2u);
  EXPECT_EQ(some, sampled_ranks(leads, 40, 7));
  EXPECT_NE(some, sampled_ranks(leads, 40, 8));
  EXPECT_EQ(sampled_ranks(leads, 5, 7).size(), 3u);
}

TEST(ClusterSums, TheLeastNumberThatIsEnoughIsFound) {
  for (uint64_t ranks = 1; ranks < 70; ++ranks) {
    for (uint64_t low = 1; low <= ranks; low += 5) {
      for (uint64_t wanted = low; wanted <= ranks; wanted += 3) {
        const auto found = least_clusters(
            low, ranks, [&](uint64_t k) -> base::Result<bool> { return k >= wanted; });
        ASSERT_TRUE(found.ok());
        EXPECT_EQ(*found, wanted);
      }
      EXPECT_EQ(*least_clusters(low, ranks, [](uint64_t) -> base::Result<bool> { return false; }),
                ranks);
    }
  }
  EXPECT_FALSE(
      least_clusters(1, 9, [](uint64_t) -> base::Result<bool> { return base::fail("no"); }).ok());
}

TEST(ClusterRequests, WordsAndWhatIsNone) {
  ClusterWords words;
  EXPECT_EQ(cluster_request(words, "--k")->k, 9u);
  words.k = "auto:0.02";
  EXPECT_EQ(cluster_request(words, "--k")->error, 0.02);
  words.assign = "tree";
  EXPECT_TRUE(cluster_request(words, "--k")->is_by_tree);
  const uint64_t hash = hash_of(*cluster_request(words, "--k"));
  words.assign = "nearest";
  EXPECT_NE(hash, hash_of(*cluster_request(words, "--k")));
  for (const char* k :
       {"0", "-1", "x", "auto:0", "auto:1", "auto:", "auto:nan", "kinds:3", "1.5"}) {
    words.k = k;
    const auto request = cluster_request(words, "--cluster");
    ASSERT_FALSE(request.ok()) << k;
    EXPECT_EQ(request.error().code, base::ErrorCode::kUsage);
    EXPECT_NE(request.error().message.find("--cluster: '" + words.k), std::string::npos);
  }
}

}  // namespace
}  // namespace refrain::format
