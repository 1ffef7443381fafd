// The recorder's own work is nobody's: not useful, no cause, on no critical path, in no efficiency.
#include <gtest/gtest.h>

#include "analysis/waits/testing/test_program.h"
#include "format/trace_data.h"

namespace refrain::analysis::waits {
namespace {

constexpr uint64_t kUs = 1000;

// Ranks that compute `compute_us` each time before a barrier, `rounds` times. Behind MPI_Init the
// recorder works until all ranks have; behind the call before round `late_round` rank 1 works for
// `late_us`, and the others wait for it.
struct Program {
  int ranks = 4, rounds = 10;
  uint64_t compute_us = 100, init_us = 0;
  int late_round = -1;
  uint64_t late_us = 0;

  WaitStates analyse(bool knows_own_work) const {
    TestProgram p(ranks);
    std::vector<format::OwnWork> work;
    for (int r = 0; r < ranks; ++r) {
      p.call(r, p.simple("MPI_Init", {}).none().none(), 0, 10 * kUs);
      work.push_back({static_cast<uint64_t>(r), 0, {}});
      if (init_us > 0) work.back().pieces.push_back({0, init_us * kUs});
    }
    uint64_t now = (10 + init_us) * kUs;
    for (int round = 0; round < rounds; ++round) {
      const uint64_t extra = round == late_round ? late_us * kUs : 0;
      const uint64_t end = now + (compute_us + 1) * kUs + extra;
      for (int r = 0; r < ranks; ++r) {
        const uint64_t late = r == 1 ? extra : 0;
        p.call(r, p.barrier(p.world), now + compute_us * kUs + late, end);
        if (late > 0) work[1].pieces.push_back({static_cast<uint64_t>(round), late});
      }
      now = end;
    }
    for (int r = 0; r < ranks; ++r) p.call(r, p.simple("MPI_Finalize", {}), now, now + kUs);
    format::TraceData& data = p.builder().data();
    for (format::OwnWork& w : work) {
      if (!knows_own_work || w.pieces.empty()) continue;
      for (const format::OwnPiece& piece : w.pieces) data.totals[w.rank].own_ns += piece.ns;
      data.own_work.push_back(std::move(w));
    }
    return p.analyse();
  }
};

double useful_of(const WaitStates& w, size_t rank) {
  return static_cast<double>(w.ranks[rank].useful_ns);
}

TEST(OwnWork, BehindInitIsNotUseful) {
  Program p;
  p.init_us = 50'000;
  p.ranks = 27;
  const WaitStates with = p.analyse(true), without = p.analyse(false);
  for (size_t r = 0; r < 27; ++r) {
    EXPECT_EQ(useful_of(with, r), 10 * 100 * kUs);
    EXPECT_EQ(useful_of(without, r), 10 * 100 * kUs + 50'000 * kUs) << "a trace of before";
    EXPECT_EQ(with.ranks[r].recorder_ns, 50'000 * kUs);
  }
  EXPECT_EQ(with.efficiency.runtime_ns, 10 * 101 * kUs);
  EXPECT_NEAR(with.efficiency.parallel, 100.0 / 101, 1e-9);
  EXPECT_EQ(with.recorder.work_ns, 27 * 50'000 * kUs);
  for (const CriticalPart& part : with.critical_path) EXPECT_LT(part.ns, 5'000 * kUs);
  EXPECT_EQ(with.critical_ns + with.recorder.critical_ns, without.critical_ns);
}

TEST(OwnWork, IsNoCause) {
  Program p;
  p.late_round = 5;
  p.late_us = 4'000;
  const WaitStates with = p.analyse(true), without = p.analyse(false);
  EXPECT_EQ(without.ns_of(Pattern::kAll), 3 * 4'000 * kUs) << "three ranks wait for rank 1";
  ASSERT_EQ(without.culprits.size(), 1U);
  EXPECT_EQ(with.ns_of(Pattern::kAll), 0U);
  EXPECT_NEAR(with.recorder.waiting_ns, 3.0 * 4'000 * kUs, 1);
  EXPECT_TRUE(with.culprits.empty());
  for (const Delay& d : with.delays) EXPECT_NEAR(d.short_term_ns + d.long_term_ns, 0, 1);
  for (size_t r = 0; r < 4; ++r) {
    EXPECT_EQ(useful_of(with, r), 10 * 100 * kUs);
    EXPECT_EQ(with.ranks[r].waiting_ns, 0U);
  }
  // Rank 1's work was on the critical path, and the run would have been so much shorter.
  EXPECT_EQ(with.recorder.critical_ns, 4'000 * kUs);
  EXPECT_EQ(with.efficiency.runtime_ns, 10 * 101 * kUs);
  EXPECT_NEAR(with.efficiency.parallel, 100.0 / 101, 1e-9);
  EXPECT_NEAR(with.efficiency.load_balance, 1, 1e-9);
}

// Without the recorder's work rank 1 is the last one: the run is as long as its way.
TEST(OwnWork, LeavesARunThatIsAsLongAsTheIdealOne) {
  TestProgram p(2);
  for (int r = 0; r < 2; ++r) p.call(r, p.simple("MPI_Init", {}).none().none(), 0, 10);
  p.call(0, p.barrier(p.world), 9'000, 9'100);
  p.call(1, p.barrier(p.world), 8'000, 9'100);
  for (int r = 0; r < 2; ++r) p.call(r, p.simple("MPI_Finalize", {}), 9'200, 9'300);
  format::TraceData& data = p.builder().data();
  data.totals[0].own_ns = 5'000;
  data.own_work = {{0, 0, {{0, 5'000}}}};
  const Efficiency e = p.analyse().efficiency;
  EXPECT_EQ(e.useful_max_ns, 7'990 + 100);
  EXPECT_EQ(e.ideal_ns, 7'990U + 100);
  EXPECT_EQ(e.runtime_ns, e.ideal_ns);
  EXPECT_DOUBLE_EQ(e.transfer, 1);
  EXPECT_DOUBLE_EQ(e.communication, 1);
}

// What a rank computes itself stays its own, in the same gap.
TEST(OwnWork, LeavesTheProgramsPartOfAGap) {
  TestProgram p(2);
  for (int r = 0; r < 2; ++r) p.call(r, p.barrier(p.world), 0, 10);
  p.call(0, p.barrier(p.world), 1'000, 9'000);
  p.call(1, p.barrier(p.world), 8'000, 9'000);
  format::TraceData& data = p.builder().data();
  data.totals[1].own_ns = 2'990;
  data.own_work = {{1, 0, {{0, 2'990}}}};
  const WaitStates w = p.analyse();
  EXPECT_EQ(w.ns_of(Pattern::kAll), 4'010U) << "of 7000 ns, 2990 for the recorder";
  EXPECT_NEAR(w.recorder.waiting_ns, 2'990, 1);
  ASSERT_EQ(w.culprits.size(), 1U);
  EXPECT_EQ(w.culprits[0].stretch.rank, 1);
  EXPECT_NEAR(w.culprits[0].mean_ns, 5'000, 1);
}

// Small work that is no piece lessens what is useful, and nothing else.
TEST(OwnWork, SmallWorkIsNotUseful) {
  TestProgram q(1);
  q.call(0, q.barrier(q.world), 0, 10);
  q.call(0, q.barrier(q.world), 1'010, 1'020);
  q.builder().data().totals[0].own_ns = 300;
  EXPECT_EQ(q.analyse().ranks[0].useful_ns, 700U);
}

// Times of a rank are of all its threads, so that no part is more than the whole.
TEST(OwnWork, ThreadsCountTogether) {
  for (const bool has_twins : {false, true}) {
    TestProgram p(1);
    p.has_twins = has_twins;
    p.call(0, p.barrier(p.world), 0, 10);
    p.call(0, p.barrier(p.world), 100, 110);
    const WaitStates w = p.analyse();
    const uint64_t threads = has_twins ? 2 : 1;
    EXPECT_EQ(w.ranks[0].total_ns, threads * 110);
    EXPECT_EQ(w.ranks[0].useful_ns, threads * 90);
    EXPECT_DOUBLE_EQ(w.total_ns, static_cast<double>(threads * 110));
  }
}

}  // namespace
}  // namespace refrain::analysis::waits
