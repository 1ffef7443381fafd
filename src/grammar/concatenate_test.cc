#include "grammar/concatenate.h"

#include <gtest/gtest.h>

#include "grammar/test_sequences.h"

namespace refrain::grammar {
namespace {

using test::Sequence;

Grammar concatenate(const Grammar& a, const Grammar& b) {
  Concatenation both;
  both.add(a);
  both.add(b);
  return both.finish();
}

TEST(Concatenate, IsBothInOrder) {
  const std::vector<test::Named> all = test::kinds(5, 300);
  for (const test::Named& a : all) {
    for (const test::Named& b : all) {
      SCOPED_TRACE(a.name + " then " + b.name);
      const Grammar joined = concatenate(test::build(a.sequence), test::build(b.sequence));
      Sequence both = a.sequence;
      both.insert(both.end(), b.sequence.begin(), b.sequence.end());
      EXPECT_EQ(test::expand(joined), both);
      EXPECT_TRUE(validate(joined, Limits{uint64_t{1} << 32}).ok());
    }
  }
}

TEST(Concatenate, NothingIsNeutral) {
  const Grammar loop = test::build(test::repeat({1, 2, 3}, 50));
  EXPECT_EQ(test::expand(concatenate(Grammar(), loop)), test::expand(loop));
  EXPECT_EQ(test::expand(concatenate(loop, Grammar())), test::expand(loop));
  EXPECT_TRUE(test::expand(concatenate(Grammar(), Grammar())).empty());
}

TEST(Concatenate, ManyParts) {
  using test::operator+;
  const Sequence loop = test::repeat({4, 5, 6, 5, 4}, 9) + test::repeat({7, 8}, 5);
  const Grammar one = test::build(loop);
  Concatenation all;
  for (int i = 0; i < 20; ++i) all.add(one);
  const Grammar joined = all.finish();
  EXPECT_EQ(test::expand(joined), test::repeat(loop, 20));
  EXPECT_EQ(joined.rule_count(), one.rule_count());
}

// A loop that was cut in two has its rule once, and one symbol for all its repetitions.
TEST(Concatenate, SharesRules) {
  const Grammar a = test::build(test::repeat({1, 2, 3}, 50));
  const Grammar b = test::build(test::repeat({1, 2, 3}, 70));
  EXPECT_EQ(concatenate(a, b), test::build(test::repeat({1, 2, 3}, 120)));
}

}  // namespace
}  // namespace refrain::grammar
