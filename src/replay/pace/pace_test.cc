#include "replay/pace/pace.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>

#include "reader/test_trace.h"

namespace refrain::replay {
namespace {

events::StagedCall at(uint64_t begin_ns, uint64_t end_ns) {
  events::StagedCall call;
  call.begin_ns = begin_ns;
  call.end_ns = end_ns;
  return call;
}

TEST(Gaps, AreBetweenTheEndOfOneCallAndTheBeginOfTheNext) {
  GapsOfTimes gaps;
  EXPECT_EQ(gaps.before(at(100, 200)), 0u);
  EXPECT_EQ(gaps.before(at(250, 300)), 50u);
  EXPECT_EQ(gaps.before(at(290, 310)), 0u);  // inside of another one's callback
  EXPECT_EQ(gaps.before(at(410, 420)), 100u);
}

TEST(Gaps, AreWithoutTheSmallWorkOfTheRecorder) {
  reader::TraceBuilder builder(1);
  reader::ShapeWriter barrier("MPI_Barrier");
  const uint32_t call = builder.signature(barrier.none().object(builder.world()));
  builder.group({0}, {call, call, call});
  builder.times(0, {{100, 200}, {250, 300}, {400, 500}});
  builder.data().totals[0].own_ns = 90;
  const Trace trace = builder.open();
  GapsOfTimes gaps(trace, 0);
  EXPECT_EQ(gaps.before(at(100, 200)), 0u);
  EXPECT_EQ(gaps.before(at(250, 300)), 0u);
  EXPECT_EQ(gaps.before(at(400, 500)), 60u);
}

TEST(Pace, SpendsWhatWasRecordedTimesTheScale) {
  for (const Compute compute : {Compute::kSleep, Compute::kSpin}) {
    PaceClock clock;
    Pace pace({compute, 2}, std::make_unique<GapsOfTimes>(), clock);
    const auto begin = std::chrono::steady_clock::now();
    for (uint64_t i = 0; i < 10; ++i) {
      pace.before(at(i * 1000000, i * 1000000 + 500000));
      pace.after();
    }
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    EXPECT_EQ(pace.wanted_ns(), 9u * 1000000);
    EXPECT_GE(took.count(), 8.9);
    EXPECT_GE(pace.spent_ns(), pace.wanted_ns());
  }
}

TEST(Pace, NoneSpendsNothing) {
  PaceClock clock;
  Pace pace({Compute::kNone, 1}, std::make_unique<GapsOfTimes>(), clock);
  pace.before(at(0, 1));
  pace.before(at(uint64_t{1} << 60, uint64_t{1} << 61));
  EXPECT_EQ(pace.wanted_ns(), 0u);
}

}  // namespace
}  // namespace refrain::replay
