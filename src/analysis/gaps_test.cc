#include "analysis/gaps.h"

#include <gtest/gtest.h>

#include "reader/test_trace.h"

namespace refrain::analysis {
namespace {

using reader::ShapeWriter;
using reader::TraceBuilder;

// Two ranks call MPI_Barrier three times, and one of them MPI_Send, from two places.
class Gaps : public testing::Test {
 protected:
  Gaps() {
    const uint32_t world = builder_.world();
    const uint32_t type = builder_.predefined_type("MPI_INT", 4);
    site_ = builder_.site("/app", "", 0x10);
    ShapeWriter send("MPI_Send"), barrier("MPI_Barrier");
    send.object(site_).none().integer(1).object(type).integer(1).integer(0).object(world);
    barrier.none().object(world);
    send_ = builder_.signature(send);
    barrier_ = builder_.signature(barrier);
    builder_.group({0}, {barrier_, barrier_, barrier_, send_});
    builder_.group({1}, {barrier_, barrier_, barrier_});
  }
  void fill() {
    auto& gaps = builder_.data().gaps;
    gaps.resize(2);
    gaps[send_] = {1, 700, 700, 700, {}};
    gaps[send_].histogram.add(9, 1);
    gaps[barrier_] = {6, 0, 2000, 3000, {}};
    gaps[barrier_].histogram.add(0, 4);
    gaps[barrier_].histogram.add(10, 2);
  }

  TraceBuilder builder_{2};
  uint32_t site_ = 0, send_ = 0, barrier_ = 0;
};

TEST_F(Gaps, AreSortedByWhatTheyTakeTogether) {
  fill();
  const Trace trace = builder_.open();
  EXPECT_TRUE(trace.has_gaps());
  const std::vector<GapRow> rows = gaps(trace);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].signature, barrier_);
  EXPECT_EQ(rows[0].call, trace.call_of(SignatureId{barrier_}));
  EXPECT_EQ(rows[0].site, kNoDefinition);
  EXPECT_EQ(rows[0].gaps.count, 6U);
  EXPECT_DOUBLE_EQ(rows[0].mean_ns(), 500);
  EXPECT_EQ(rows[0].gaps.max_ns, 2000U);
  ASSERT_EQ(rows[0].histogram.size(), 64U);
  EXPECT_EQ(rows[0].histogram[0], 4U);
  EXPECT_EQ(rows[0].histogram[10], 2U);
  EXPECT_EQ(rows[1].site, site_);
  EXPECT_DOUBLE_EQ(rows[1].gaps.sum_ns, 700);
}

TEST_F(Gaps, NothingWhereTheyAreNotKnown) {
  const Trace trace = builder_.open();
  EXPECT_FALSE(trace.has_gaps());
  EXPECT_TRUE(gaps(trace).empty());
  EXPECT_EQ(trace.gaps(SignatureId{send_}).count, 0U);
  EXPECT_TRUE(trace.gap_histogram(SignatureId{send_}).empty());
}

TEST_F(Gaps, OutOfRangeIsNothing) {
  fill();
  const Trace trace = builder_.open();
  EXPECT_EQ(trace.gaps(SignatureId{2}).count, 0U);
  EXPECT_TRUE(trace.gap_histogram(SignatureId{2}).empty());
}

TEST_F(Gaps, OfSomeSignaturesOnlyAreNone) {
  fill();
  builder_.data().gaps.pop_back();
  EXPECT_FALSE(builder_.try_open().ok());
  fill();
  builder_.data().gaps[0].min_ns = 3000;
  EXPECT_FALSE(builder_.try_open().ok());
}

}  // namespace
}  // namespace refrain::analysis
