#include "grammar/rename.h"

#include <gtest/gtest.h>

#include "grammar/test_sequences.h"

namespace refrain::grammar {
namespace {

using test::Sequence;

TEST(Rename, MapsEveryTerminal) {
  for (const test::Named& kind : test::kinds(5, 400)) {
    SCOPED_TRACE(kind.name);
    for (const auto map :
         {+[](Terminal t) { return t + 1000; }, +[](Terminal t) { return t / 2; }}) {
      Sequence mapped = kind.sequence;
      for (Terminal& t : mapped) t = map(t);
      EXPECT_EQ(test::expand(rename(test::build(kind.sequence), map)), mapped);
    }
  }
}

TEST(Rename, UsedTerminals) {
  EXPECT_EQ(used_terminals(test::build(test::repeat({9, 2, 2, 5, 9}, 7))),
            (std::vector<Terminal>{2, 5, 9}));
  EXPECT_TRUE(used_terminals(Grammar()).empty());
}

// The grammar depends on which terminals are equal, not on their numbers.
TEST(Rename, CommutesWithBuilding) {
  const auto map = [](Terminal t) { return 3 * t + 17; };
  for (const test::Named& kind : test::kinds(6, 400)) {
    SCOPED_TRACE(kind.name);
    Sequence mapped = kind.sequence;
    for (Terminal& t : mapped) t = map(t);
    EXPECT_EQ(rename(test::build(kind.sequence), map), test::build(mapped));
  }
}

}  // namespace
}  // namespace refrain::grammar
