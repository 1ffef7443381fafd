#include "sim/run/fill_ahead.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "format/encode/encode.h"
#include "sim/run/simulate.h"
#include "sim/testing/programs.h"

namespace refrain::sim {
namespace {

// Agent N has N batches of 3 actions, whose amounts count.
class Counting : public ActionSource {
 public:
  explicit Counting(size_t agents) : made_(agents) {}
  void fill(AgentId agent, Batch& batch) override {
    if (agent == fails_at) throw std::runtime_error("cannot read");
    if (made_[agent]++ == agent) return;
    for (uint64_t i = 0; i < 3; ++i) {
      batch.actions.emplace_back();
      batch.actions.back().amount = 3 * made_[agent] + i;
    }
  }
  AgentId fails_at = UINT32_MAX;

 private:
  std::vector<uint64_t> made_;
};

TEST(FillAhead, EachAgentHasItsActionsInOrder) {
  constexpr size_t kAgents = 50;
  Counting direct(kAgents), made(kAgents);
  FillAhead ahead(made);
  ahead.start(kAgents);
  for (size_t round = 0; round <= kAgents; ++round)
    for (AgentId agent = 0; agent < kAgents; ++agent) {
      if (round > agent) continue;  // it has ended
      Batch wanted, got;
      direct.fill(agent, wanted);
      ahead.fill(agent, got);
      ASSERT_EQ(got.actions.size(), wanted.actions.size());
      for (size_t i = 0; i < got.actions.size(); ++i)
        EXPECT_EQ(got.actions[i].amount, wanted.actions[i].amount);
    }
  ahead.stop();
}

TEST(FillAhead, WhatTheSourceThrowsComesToTheEngine) {
  Counting made(3);
  made.fails_at = 1;
  FillAhead ahead(made);
  ahead.start(3);
  Batch batch;
  EXPECT_THROW(for (int i = 0; i < 3; ++i) ahead.fill(1, batch), std::runtime_error);
}

TEST(FillAhead, MayBeStoppedBeforeItsEnd) {
  Counting made(1000);
  FillAhead ahead(made);
  ahead.start(1000);
  Batch batch;
  ahead.fill(999, batch);
  ahead.stop();
  EXPECT_EQ(batch.actions.size(), 3U);
}

// A simulation is the same with and without.
TEST(FillAhead, SimulationsAreEqual) {
  constexpr uint64_t kRanks = 12;
  const auto machine = parse_machine(testing::kSwitchMachine, "m.toml");
  ASSERT_TRUE(machine.ok());
  for (const bool waves : {false, true}) {
    const auto data = testing::merged(kRanks, [&](uint64_t rank) {
      return waves ? testing::lu(rank, {4, 3}, 40, 30)
                   : testing::halo(rank, {4, 3}, 600, true, 900);
    });
    ASSERT_TRUE(data.ok());
    const auto bytes = format::encode(*data);
    ASSERT_TRUE(bytes.ok());
    const auto trace = Trace::from_bytes(*bytes, "made");
    ASSERT_TRUE(trace.ok());
    SimulateOptions options;
    const auto direct = simulate(*trace, *machine, options);
    options.reads_ahead = true;
    const auto ahead = simulate(*trace, *machine, options);
    ASSERT_TRUE(direct.ok() && ahead.ok());
    EXPECT_EQ(ahead->predicted_ns, direct->predicted_ns);
    EXPECT_EQ(ahead->calls, direct->calls);
    EXPECT_EQ(ahead->events, direct->events);
    EXPECT_EQ(ahead->not_lowered, direct->not_lowered);
    for (size_t rank = 0; rank < kRanks; ++rank) {
      EXPECT_EQ(ahead->ranks[rank].waited, direct->ranks[rank].waited) << rank;
      EXPECT_EQ(ahead->ranks[rank].computed, direct->ranks[rank].computed) << rank;
    }
  }
}

}  // namespace
}  // namespace refrain::sim
