#include "similarity/loops.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "grammar/builder.h"

namespace refrain::similarity {
namespace {

using grammar::Grammar;
using grammar::Symbol;
using Sequence = std::vector<uint32_t>;

Grammar build(const Sequence& sequence) {
  grammar::Builder builder;
  for (const uint32_t t : sequence) builder.append(t);
  return builder.finish();
}

Grammar of_rules(const std::vector<std::vector<Symbol>>& rules) {
  Grammar g;
  g.rule_end.clear();
  for (const auto& rule : rules) {
    g.symbols.insert(g.symbols.end(), rule.begin(), rule.end());
    g.rule_end.push_back(static_cast<uint32_t>(g.symbols.size()));
  }
  return g;
}

Symbol call(uint32_t id, uint64_t count = 1) { return {id, false, count}; }
Symbol rule(uint32_t id, uint64_t count = 1) { return {id, true, count}; }

// Each segment as "name first+calls".
std::vector<std::string> segments(const Grammar& g, const LoopOptions& options = {}) {
  ContextTable contexts;
  LoopWalk walk(g, options, &contexts);
  std::vector<std::string> out;
  for (LoopSegment s; walk.next(&s);)
    out.push_back(contexts.name(s.context) + " " + std::to_string(s.first) + "+" +
                  std::to_string(s.calls));
  return out;
}
using Names = std::vector<std::string>;

// The program of figure 7: Init, a loop around Allgather, a loop with one around Sendrecv in it,
// Finalize; with a call where the figure has do_other_work().
TEST(LoopWalk, TheProgramOfTheThesis) {
  const Grammar g = of_rules({{call(0), rule(1, 3), rule(2, 2), call(9)},
                              {call(1), call(2)},
                              {call(3), rule(3, 2), call(6)},
                              {call(4), call(5)}});
  EXPECT_EQ(segments(g),
            (Names{"main_0 0+1", "main_loop_1_1 1+2", "main_loop_1_1 3+2", "main_loop_1_1 5+2",
                   "main_loop_2_1 7+1", "main_loop_2_1_1 8+2", "main_loop_2_1_1 10+2",
                   "main_loop_2_2 12+1", "main_loop_2_1 13+1", "main_loop_2_1_1 14+2",
                   "main_loop_2_1_1 16+2", "main_loop_2_2 18+1", "main_1 19+1"}));
  LoopOptions outermost;
  outermost.nesting = LoopOptions::Nesting::kOutermost;
  EXPECT_EQ(segments(g, outermost),
            (Names{"main_0 0+1", "main_loop_1_1 1+2", "main_loop_1_1 3+2", "main_loop_1_1 5+2",
                   "main_loop_2_1 7+6", "main_loop_2_1 13+6", "main_1 19+1"}));
}

TEST(LoopWalk, CallsThatRepeatAreALoopWhenAskedFor) {
  const Grammar g = build({0, 1, 1, 1, 2});
  EXPECT_EQ(segments(g), (Names{"main_0 0+5"}));
  LoopOptions options;
  options.min_calls = 1;
  EXPECT_EQ(segments(g, options), (Names{"main_0 0+1", "main_loop_1_1 1+1", "main_loop_1_1 2+1",
                                         "main_loop_1_1 3+1", "main_1 4+1"}));
}

TEST(LoopWalk, ALoopThatSomethingInterruptsIsStillTheLoop) {
  Sequence s = {9};
  for (const int n : {5, 3, 1, 7, 2}) {
    for (int i = 0; i < n; ++i) s.insert(s.end(), {1, 2, 3});
    s.push_back(static_cast<uint32_t>(100 + n));  // never the same
  }
  ContextTable contexts;
  const Grammar g = build(s);
  LoopWalk walk(g, {}, &contexts);
  std::map<std::string, int> count;
  for (LoopSegment segment; walk.next(&segment);) ++count[contexts.name(segment.context)];
  EXPECT_EQ(count["main_loop_1_1"], 18);
  EXPECT_EQ(count["main_0"], 1);
  EXPECT_EQ(count["main_1"], 5);
  EXPECT_EQ(contexts.size(), 3u);
}

TEST(LoopWalk, RulesThatRecurAreSegments) {
  Sequence s;
  for (uint32_t i = 0; i < 20; ++i) s.insert(s.end(), {1, 2, 3, 100 + i});
  const Grammar g = build(s);
  EXPECT_EQ(segments(g)[0], "main_loop_1_1 0+3");
  EXPECT_EQ(segments(g)[1], "main_1 3+1");
  EXPECT_EQ(segments(g).size(), 40u);
  LoopOptions options;
  options.min_uses = 0;
  EXPECT_EQ(segments(g, options), (Names{"main_0 0+80"}));
}

TEST(LoopWalk, NothingGivesNothing) {
  EXPECT_TRUE(segments(build({})).empty());
  EXPECT_EQ(segments(build({4})), (Names{"main_0 0+1"}));
}

TEST(LoopWalk, LongLoopsAreNotExpanded) {
  // 10^15 calls in an iteration; keys and lengths come from the rules.
  const Grammar g = of_rules({{rule(1, 4)}, {rule(2, 1000000000), call(7)}, {call(1, 1000000)}});
  LoopOptions options;
  options.nesting = LoopOptions::Nesting::kOutermost;
  const Names names = segments(g, options);
  ASSERT_EQ(names.size(), 4u);
  EXPECT_EQ(names[1], "main_loop_1_1 1000000000000001+1000000000000001");
}

// Random programs: segments cover the sequence in order, and their keys are equal exactly where
// their calls are.
TEST(LoopWalk, SegmentsTileAndKeysAreThoseOfTheCalls) {
  std::mt19937_64 random(11);
  size_t cuts = 0;
  for (int round = 0; round < 600; ++round) {
    Sequence s;
    const int loops = 1 + static_cast<int>(random() % 5);
    for (int l = 0; l < loops; ++l) {
      Sequence body;
      for (uint64_t i = 0; i < 1 + random() % 6; ++i)
        body.insert(body.end(), 1 + random() % 3, static_cast<uint32_t>(random() % 6));
      for (uint64_t i = 0; i < random() % 30; ++i) {
        s.insert(s.end(), body.begin(), body.end());
        if (random() % 4 == 0) s.push_back(static_cast<uint32_t>(random() % 6));
      }
    }
    const Grammar g = build(s);
    LoopOptions options;
    options.min_calls = 1 + random() % 3;
    options.min_uses = random() % 3 * 4;
    options.min_iterations = 2 + random() % 3;
    if (random() % 2 == 0) options.nesting = LoopOptions::Nesting::kOutermost;
    ContextTable contexts;
    LoopWalk walk(g, options, &contexts);
    std::map<uint64_t, Sequence> by_key;
    uint64_t at = 0;
    for (LoopSegment segment; walk.next(&segment); ++cuts) {
      ASSERT_EQ(segment.first, at);
      ASSERT_GT(segment.calls, 0u);
      at += segment.calls;
      ASSERT_LE(at, s.size());
      const Sequence calls(s.begin() + static_cast<int64_t>(segment.first),
                           s.begin() + static_cast<int64_t>(at));
      StructureKey key;
      for (const uint32_t c : calls) key.append(c);
      ASSERT_EQ(key.value(), segment.structure);
      const auto [known, is_new] = by_key.try_emplace(segment.structure, calls);
      ASSERT_EQ(known->second, calls);
      ASSERT_LT(segment.context, contexts.size());
    }
    ASSERT_EQ(at, s.size());
  }
  EXPECT_GT(cuts, 10000u);
}

TEST(LoopWalk, CallKeysOfTheCallerDecideWhatIsEqual) {
  const Grammar g = build({1, 2, 1, 2, 5, 3, 4, 3, 4});
  const std::vector<uint64_t> keys = {0, 10, 20, 10, 20, 50};
  LoopOptions options;
  options.call_keys = keys;
  ContextTable contexts;
  LoopWalk walk(g, options, &contexts);
  std::vector<uint64_t> structures;
  for (LoopSegment s; walk.next(&s);) structures.push_back(s.structure);
  ASSERT_EQ(structures.size(), 5u);
  EXPECT_EQ(structures[0], structures[4]);
  EXPECT_NE(structures[0], structures[2]);
}

TEST(StructureKey, IsThatOfTheSequenceHoweverItIsPutTogether) {
  StructureKey once;
  once.append(3);
  once.append(4);
  StructureKey slow;
  for (int i = 0; i < 13; ++i) slow.append(once);
  EXPECT_EQ(once.repeated(13), slow);
  EXPECT_EQ(once.repeated(1), once);
  EXPECT_EQ(once.repeated(0), StructureKey());
  StructureKey other;
  other.append(4);
  other.append(3);
  EXPECT_NE(other.value(), once.value());
  StructureKey zero;
  zero.append(0);
  EXPECT_NE(zero.value(), StructureKey().value());
  EXPECT_NE(zero.repeated(2).value(), zero.value());
}

}  // namespace
}  // namespace refrain::similarity
