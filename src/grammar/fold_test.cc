#include "grammar/fold.h"

#include <gtest/gtest.h>

#include "grammar/test_sequences.h"

namespace refrain::grammar {
namespace {

using test::Sequence;

TEST(Fold, CountsAndLengthsAgainstTheExpansion) {
  for (uint32_t seed = 0; seed < 8; ++seed) {
    for (const test::Named& kind : test::kinds(seed, 700)) {
      SCOPED_TRACE(kind.name);
      const Grammar g = test::build(kind.sequence);
      uint64_t length = 0;
      ASSERT_TRUE(checked_length(g, &length));
      EXPECT_EQ(length, kind.sequence.size());

      constexpr uint64_t kTerminals = 800;
      std::vector<uint64_t> expected(kTerminals, 0);
      for (const Terminal t : kind.sequence)
        if (t < kTerminals) ++expected[t];
      EXPECT_EQ(occurrences(g, kTerminals), expected);

      const Lengths l = lengths(g);
      EXPECT_EQ(l.total(), kind.sequence.size());
      for (size_t r = 0; r < g.rule_count(); ++r) {
        Sequence body;
        test::expand_rule(g, r, &body);
        EXPECT_EQ(l.rule[r], body.size());
        EXPECT_EQ(l.before[g.rule_begin(r)], 0u);
      }
    }
  }
}

// A polynomial hash depends on the order: value, and base^length to shift what stands before.
struct Hash {
  uint64_t value = 0;
  uint64_t shift = 1;
  bool operator==(const Hash&) const = default;
};
Hash leaf(Terminal t) { return Hash{uint64_t{t} + 1, 1000003}; }
Hash combine(const Hash& a, const Hash& b) {
  return Hash{a.value * b.shift + b.value, a.shift * b.shift};
}

TEST(Fold, MonoidThatDependsOnTheOrder) {
  for (uint32_t seed = 20; seed < 26; ++seed) {
    for (const test::Named& kind : test::kinds(seed, 900)) {
      SCOPED_TRACE(kind.name);
      Hash expected;
      for (const Terminal t : kind.sequence) expected = combine(expected, leaf(t));
      EXPECT_EQ(fold(test::build(kind.sequence), Hash(), leaf, combine), expected);
    }
  }
}

TEST(Fold, OwnPower) {
  const Grammar g = test::build(test::repeat({2, 2, 5}, 1000));
  const uint64_t sum = fold(
      g, uint64_t{0}, [](Terminal t) { return uint64_t{t}; },
      [](uint64_t a, uint64_t b) { return a + b; }, [](uint64_t x, uint64_t n) { return x * n; });
  EXPECT_EQ(sum, 9000u);
}

// 8^20 terminals in 40 symbols: nothing is expanded.
TEST(Fold, HugeSequences) {
  Grammar g;
  g.rule_end.clear();
  for (uint32_t r = 0; r < 20; ++r) {
    g.symbols.push_back(Symbol{r + 1, true, 8});
    g.rule_end.push_back(r + 1);
  }
  g.symbols.push_back(Symbol{3, false, 1});
  g.rule_end.push_back(21);
  EXPECT_EQ(occurrences(g, 4), (std::vector<uint64_t>{0, 0, 0, uint64_t{1} << 60}));
  EXPECT_EQ(lengths(g).total(), uint64_t{1} << 60);
  EXPECT_EQ(lengths(g).depth, 21u);
  uint64_t length = 0;
  EXPECT_TRUE(checked_length(g, &length));
  g.symbols[20].count = 16;
  EXPECT_FALSE(checked_length(g, &length));
}

TEST(Fold, PowerBySquaring) {
  const auto append = [](const std::string& a, const std::string& b) { return a + b; };
  for (uint64_t n = 1; n < 40; ++n)
    EXPECT_EQ(power_by_squaring(std::string("ab"), n, append).size(), 2 * n);
}

}  // namespace
}  // namespace refrain::grammar
