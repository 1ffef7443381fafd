#include "analysis/replays/replays.h"

#include <gtest/gtest.h>

#include "reader/test_trace.h"

namespace refrain::analysis {
namespace {

using reader::ShapeWriter;
using reader::TraceBuilder;

// A rank that is no root in MPI_Gather, with some number of elements and some datatype to receive.
Trace gather(int64_t elements, bool has_type) {
  TraceBuilder builder(2);
  const uint32_t world = builder.world(), type = builder.predefined_type("MPI_BYTE", 1);
  ShapeWriter shape("MPI_Gather");
  shape.none().heap(-1, 0).integer(elements).object(type).constant("MPI_BOTTOM").integer(0);
  if (has_type)
    shape.object(type);
  else
    shape.none();
  builder.group({0, 1}, {builder.signature(shape.integer(1).object(world))});
  return builder.open();
}

TEST(Replays, ADatatypeThatTheCallIgnoresMayBeAny) {
  const auto same = compare_replay(gather(1, false), gather(1, true));
  ASSERT_TRUE(same.ok());
  EXPECT_FALSE(same->first);
  EXPECT_EQ(same->allowed_of(Allowed::kUnseen), 2u);
}

TEST(Replays, ANumberMayNotDiffer) {
  const auto other = compare_replay(gather(1, true), gather(2, true));
  ASSERT_TRUE(other.ok());
  ASSERT_TRUE(other->first);
  EXPECT_EQ(other->first->parameter, "sendcount");
}

}  // namespace
}  // namespace refrain::analysis
