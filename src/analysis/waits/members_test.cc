// Members against a walk over all positions.

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "analysis/waits/collectives.h"

namespace refrain::analysis::waits {
namespace {

LastEntry below(const std::map<int64_t, LastEntry>& all, int64_t position) {
  LastEntry out;
  for (const auto& [at, entry] : all)
    if (at < position) out.add(entry.begin, entry.node, entry.rank, entry.ideal);
  return out;
}

TEST(Members, AreThoseOfAWalk) {
  std::mt19937 random(3);
  for (int round = 0; round < 30; ++round) {
    Members members;
    std::map<int64_t, LastEntry> all;
    const auto size = static_cast<int64_t>(1 + random() % 70);
    for (int i = 0; i < 60; ++i) {
      const auto at = static_cast<int64_t>(random() % static_cast<uint64_t>(size));
      LastEntry entry;
      entry.add(random() % 9, random() % 1000, static_cast<Rank>(random() % 9), random() % 9);
      members.add(at, entry);
      all[at] = entry;
      int64_t filled = 0;
      while (all.count(filled) > 0) ++filled;
      ASSERT_EQ(members.filled(), filled);
      for (const int64_t position :
           {int64_t{-1}, int64_t{0}, at, at + 1, size / 2, size, size + 9}) {
        const LastEntry got = members.below(position), expected = below(all, position);
        ASSERT_EQ(got.count, expected.count);
        ASSERT_EQ(got.begin, expected.begin);
        ASSERT_EQ(got.node, expected.node);
        ASSERT_EQ(got.ideal, expected.ideal);
      }
    }
  }
}

}  // namespace
}  // namespace refrain::analysis::waits
