#include "analysis/profile/profile.h"

#include <gtest/gtest.h>

#include "analysis/matrix.h"
#include "reader/test_trace.h"

namespace refrain::analysis {
namespace {

using reader::me_plus_mod_size;
using reader::ShapeWriter;
using reader::TraceBuilder;

// A ring of four ranks: 3 sends of 10 ints to the right, one of them from another place on the odd
// ranks, and a barrier.
class Ring : public testing::Test {
 protected:
  Ring() {
    const uint32_t world = builder_.world();
    const uint32_t type = builder_.predefined_type("MPI_INT", 4);
    sites_ = {builder_.site("/app", "", 0x10), builder_.site("/app", "", 0x20)};
    const int64_t varying = builder_.table_of({sites_[0], sites_[1], sites_[0], sites_[1]});
    ShapeWriter send("MPI_Send"), moved("MPI_Send"), barrier("MPI_Barrier");
    send.object(sites_[0]);
    moved.object(reader::table(varying));
    for (ShapeWriter* shape : {&send, &moved})
      shape->none().integer(10).object(type).integer(me_plus_mod_size(1)).integer(0).object(world);
    barrier.none().object(world);
    const uint32_t a = builder_.signature(send), b = builder_.signature(moved);
    const uint32_t c = builder_.signature(barrier);
    builder_.group({0, 1, 2, 3}, {a, a, b, c});
    auto& data = builder_.data();
    data.durations[a].min_ns = 10, data.durations[a].max_ns = 40, data.durations[a].sum_ns = 160;
    data.durations[b].min_ns = 5, data.durations[b].max_ns = 50, data.durations[b].sum_ns = 80;
    data.durations[c].min_ns = 100, data.durations[c].max_ns = 900, data.durations[c].sum_ns = 2000;
    data.totals = {{100, 900}, {200, 800}, {300, 700}, {600, 400}};
  }

  TraceBuilder builder_{4};
  std::vector<uint32_t> sites_;
};

TEST_F(Ring, FunctionsAreSortedByTime) {
  const Profile p = profile(builder_.open());
  ASSERT_EQ(p.functions.size(), 2U);
  EXPECT_EQ(mpi::find_call(p.functions[0].call)->name, "MPI_Barrier");
  const CallTotals& send = p.functions[1].totals;
  EXPECT_EQ(send.calls, 12U);
  EXPECT_EQ(send.bytes, 12U * 40);
  EXPECT_EQ(send.messages, 12U);
  EXPECT_DOUBLE_EQ(send.time_ns, 240);
  EXPECT_DOUBLE_EQ(send.mean_ns(), 20);
  EXPECT_EQ(send.min_ns, 5U);
  EXPECT_EQ(send.max_ns, 50U);
  EXPECT_EQ(p.all.calls, 16U);
  EXPECT_DOUBLE_EQ(p.all.time_ns, 2240);
}

// Two ranks: in MPI_Init for 300 and 200 ns, in MPI_Finalize for 50 and 400.
TEST(Profile, TimeBetweenIsWithoutInitAndFinalize) {
  TraceBuilder builder(2);
  ShapeWriter init("MPI_Init"), finalize("MPI_Finalize");
  init.none().none();
  finalize.none();
  const uint32_t first = builder.signature(init), last = builder.signature(finalize);
  builder.group({0, 1}, {first, last});
  auto& data = builder.data();
  data.meta.duration_ns = 1000;
  EXPECT_DOUBLE_EQ(time_between_ns(builder.open()), 1000);
  data.durations[first].min_ns = 200, data.durations[first].max_ns = 300;
  data.durations[first].sum_ns = 500;
  data.durations[last].min_ns = 50, data.durations[last].max_ns = 400;
  data.durations[last].sum_ns = 450;
  EXPECT_DOUBLE_EQ(time_between_ns(builder.open()), 650);
}

TEST_F(Ring, PlacesShareTheTimeOfTheirSignature) {
  const Profile p = profile(builder_.open());
  ASSERT_EQ(p.sites.size(), 3U);
  EXPECT_EQ(p.sites[0].site, kNoDefinition);  // the barrier
  EXPECT_EQ(p.sites[1].site, sites_[0]);
  EXPECT_EQ(p.sites[1].totals.calls, 10U);
  EXPECT_DOUBLE_EQ(p.sites[1].totals.time_ns, 160 + 40);
  EXPECT_EQ(p.sites[2].site, sites_[1]);
  EXPECT_EQ(p.sites[2].totals.calls, 2U);
  EXPECT_EQ(p.sites[2].totals.bytes, 2U * 40);
}

TEST_F(Ring, SpreadsOverTheRanks) {
  const Profile p = profile(builder_.open());
  EXPECT_DOUBLE_EQ(p.in_mpi_ns.min, 100);
  EXPECT_DOUBLE_EQ(p.in_mpi_ns.mean, 300);
  EXPECT_DOUBLE_EQ(p.in_mpi_ns.max, 600);
  EXPECT_DOUBLE_EQ(p.in_mpi_ns.imbalance(), 1);
  EXPECT_DOUBLE_EQ(p.run_ns, 4000);
  ASSERT_EQ(p.ranks.size(), 4U);
  EXPECT_EQ(p.ranks[3].calls, 4U);
  EXPECT_EQ(p.ranks[3].bytes, 3U * 40);
  EXPECT_EQ(p.ranks[3].outside_ns, 400U);
}

TEST_F(Ring, SizesFallIntoPowersOfTwo) {
  const Profile p = profile(builder_.open());
  const SizeHistogram& sizes = p.sizes[static_cast<size_t>(events::TransferKind::kP2p)];
  EXPECT_EQ(sizes[6].transfers, 12U);  // [32, 64)
  EXPECT_EQ(sizes[6].bytes, 12U * 40);
}

TEST_F(Ring, MatrixGoesRound) {
  const Matrix m = matrix(builder_.open(), MatrixKind::kAll);
  const std::vector<MatrixEntry> expected = {
      {0, 1, 3, 120}, {1, 2, 3, 120}, {2, 3, 3, 120}, {3, 0, 3, 120}};
  EXPECT_EQ(m.entries, expected);
  EXPECT_EQ(m.messages, 12U);
  EXPECT_EQ(m.bytes, 480U);
}

TEST(EmptyTrace, HasAnEmptyProfile) {
  TraceBuilder builder(2);
  builder.data().meta.complete = false;  // no rank left anything
  const Trace trace = builder.open();
  const Profile p = profile(trace);
  EXPECT_TRUE(p.functions.empty());
  EXPECT_EQ(p.ranks.size(), 2U);
  EXPECT_EQ(p.calls.imbalance(), 0);
  EXPECT_TRUE(matrix(trace, MatrixKind::kAll).entries.empty());
}

}  // namespace
}  // namespace refrain::analysis
