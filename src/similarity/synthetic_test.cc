// What is left of waiting, on runs of known behaviour: bench/similarity_methods.cc as a test.

#include <gtest/gtest.h>

#include "similarity/testing/synthetic.h"

namespace refrain::similarity::testing {
namespace {

class Synthetic : public ::testing::Test {
 protected:
  const std::vector<SyntheticRun> runs_ = synthetic_runs(8, 400, 1);
};

// Waiting that comes from noise below the tolerance, the run "regular", is what auto may lose.
TEST_F(Synthetic, AutoKeepsWhoWaitedAtNoMoreBytesThanAvgWave) {
  for (const bool combined : {false, true}) {
    uint64_t bytes[2] = {0, 0};
    for (const SyntheticRun& run : runs_) {
      const Outcome ours = reduce_and_rebuild(run, default_spec(Method::kAuto), combined);
      const Outcome theirs = reduce_and_rebuild(run, default_spec(Method::kAvgWave), combined);
      bytes[0] += ours.representative_bytes;
      bytes[1] += theirs.representative_bytes;
      EXPECT_GT(ours.degree_of_matching, 0.95) << run.name;
      if (run.name == "regular") continue;
      EXPECT_TRUE(ours.is_retained())
          << run.name << " " << ours.total_error() << " " << ours.worst_rank_error;
      EXPECT_LE(ours.approximation_distance_ns, theirs.approximation_distance_ns) << run.name;
    }
    EXPECT_LE(bytes[0], bytes[1]);
  }
}

// The verdict is not one that everything passes.
TEST_F(Synthetic, OtherMethodsLoseSomeOfIt) {
  for (const Method m : {Method::kRelDiff, Method::kIterK, Method::kChebyshev, Method::kAvgWave}) {
    int lost = 0;
    for (const SyntheticRun& run : runs_)
      lost += reduce_and_rebuild(run, default_spec(m), true).is_retained() ? 0 : 1;
    EXPECT_GE(lost, 3) << method_name(m);
  }
}

// An error of nearly nothing keeps everything, noise as well.
TEST_F(Synthetic, ASmallErrorIsSmall) {
  for (const SyntheticRun& run : runs_) {
    const Outcome o = reduce_and_rebuild(run, *parse_method("auto:0.001:0.001"), false);
    EXPECT_LE(o.approximation_distance_ns, 6000) << run.name;
    EXPECT_LE(o.total_error(), 0.25) << run.name;
  }
}

}  // namespace
}  // namespace refrain::similarity::testing
