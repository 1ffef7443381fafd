// Loops of ranks, from traces that are made here.
#include "online/progress.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "format/encode/encode.h"
#include "format/testing/synthetic.h"
#include "mpi/call_ids.h"
#include "online/show/state_text.h"

namespace refrain::online {
namespace {

using format::testing::Sig;
using format::testing::SyntheticRank;

// A rank that makes `calls` barriers, each at a place of its own, `iterations` times.
format::RankRecord rank_of(uint64_t rank, int calls, int iterations) {
  SyntheticRank r(rank, 2);
  r.call(Sig(mpi::kMPI_Init, r.site(1)).integer(0).none());
  std::vector<uint32_t> sites;
  for (int i = 0; i < calls; ++i) sites.push_back(r.site(0x100 + 16 * i));
  for (int i = 0; i < iterations; ++i)
    for (const uint32_t site : sites) r.call(Sig(mpi::kMPI_Barrier, site).object(r.world()));
  r.call(Sig(mpi::kMPI_Finalize, r.site(2)));
  return r.finish();
}

LoopNow loop_of(std::vector<format::RankRecord> ranks, std::string& text) {
  const auto bytes = format::encode(format::testing::merge_all(ranks));
  EXPECT_TRUE(bytes.ok());
  JobNow job;
  add_progress(*Trace::from_bytes(*bytes, "made"), job);
  text = state_text(job, 8);
  return job.loop;
}

TEST(Progress, RanksInOneLoop) {
  std::string text;
  const LoopNow loop = loop_of({rank_of(0, 3, 40), rank_of(1, 3, 41)}, text);
  EXPECT_EQ(loop.calls, 3U);
  EXPECT_EQ(loop.least_calls, 3U);
  EXPECT_EQ(loop.least, 40U);
  EXPECT_EQ(loop.most, 41U);
  EXPECT_NE(text.find("iterations of a loop of 3 calls from MPI_Barrier on: 40 to 41 over"),
            std::string::npos)
      << text;
}

// Iterations of a loop of 5 calls are not what one of 2 calls has: the text says that they differ.
TEST(Progress, RanksInDifferentLoops) {
  std::string text;
  const LoopNow loop = loop_of({rank_of(0, 2, 100), rank_of(1, 5, 30)}, text);
  EXPECT_EQ(loop.calls, 5U);
  EXPECT_EQ(loop.least_calls, 2U);
  EXPECT_EQ(loop.least, 30U);
  EXPECT_EQ(loop.most, 100U);
  EXPECT_NE(text.find("iterations of loops of 2 to 5 calls"), std::string::npos) << text;
}

}  // namespace
}  // namespace refrain::online
