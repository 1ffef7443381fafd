#include "grammar/skeleton.h"

#include <gtest/gtest.h>

#include <set>

#include "grammar/builder.h"

namespace refrain::grammar {
namespace {

Grammar loop(int rounds, int calls) {
  Builder builder;
  builder.append(0);
  for (int i = 0; i < rounds; ++i)
    for (int c = 1; c <= calls; ++c) builder.append(static_cast<Terminal>(c));
  builder.append(99);
  return builder.finish();
}

TEST(Skeleton, LoopsOfUnlikeLengthHaveOne) {
  std::set<std::string> keys;
  for (int rounds = 2; rounds < 200; ++rounds) {
    keys.insert(skeleton_key(loop(rounds, 5)));
    EXPECT_TRUE(have_same_skeleton(loop(rounds, 5), loop(2, 5)));
  }
  EXPECT_EQ(keys.size(), 1u);
}

TEST(Skeleton, AnythingElseIsAnother) {
  const Grammar g = loop(7, 5);
  EXPECT_FALSE(have_same_skeleton(g, loop(7, 4)));
  EXPECT_NE(skeleton_key(g), skeleton_key(loop(7, 4)));
  for (size_t i = 0; i < g.symbols.size(); ++i) {
    Grammar other = g;
    other.symbols[i].id += 1;
    EXPECT_FALSE(have_same_skeleton(g, other));
    EXPECT_NE(skeleton_key(g), skeleton_key(other));
    other = g;
    other.symbols[i].is_rule = !other.symbols[i].is_rule;
    EXPECT_FALSE(have_same_skeleton(g, other));
    EXPECT_NE(skeleton_key(g), skeleton_key(other));
  }
  Grammar shorter = g;
  shorter.symbols.pop_back();
  EXPECT_FALSE(have_same_skeleton(g, shorter));
  EXPECT_NE(skeleton_key(g), skeleton_key(shorter));
}

}  // namespace
}  // namespace refrain::grammar
