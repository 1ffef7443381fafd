#include "grammar/builder.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <tuple>

#include "grammar/fold.h"
#include "grammar/terminal_cursor.h"
#include "grammar/test_sequences.h"

namespace refrain::grammar {
namespace {

using test::expand;
using test::repeat;
using test::Sequence;
using test::operator+;  // NOLINT(misc-unused-using-decls): it is used

// What is wrong with the laws of sequitur.h, or an empty string.
std::string broken_law(const Grammar& g) {
  std::set<std::tuple<uint32_t, bool, uint64_t, uint32_t, bool, uint64_t>> pairs;
  std::map<uint32_t, uint64_t> uses;
  for (size_t r = 0; r < g.rule_count(); ++r) {
    const uint32_t begin = g.rule_begin(r);
    if (r > 0 && g.rule_end[r] - begin < 2) return "rule " + std::to_string(r) + " is short";
    for (uint32_t i = begin; i < g.rule_end[r]; ++i) {
      const Symbol& b = g.symbols[i];
      if (b.is_rule) uses[b.id] += b.count;
      if (i == begin) continue;
      const Symbol& a = g.symbols[i - 1];
      if (a.id == b.id && a.is_rule == b.is_rule) return "equal neighbours in " + std::to_string(r);
      if (!pairs.insert({a.id, a.is_rule, a.count, b.id, b.is_rule, b.count}).second)
        return "a pair occurs twice, again in rule " + std::to_string(r);
    }
  }
  for (size_t r = 1; r < g.rule_count(); ++r)
    if (uses[static_cast<uint32_t>(r)] < 2) return "rule " + std::to_string(r) + " is used once";
  return "";
}

void expect_good(const Grammar& g, const Sequence& sequence) {
  const base::Status status = validate(g, Limits{.terminal_count = uint64_t{1} << 32});
  ASSERT_TRUE(status.ok()) << status.error().to_string();
  ASSERT_EQ(broken_law(g), "");
  ASSERT_EQ(expand(g), sequence);
  // Never more symbols than the plain list of (terminal, count) has entries.
  ASSERT_LE(g.symbols.size(), test::run_count(sequence));
  ASSERT_LE(2 * (g.rule_count() - 1), g.symbols.size());
}

TEST(Builder, EmptySequence) {
  Builder builder;
  EXPECT_EQ(builder.expected(), Builder::kNothing);
  EXPECT_EQ(builder.length(), 0u);
  EXPECT_EQ(builder.finish(), Grammar());
  EXPECT_EQ(builder.finish(), Grammar());
}

TEST(Builder, KnownGrammars) {
  // a^n
  Grammar g = test::build(Sequence(1000, 7));
  EXPECT_EQ(g, (Grammar{{{7, false, 1000}}, {1}}));
  // (ab)^n
  g = test::build(repeat({1, 2}, 1000));
  EXPECT_EQ(g, (Grammar{{{1, true, 1000}, {1, false, 1}, {2, false, 1}}, {1, 3}}));
  // (a^3 b^2 c)^n
  g = test::build(repeat({1, 1, 1, 2, 2, 3}, 50));
  EXPECT_EQ(g, (Grammar{{{1, true, 50}, {1, false, 3}, {2, false, 2}, {3, false, 1}}, {1, 4}}));
  // x ((ab)^5 c)^n y
  g = test::build(Sequence{9} + repeat(repeat({1, 2}, 5) + Sequence{3}, 40) + Sequence{8});
  EXPECT_EQ(g, (Grammar{{{9, false, 1},
                         {1, true, 40},
                         {8, false, 1},
                         {2, true, 5},
                         {3, false, 1},
                         {1, false, 1},
                         {2, false, 1}},
                        {3, 5, 7}}));
}

// Loops of any shape take the same symbols for 20 as for 2000 iterations.
TEST(Builder, LoopsAreConstant) {
  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i) {
    const Sequence head = test::random_sequence(random, random() % 5, 4);
    const Sequence tail = test::random_sequence(random, random() % 5, 4);
    const Sequence inner = test::random_sequence(random, 1 + random() % 6, 4);
    const Sequence rest = test::random_sequence(random, random() % 4, 4);
    const Sequence body = repeat(inner, 1 + random() % 6) + rest;
    const Grammar few = test::build(head + repeat(body, 20) + tail);
    const Grammar many = test::build(head + repeat(body, 2000) + tail);
    EXPECT_EQ(few.symbols.size(), many.symbols.size()) << "round " << i;
    EXPECT_EQ(few.rule_count(), many.rule_count()) << "round " << i;
    EXPECT_LE(many.symbols.size(), 5 + 5 + 1 + body.size()) << "round " << i;
  }
}

TEST(Builder, ChangingCountsAreConstant) {
  std::mt19937 random(2);
  for (int i = 0; i < 100; ++i) {
    const uint32_t seed = static_cast<uint32_t>(random());
    std::mt19937 a(seed);
    std::mt19937 b(seed);
    const Grammar few = test::build(test::changing_counts(a, 60));
    const Grammar many = test::build(test::changing_counts(b, 1200));
    EXPECT_LE(many.symbols.size(), few.symbols.size() + 4) << "seed " << seed;
  }
}

// Self-similar without being a loop: a hundred times as long, a few times as large.
TEST(Builder, FibonacciStaysSmall) {
  EXPECT_LE(test::build(test::fibonacci_word(1000)).symbols.size(), 50u);
  EXPECT_LE(test::build(test::fibonacci_word(100000)).symbols.size(), 160u);
  EXPECT_LE(test::build(test::thue_morse(1 << 20)).symbols.size(), 160u);
}

// Sequitur without the cursor: every terminal goes through the digram table.
Grammar build_plainly(const Sequence& sequence) {
  Sequitur rules(SIZE_MAX);
  for (const Terminal t : sequence) {
    const auto joins = [&] {
      const Node& tail = rules.node(rules.tail());
      return tail.kind == Kind::kTerminal && tail.id == t;
    };
    while (!joins() && rules.close_tail()) {
    }
    if (joins()) {
      rules.open_tail();
      rules.grow_tail(1);
    } else {
      EXPECT_TRUE(rules.reserve(1));
      rules.push_back(Kind::kTerminal, t, 1);
    }
  }
  while (rules.close_tail()) {
  }
  return rules.to_grammar({});
}

// The cursor makes loops smaller, and what is not a loop hardly larger.
TEST(Builder, AsSmallAsWithoutTheCursor) {
  size_t loops = 0;
  size_t loops_plainly = 0;
  size_t all = 0;
  size_t all_plainly = 0;
  for (uint32_t seed = 300; seed < 310; ++seed) {
    for (const test::Named& kind : test::kinds(seed, 3000)) {
      const Grammar plain = build_plainly(kind.sequence);
      ASSERT_EQ(expand(plain), kind.sequence) << kind.name;
      const Grammar g = test::build(kind.sequence);
      all += g.symbols.size();
      all_plainly += plain.symbols.size();
      if (kind.name.rfind("nested loops", 0) != 0) continue;
      loops += g.symbols.size();
      loops_plainly += plain.symbols.size();
    }
  }
  EXPECT_LE(loops, loops_plainly);
  EXPECT_LE(100 * all, 103 * all_plainly);
  RecordProperty("loops", std::to_string(loops) + " / " + std::to_string(loops_plainly));
  RecordProperty("all", std::to_string(all) + " / " + std::to_string(all_plainly));
}

TEST(Builder, LawsHoldAfterEveryAppend) {
  for (uint32_t seed = 0; seed < 12; ++seed) {
    for (const test::Named& kind : test::kinds(seed, 90)) {
      SCOPED_TRACE(kind.name);
      Builder builder;
      Sequence so_far;
      for (const Terminal t : kind.sequence) {
        ASSERT_TRUE(builder.append(t));
        so_far.push_back(t);
        ASSERT_EQ(builder.length(), so_far.size());
        expect_good(builder.snapshot(), so_far);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

TEST(Builder, LawsHoldAtTheEndOfLongOnes) {
  for (uint32_t seed = 100; seed < 106; ++seed) {
    for (const test::Named& kind : test::kinds(seed, 6000)) {
      SCOPED_TRACE(kind.name);
      expect_good(test::build(kind.sequence), kind.sequence);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

// A snapshot changes nothing; finish() may change what follows, but not what it stands for.
TEST(Builder, SnapshotsAndFinishesOnTheWay) {
  std::mt19937 random(3);
  for (uint32_t seed = 200; seed < 210; ++seed) {
    for (const test::Named& kind : test::kinds(seed, 500)) {
      SCOPED_TRACE(kind.name);
      Builder plain;
      Builder looked_at;
      Builder finished;
      Sequence so_far;
      for (const Terminal t : kind.sequence) {
        plain.append(t);
        looked_at.append(t);
        finished.append(t);
        so_far.push_back(t);
        if (random() % 40 == 0) {
          expect_good(looked_at.snapshot(), so_far);
          expect_good(finished.finish(), so_far);
        }
      }
      EXPECT_EQ(plain.snapshot(), looked_at.finish());
      expect_good(finished.finish(), kind.sequence);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(Builder, CopiesAreIndependent) {
  Builder a;
  for (const Terminal t : repeat({1, 2, 3}, 10)) a.append(t);
  Builder b(a);
  a.append(1);
  b.append(9);
  EXPECT_EQ(expand(a.finish()), repeat({1, 2, 3}, 10) + Sequence{1});
  EXPECT_EQ(expand(b.finish()), repeat({1, 2, 3}, 10) + Sequence{9});
}

// In a loop the next terminal is known, also in nested ones, from the third iteration on.
TEST(Builder, ExpectsWhatALoopBrings) {
  const Sequence body = repeat({1, 2, 3}, 4) + Sequence{5, 6, 6, 1};
  Builder builder;
  for (const Terminal t : repeat(body, 3)) builder.append(t);
  for (const Terminal t : repeat(body, 5)) {
    ASSERT_EQ(builder.expected(), t);
    builder.append_expected();
  }
  EXPECT_EQ(expand(builder.finish()), repeat(body, 8));
}

// One terminal out of a few at a time, between fixed parts: the fixed parts are expected.
TEST(Builder, ExpectsTheFixedPartOfAChangingLoop) {
  std::mt19937 random(4);
  Builder builder;
  uint64_t expected = 0;
  uint64_t appended = 0;
  for (int i = 0; i < 2000; ++i) {
    for (const Terminal t :
         Sequence{0, 1, 2, 3, 4, 5, 6, 7, 20 + static_cast<Terminal>(random() % 50)}) {
      if (i >= 1000) {
        expected += builder.expected() == t ? 1 : 0;
        ++appended;
      }
      builder.append(t);
    }
  }
  EXPECT_GE(10 * expected, 7 * appended) << expected << " of " << appended;
}

TEST(Builder, SteadyLoopsTakeNoMemory) {
  Builder builder;
  const Sequence body = repeat({1, 2, 3}, 4) + Sequence{5, 6, 6};
  for (const Terminal t : repeat(body, 10)) builder.append(t);
  const size_t before = builder.memory_bytes();
  for (const Terminal t : repeat(body, 10000)) builder.append(t);
  EXPECT_EQ(builder.memory_bytes(), before);
  EXPECT_LT(before, 8192u);
}

// What the memory bound refuses is told, and what came before stays exact.
TEST(Builder, MemoryBound) {
  for (const size_t bound :
       {size_t{0}, size_t{2000}, size_t{4000}, size_t{20000}, size_t{100000}}) {
    for (const test::Named& kind : test::kinds(7, 20000)) {
      SCOPED_TRACE(kind.name + ", bound " + std::to_string(bound));
      Builder builder(bound);
      const size_t fixed = builder.memory_bytes();
      Sequence taken;
      for (const Terminal t : kind.sequence) {
        if (builder.append(t)) taken.push_back(t);
        if (builder.full()) {
          ASSERT_EQ(builder.expected(), Builder::kNothing);
        }
      }
      EXPECT_EQ(builder.full(), taken.size() < kind.sequence.size());
      EXPECT_EQ(builder.length(), taken.size());
      EXPECT_TRUE(std::equal(taken.begin(), taken.end(), kind.sequence.begin()));
      EXPECT_LE(builder.memory_bytes(), bound + fixed + 2048);  // the queues
      EXPECT_EQ(expand(builder.snapshot()), taken);
      EXPECT_EQ(expand(builder.finish()), taken);
      EXPECT_EQ(expand(builder.finish()), taken);
    }
  }
}

// Nesting deeper than the cursor's stack: (((a b)^2 c)^2 d)^2 ...
TEST(Builder, DeepNesting) {
  Sequence s{0, 1};
  for (Terminal level = 2; level < 18; ++level) s = s + s + Sequence{level};
  s = repeat(s, 3);
  expect_good(test::build(s), s);
  // A chain of rules as long as it takes: each round adds one terminal to a prefix seen before.
  Sequence chain;
  for (Terminal n = 2; n < 200; ++n)
    for (Terminal t = 0; t < n; ++t) chain.push_back(t);
  chain = repeat(chain, 3);
  const Grammar g = test::build(chain);
  EXPECT_GT(lengths(g).depth, 64u);
  expect_good(g, chain);
}

TEST(Builder, ExtremeTerminals) {
  const Sequence s = repeat({UINT32_MAX, 0, UINT32_MAX - 1, UINT32_MAX}, 30);
  expect_good(test::build(s), s);
}

}  // namespace
}  // namespace refrain::grammar
