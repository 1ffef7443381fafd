#include "events/cartesian.h"

#include <gtest/gtest.h>

#include "reader/test_trace.h"

namespace refrain::events {
namespace {

using reader::ShapeWriter;
using reader::TraceBuilder;

void add_array(ShapeWriter& out, const std::vector<int64_t>& values) {
  out.array(values.size());
  for (const int64_t v : values) out.repeat(1).integer(v);
}

uint32_t create(TraceBuilder& builder, const std::vector<int64_t>& dims,
                const std::vector<int64_t>& members) {
  const uint32_t world = builder.world();
  const uint32_t grid = builder.comm(1, members);
  ShapeWriter call("MPI_Cart_create");
  call.none().object(world).integer(static_cast<int64_t>(dims.size()));
  add_array(call, dims);
  add_array(call, std::vector<int64_t>(dims.size(), 1));
  return builder.signature(call.integer(1).object(grid));
}

TEST(CartesianGrid, IsThatOfTheCommunicator) {
  TraceBuilder builder(6);
  // Ranks in another order than that of the world.
  const uint32_t call = create(builder, {3, 2}, {5, 4, 3, 2, 1, 0});
  builder.group({0, 1, 2, 3, 4, 5}, {call});
  const auto grid = cartesian_grid(builder.open());
  ASSERT_TRUE(grid.has_value());
  EXPECT_EQ(grid->dims, (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(grid->periods, (std::vector<bool>{true, true}));
  EXPECT_EQ(grid->ranks, (std::vector<Rank>{5, 4, 3, 2, 1, 0}));
  EXPECT_EQ(grid->source, "MPI_Cart_create");
  EXPECT_EQ(grid->communicator, "comm#1");
}

TEST(CartesianGrid, NoneWithoutOne) {
  TraceBuilder builder(2);
  const uint32_t world = builder.world();
  ShapeWriter barrier("MPI_Barrier");
  builder.group({0, 1}, {builder.signature(barrier.none().object(world))});
  EXPECT_FALSE(cartesian_grid(builder.open()).has_value());
}

TEST(CartesianGrid, ExtentsThatCannotBe) {
  for (const std::vector<int64_t>& dims :
       {std::vector<int64_t>{}, {0, 2}, {-1, -2}, {INT64_MAX, INT64_MAX}, {2, 2}}) {
    TraceBuilder builder(2);
    const uint32_t call = create(builder, dims, {0, 1});
    builder.group({0, 1}, {call});
    EXPECT_FALSE(cartesian_grid(builder.open()).has_value());
  }
}

}  // namespace
}  // namespace refrain::events
