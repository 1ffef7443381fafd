// Tags: two ends of a message find the same one, and messages that are under way differ.
#include "events/by_rank/skeleton.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>
#include <vector>

#include "reader/test_trace.h"

namespace refrain::events {
namespace {

TEST(Tags, TellMessagesOfAPairApart) {
  Tags sender;
  std::set<uint32_t> seen;
  for (CommKey comm = 0; comm < 3; ++comm)
    for (int64_t tag = -1; tag < 3; ++tag)
      for (uint64_t number = 0; number < Tags::kAtATime; ++number)
        EXPECT_TRUE(seen.insert(sender.of(comm, tag, number)).second);
  EXPECT_EQ(sender.of(1, 2, 5), sender.of(1, 2, 5));
  EXPECT_EQ(sender.of(1, 2, Tags::kAtATime), sender.of(1, 2, 0));
  EXPECT_EQ(seen.count(sender.of_collective(0, 0)), 0u);
  EXPECT_LT(*seen.rbegin(), 1u << 31);
}

struct Computed : SkeletonSink {
  void compute(uint64_t ns) override { computed.push_back(ns); }
  void exchange(const std::vector<SkeletonEnd>&) override {}
  void post(const SkeletonEnd&, uint64_t) override {}
  void wait(uint64_t) override {}
  void collective(const Op&, const Signature&, uint64_t, std::optional<uint64_t>) override {}
  std::vector<uint64_t> computed;
};

// A barrier, 10 calls of 10 ns that do not communicate, and a barrier; 100 ns between them.
TEST(Skeleton, LeavesOutTheRecordersOwnWork) {
  reader::TraceBuilder builder(2);
  const uint32_t world = builder.world();
  reader::ShapeWriter barrier("MPI_Barrier"), ask("MPI_Comm_size");
  std::vector<uint32_t> calls(12, builder.signature(ask.none().object(world).integer(1)));
  calls.front() = calls.back() = builder.signature(barrier.none().object(world));
  builder.group({0, 1}, calls);
  std::vector<std::pair<uint64_t, uint64_t>> times;
  for (uint64_t i = 0; i < calls.size(); ++i) times.emplace_back(i * 110, i * 110 + 10);
  for (const uint64_t rank : {0, 1}) builder.times(rank, times);
  const auto computed = [&] {
    const Trace trace = builder.open();
    Tally tally;
    const Progress progress;
    Scope scope(trace, {}, progress, tally);
    World all(trace);
    Survey survey(scope, all);
    EXPECT_TRUE(survey.run().ok());
    Tags tags;
    Computed sink;
    Skeleton skeleton(scope, survey, tags, sink, Threads::kApart);
    RankEvents events(scope, all, 0);
    while (const Event* const event = events.next()) skeleton.add(*event);
    skeleton.finish();
    return sink.computed;
  };
  EXPECT_EQ(computed(), std::vector<uint64_t>{1200});
  // 60 ns in a piece, and 20 ns for each call.
  builder.data().totals[0].own_ns = 60 + 12 * 20;
  builder.data().own_work = {{0, 0, {{5, 60}}}};
  EXPECT_EQ(computed(), std::vector<uint64_t>{1200 - 60 - 12 * 20});
}

}  // namespace
}  // namespace refrain::events
