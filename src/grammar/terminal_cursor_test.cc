#include "grammar/terminal_cursor.h"

#include <gtest/gtest.h>

#include "grammar/test_sequences.h"

namespace refrain::grammar {
namespace {

using test::Sequence;

Sequence rest(TerminalCursor* cursor) {
  Sequence out;
  while (!cursor->at_end()) out.push_back(cursor->next());
  return out;
}

TEST(TerminalCursor, ReadsTheSequenceFromAnywhere) {
  std::mt19937 random(1);
  for (uint32_t seed = 0; seed < 6; ++seed) {
    for (const test::Named& kind : test::kinds(seed, 600)) {
      SCOPED_TRACE(kind.name);
      const Grammar g = test::build(kind.sequence);
      TerminalCursor cursor(g);
      EXPECT_EQ(cursor.remaining(), kind.sequence.size());
      EXPECT_EQ(rest(&cursor), kind.sequence);
      for (int i = 0; i < 20; ++i) {
        const size_t n = random() % (kind.sequence.size() + 1);
        cursor.seek(n);
        EXPECT_EQ(cursor.position(), n);
        EXPECT_EQ(cursor.remaining(), kind.sequence.size() - n);
        EXPECT_EQ(rest(&cursor),
                  Sequence(kind.sequence.begin() + static_cast<ptrdiff_t>(n), kind.sequence.end()));
      }
    }
  }
}

TEST(TerminalCursor, EmptySequence) {
  const Grammar g;
  TerminalCursor cursor(g);
  EXPECT_TRUE(cursor.at_end());
  cursor.seek(5);
  EXPECT_TRUE(cursor.at_end());
  EXPECT_EQ(cursor.position(), 0u);
}

TEST(TerminalCursor, SharesLengths) {
  const Sequence s = test::repeat({1, 2, 3}, 10);
  const Grammar g = test::build(s);
  const auto shared = std::make_shared<const Lengths>(lengths(g));
  TerminalCursor a(g, shared);
  TerminalCursor b(g, shared);
  a.seek(29);
  EXPECT_EQ(a.next(), 3u);
  EXPECT_TRUE(a.at_end());
  EXPECT_EQ(rest(&b), s);
}

TEST(TerminalCursor, FarIntoAHugeSequence) {
  // (((a b)^2^20 c)^2^20 d)^2^20
  const uint64_t n = uint64_t{1} << 20;
  const Grammar g{{{1, true, n},
                   {2, true, n},
                   {3, false, 1},
                   {3, true, n},
                   {2, false, 1},
                   {0, false, 1},
                   {1, false, 1}},
                  {1, 3, 5, 7}};
  const uint64_t inner = 2 * n + 1;
  const uint64_t outer = inner * n + 1;
  TerminalCursor cursor(g);
  EXPECT_EQ(cursor.remaining(), outer * n);
  cursor.seek(outer * (n - 1) + inner * (n - 1) + 2 * n - 1);
  EXPECT_EQ(rest(&cursor), (Sequence{1, 2, 3}));
}

}  // namespace
}  // namespace refrain::grammar
