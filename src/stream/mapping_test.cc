#include "stream/mapping.h"

#include <gtest/gtest.h>

#include <set>

namespace refrain::stream {
namespace {

using Policy = MapPolicy;

TEST(Mapping, RoundRobinAndFixedAreThoseOfThePaper) {
  EXPECT_EQ(targets_of(Policy::kRoundRobin, 6, 3, 0), (std::vector<int>{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(targets_of(Policy::kFixed, 6, 3, 0), (std::vector<int>{0, 0, 1, 1, 2, 2}));
  EXPECT_EQ(targets_of(Policy::kFixed, 5, 2, 0), (std::vector<int>{0, 0, 0, 1, 1}));
}

TEST(Mapping, EveryProcessGetsAPartnerAndBothSidesAgree) {
  for (const Policy policy : {Policy::kRoundRobin, Policy::kRandom, Policy::kFixed})
    for (int sources = 1; sources <= 20; ++sources)
      for (int targets = 1; targets <= sources; ++targets)
        for (uint64_t seed = 0; seed < 3; ++seed) {
          const std::vector<int> chosen = targets_of(policy, sources, targets, seed);
          ASSERT_EQ(chosen.size(), static_cast<size_t>(sources));
          size_t pairs = 0;
          for (int target = 0; target < targets; ++target) {
            const std::vector<int> partners = partners_of(chosen, false, target);
            EXPECT_FALSE(partners.empty());
            pairs += partners.size();
            for (const int source : partners)
              EXPECT_EQ(partners_of(chosen, true, source), std::vector<int>{target});
          }
          EXPECT_EQ(pairs, chosen.size());
        }
}

TEST(Mapping, RandomDependsOnTheSeedAndReachesAll) {
  std::set<std::vector<int>> found;
  for (uint64_t seed = 0; seed < 20; ++seed) found.insert(targets_of(Policy::kRandom, 12, 4, seed));
  EXPECT_GT(found.size(), 15u);
  EXPECT_EQ(targets_of(Policy::kRandom, 12, 4, 7), targets_of(Policy::kRandom, 12, 4, 7));
}

TEST(Mapping, NoneIsNoPartner) {
  const std::vector<int> chosen{1, -1, 1};
  EXPECT_TRUE(partners_of(chosen, true, 1).empty());
  EXPECT_TRUE(partners_of(chosen, false, 0).empty());
  EXPECT_EQ(partners_of(chosen, false, 1), (std::vector<int>{0, 2}));
}

TEST(Mapping, MapsAdd) {
  std::vector<int> map{4, 2};
  add_partners({2, 7, 7, 1}, &map);
  EXPECT_EQ(map, (std::vector<int>{4, 2, 7, 1}));
}

}  // namespace
}  // namespace refrain::stream
