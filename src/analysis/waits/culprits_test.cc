// Which stretches the verdict is about, and what is said of them; exact.

#include "analysis/waits/testing/test_program.h"

namespace refrain::analysis::waits {
namespace {

// Each of 20 ranks is late once: no list names all of them, and the sums are of all.
TEST(Culprits, CountsThoseThatAreNotListed) {
  constexpr int kMany = 24, kLate = 20;
  TestProgram p(kMany);
  for (int i = 0; i <= kLate; ++i)
    for (int r = 0; r < kMany; ++r) {
      const auto round = static_cast<uint64_t>(1000 * i);
      p.call(r, p.barrier(p.world), round + (r == i - 1 ? 900 : 100), round + 910);
    }
  const WaitStates w = p.analyse();
  ASSERT_FALSE(w.culprits.empty());
  const Culprit& first = w.culprits[0];
  EXPECT_LT(w.culprits.size(), static_cast<size_t>(kLate));
  EXPECT_EQ(first.much_ranks, static_cast<uint64_t>(kLate));
  EXPECT_EQ(first.others, static_cast<uint64_t>(kMany - kLate));
  EXPECT_NEAR(first.much_ns, static_cast<double>(kLate) * (kMany - 1) * 800, 1);
  EXPECT_EQ(first.iterations, 1U);
  EXPECT_EQ(first.passes, static_cast<uint64_t>(kLate));
}

// One repetition of many is slow: how long that one takes, beside the mean of all.
TEST(Culprits, TellsSlowTimesFromTheOthers) {
  constexpr uint64_t kTimes = 50, kSlow = 20;
  TestProgram p(3);
  uint64_t now = 0;
  for (uint64_t i = 0; i <= kTimes; ++i) {
    const uint64_t longest = i == kSlow ? 9'000 : 100;
    for (int r = 0; r < 3; ++r)
      p.call(r, p.barrier(p.world), now + (r == 1 ? longest : 100), now + longest + 10);
    now += longest + 10;
  }
  const WaitStates w = p.analyse();
  ASSERT_EQ(w.culprits.size(), 1U);
  const Culprit& c = w.culprits[0];
  EXPECT_EQ(c.stretch.rank, 1);
  EXPECT_EQ(c.iterations, 1U);
  EXPECT_EQ(c.passes, kTimes);
  EXPECT_NEAR(c.slow_ns, 9'000, 1);
  EXPECT_NEAR(c.rest_ns(), 100, 1);
  EXPECT_NEAR(c.mean_ns, 100 + 8'900.0 / kTimes, 1);
  EXPECT_EQ(c.as_slow_ranks, 0U);
}

// A send before a barrier is slow once: what it is given is the same each time, or once another
// size.
TEST(Culprits, KnowsWhetherACallIsGivenAlike) {
  constexpr uint64_t kTimes = 50, kSlow = 20;
  for (const bool is_alike : {true, false}) {
    TestProgram p(2);
    uint64_t now = 0;
    for (uint64_t i = 0; i < kTimes; ++i) {
      ShapeWriter send("MPI_Send");
      send.object(p.site).none().integer(!is_alike && i == kSlow ? 1'000 : 1);
      send.object(p.type).integer(1).integer(static_cast<int64_t>(i % 2)).object(p.world);
      const uint64_t took = i == kSlow ? 9'000 : 100;
      p.call(0, send, now + 10, now + 10 + took);
      p.call(0, p.barrier(p.world), now + 15 + took, now + 20 + took);
      p.call(1, p.barrier(p.world), now + 10, now + 20 + took);
      p.call(1, p.receive(0, static_cast<int64_t>(i % 2), p.world), now + 21 + took,
             now + 25 + took);
      now += took + 50;
    }
    const WaitStates w = p.analyse();
    ASSERT_FALSE(w.culprits.empty());
    const Culprit& c = w.culprits[0];
    EXPECT_TRUE(c.stretch.is_call);
    EXPECT_EQ(c.iterations, 1U);
    EXPECT_EQ(c.passes, kTimes);
    EXPECT_EQ(c.is_given_alike, is_alike) << "tags differ each time";
  }
}

// Ranks 1 and 3 take 500, and rank 3 a little more. Nobody waits for rank 1, but it is not one of
// those that rank 3 is slower than.
TEST(Culprits, KnowsWhoIsAsSlow) {
  TestProgram p(4);
  for (uint64_t i = 0; i <= 10; ++i)
    for (int r = 0; r < 4; ++r)
      p.call(r, p.barrier(p.world), 600 * i + (r == 3 ? 501 : r == 1 ? 500 : 100), 600 * i + 510);
  const WaitStates w = p.analyse();
  ASSERT_EQ(w.culprits.size(), 1U);
  const Culprit& c = w.culprits[0];
  EXPECT_EQ(c.stretch.rank, 3);
  EXPECT_EQ(c.as_slow, std::vector<Rank>{1});
  EXPECT_EQ(c.as_slow_ranks, 1U);
  EXPECT_EQ(c.others, 2U);
  EXPECT_NEAR(c.others_ns, 190, 1);
}

// All take as long: none is one of the slow ones.
TEST(Culprits, NobodyIsAsSlowWhereAllAre) {
  TestProgram p(4);
  for (uint64_t i = 0; i <= 10; ++i)
    for (int r = 0; r < 4; ++r)
      p.call(r, p.barrier(p.world), 600 * i + (r == 3 ? 501 : 500), 600 * i + 510);
  const WaitStates w = p.analyse();
  ASSERT_FALSE(w.culprits.empty());
  EXPECT_EQ(w.culprits[0].as_slow_ranks, 0U);
  EXPECT_EQ(w.culprits[0].others, 3U);
}

}  // namespace
}  // namespace refrain::analysis::waits
