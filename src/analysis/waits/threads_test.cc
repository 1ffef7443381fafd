// Efficiencies of ranks whose threads do not live for the whole run; exact.

#include "analysis/waits/testing/test_program.h"

namespace refrain::analysis::waits {
namespace {

constexpr uint64_t kRun = 1'000'000;  // from MPI_Init to MPI_Finalize

// A run in which each rank computes, but for `mpi_ns` in a barrier in its middle.
class ThreadedRun {
 public:
  explicit ThreadedRun(int ranks, uint64_t mpi_ns) : p(ranks) {
    for (int r = 0; r < ranks; ++r) {
      p.call(r, p.simple("MPI_Init", {}).none().none(), 0, kStart);
      p.call(r, p.barrier(p.world), kMiddle - mpi_ns / 2, kMiddle + mpi_ns / 2);
      p.call(r, p.simple("MPI_Finalize", {}), kStart + kRun, kStart + kRun + 10);
    }
  }
  // A thread that computes from one call to another one.
  void thread(Rank rank, uint32_t number, uint64_t begin, uint64_t ns) {
    const auto rank_call = [&] { return p.simple("MPI_Comm_rank", {p.world}).integer(rank); };
    p.thread_call(rank, number, rank_call(), kStart + begin, kStart + begin);
    p.thread_call(rank, number, rank_call(), kStart + begin + ns, kStart + begin + ns);
  }

  static constexpr uint64_t kStart = 1'000, kMiddle = kStart + kRun / 2;
  TestProgram p;
};

void expect_factors(const Efficiency& e) {
  EXPECT_NEAR(e.parallel, e.load_balance * e.serialisation * e.transfer, 1e-12);
  for (const double share : {e.parallel, e.load_balance, e.serialisation, e.transfer}) {
    EXPECT_GE(share, 0);
    EXPECT_LE(share, 1);
  }
}

// Both ranks compute nearly all the time, and each has 20 threads of a moment.
TEST(ShortThreads, DoNotCountForTheWholeRun) {
  const Efficiency alone = ThreadedRun(2, 2'000).p.analyse().efficiency;
  EXPECT_DOUBLE_EQ(alone.parallel, 0.998);
  for (const uint64_t ns : {0, 100}) {
    ThreadedRun run(2, 2'000);
    for (int rank = 0; rank < 2; ++rank)
      for (uint32_t t = 1; t <= 20; ++t) run.thread(rank, t, t * 10'000, ns);
    const Efficiency e = run.p.analyse().efficiency;
    // Of a rank 998 000, and 20 times `ns` of as much life.
    const auto more = static_cast<double>(20 * ns);
    EXPECT_NEAR(e.parallel, (998'000 + more) / (1'000'000 + more), 1e-12);
    EXPECT_NEAR(e.load_balance, 1, 1e-5);
    EXPECT_EQ(e.runtime_ns, kRun);
    expect_factors(e);
  }
}

// Threads that live as long as the run count as ranks do.
TEST(ShortThreads, OfTheWholeRunCountOnce) {
  ThreadedRun run(2, 500'000);
  run.thread(0, 1, 0, kRun);
  const Efficiency e = run.p.analyse().efficiency;
  EXPECT_DOUBLE_EQ(e.useful_mean_ns, (500'000 + 500'000 + 1'000'000) / 3.0);
  EXPECT_DOUBLE_EQ(e.useful_max_ns, 1'000'000);
  EXPECT_DOUBLE_EQ(e.parallel, 2.0 / 3);
  expect_factors(e);
}

// Half of the run a rank has a second thread: it counts half.
TEST(ShortThreads, CountForTheirLives) {
  ThreadedRun run(2, 500'000);
  run.thread(1, 1, 100'000, 500'000);
  const Efficiency e = run.p.analyse().efficiency;
  EXPECT_DOUBLE_EQ(e.useful_mean_ns, 1'500'000 / 2.5);
  // More than any thread was useful, as the second one had nothing to wait for.
  EXPECT_DOUBLE_EQ(e.useful_max_ns, e.useful_mean_ns);
  EXPECT_DOUBLE_EQ(e.load_balance, 1);
  expect_factors(e);
}

// 100 threads at once for a hundredth of the run, all useful, while the first one is in MPI.
TEST(ShortThreads, ManyAtOnceStayPartsOfOne) {
  ThreadedRun run(2, 900'000);
  for (uint32_t t = 1; t <= 100; ++t) run.thread(0, t, 400'000, kRun / 100);
  const Efficiency e = run.p.analyse().efficiency;
  EXPECT_NEAR(e.useful_mean_ns, (1'100'000 + 100'000) / 3.0, 1e-6);
  EXPECT_DOUBLE_EQ(e.load_balance, 1);
  expect_factors(e);
}

// In a window without the thread, it does not count.
TEST(ShortThreads, CountForTheirLivesInAWindow) {
  const auto of = [](uint64_t from, uint64_t to) {
    ThreadedRun run(1, 0);
    run.thread(0, 1, 600'000, 100'000);
    Options options;
    options.window = {ThreadedRun::kStart + from, ThreadedRun::kStart + to};
    const WaitStates w = run.p.analyse(options);
    expect_factors(w.efficiency);
    return w.efficiency.useful_mean_ns;
  };
  EXPECT_DOUBLE_EQ(of(0, 500'000), 500'000);
  EXPECT_DOUBLE_EQ(of(500'000, 700'000), 300'000 / 1.5);
}

// Ranks of one thread count once each, also those that begin late: to the last digit.
TEST(ShortThreads, LeaveRanksOfOneThread) {
  TestProgram p(3);
  for (int r = 0; r < 3; ++r) {
    const auto t = static_cast<uint64_t>(r) * 100;
    p.call(r, p.barrier(p.world), t, 1'000);
    p.call(r, p.barrier(p.world), 2'000 + t, 3'000);
  }
  const Efficiency e = p.analyse().efficiency;
  double mean = 0;
  for (const double useful : {1'000.0, 1'100.0, 1'200.0}) mean += useful / 3;
  EXPECT_EQ(e.useful_mean_ns, mean);
  EXPECT_EQ(e.useful_max_ns, 1'200);
}

}  // namespace
}  // namespace refrain::analysis::waits
