#include "sim/engine/engine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "sim/engine/testing/random_script.h"
#include "sim/engine/testing/script.h"

namespace refrain::sim {
namespace {

using testing::copied;
using testing::kL;
using testing::kReceive;
using testing::kSend;
using testing::plain_machine;
using testing::RandomScript;
using testing::receive;
using testing::Script;
using testing::ScriptCall;
using testing::ScriptEnd;
using testing::ScriptRank;
using testing::ScriptTimes;
using testing::send;
using testing::simulate;
using testing::stream;

constexpr uint32_t kSlot = 0, kOther = 1;

ScriptCall post(bool sends, uint32_t channel, uint32_t to, uint64_t bytes, uint32_t request) {
  return {0, {{sends, channel, to, request, bytes}}, {}};
}
ScriptCall wait(uint32_t request, uint64_t computes) { return {computes, {}, {request}}; }

TEST(Engine, PingPong) {
  const Machine machine = plain_machine();
  for (const uint64_t bytes : {uint64_t{0}, uint64_t{100}, uint64_t{1000}}) {
    Script script;
    script.ranks = {{send(0, 1, bytes), receive(1)}, {receive(0), send(1, 0, bytes)}};
    const Time one = kSend + copied(bytes) + kL + stream(bytes) + kReceive + copied(bytes);
    EXPECT_EQ(simulate(machine, script).calls[0][1].end, 2 * one) << bytes;
  }
}

TEST(Engine, RendezvousPingPong) {
  const Machine machine = plain_machine();
  constexpr uint64_t kBytes = 10000;
  Script script;
  script.ranks = {{send(0, 1, kBytes), receive(1)}, {receive(0), send(1, 0, kBytes)}};
  // Request, answer, data.
  const Time one = std::max(kSend + 2 * kL, kSend + copied(kBytes)) + kL + stream(kBytes) +
                   kReceive + copied(kBytes);
  const ScriptTimes times = simulate(machine, script);
  EXPECT_EQ(times.calls[0][0].end, kSend + 2 * kL + stream(kBytes));
  EXPECT_EQ(times.calls[0][1].end, 2 * one);
}

TEST(Engine, AHandshakeOfItsOwnTime) {
  Machine machine = plain_machine();
  constexpr Time kHandshake = 300;
  for (Protocol& protocol : machine.distances)
    for (SizeRange& range : protocol.ranges) range.handshake.value = kHandshake;
  constexpr uint64_t kBytes = 10000;
  Script script;
  script.ranks = {{send(0, 1, kBytes)}, {receive(0, 50000)}};
  const ScriptTimes times = simulate(machine, script);
  EXPECT_EQ(times.calls[0][0].end, 50000 + kHandshake + stream(kBytes));
  EXPECT_EQ(times.calls[1][0].end,
            50000 + kHandshake + kL + stream(kBytes) + kReceive + copied(kBytes));
}

TEST(Engine, SynchronousSendWaitsForItsReceive) {
  const Machine machine = plain_machine();
  Script script;
  script.ranks = {{{0, {{true, 0, 1, kSlot, 10, true}}, {kSlot}}}, {receive(0, 50000)}};
  EngineResult result;
  const ScriptTimes times = simulate(machine, script, &result);
  EXPECT_EQ(times.calls[0][0].end, 50000 + kL + stream(10));
  EXPECT_EQ(times.calls[1][0].end, 50000 + 2 * kL + stream(10) + kReceive + copied(10));
  // The receiver was not there until 50000.
  EXPECT_EQ(result.ranks[0].waited, 50000 - kSend - copied(10));
  EXPECT_EQ(result.ranks[0].communicated, kSend + copied(10) + kL + stream(10));
  EXPECT_EQ(result.ranks[1].computed, 50000);
  EXPECT_EQ(result.ranks[1].waited, 0);
}

// The data of an acknowledged message are there at once; its sender waits until the receiver is in
// a call, be it one for something else.
TEST(Engine, AnAcknowledgedSendWaitsForItsReceiverToBeInMpi) {
  constexpr Time kHandshake = 300;
  const Machine machine = plain_machine("acknowledged_above = 90", "handshake = 300");
  const auto first_send = [&](uint64_t bytes, EngineResult* result) {
    Script script;
    // The receiver makes a call at 20000 that has nothing to do with it, and receives at 50000.
    script.ranks = {{send(0, 1, bytes)},
                    {post(true, 1, 0, 0, kOther), wait(kOther, 20000), receive(0, 30000)},
                    {}};
    return simulate(machine, script, result);
  };
  EngineResult result;
  EXPECT_EQ(first_send(90, &result).calls[0][0].end, kSend + copied(90));
  const ScriptTimes large = first_send(100, &result);
  const Time entered = kSend + 20000;
  EXPECT_EQ(large.calls[0][0].end, entered + kReceive + copied(100) + kHandshake);
  EXPECT_EQ(large.calls[1][2].begin, 50000 + kSend);
  EXPECT_EQ(large.calls[1][2].end, 50000 + kSend + kReceive + copied(100) + 30 + 20);
  EXPECT_EQ(result.ranks[0].waited, entered - kSend - copied(100));
  // A receiver that waits for it acknowledges at once.
  Script script;
  script.ranks = {{send(0, 1, 100)}, {receive(0)}};
  EXPECT_EQ(simulate(machine, script).calls[0][0].end,
            kSend + kL + stream(100) + kReceive + 2 * copied(100) + kHandshake);
  script.ranks = {{send(0, 0, 100), receive(0)}};
  EXPECT_EQ(simulate(machine, script).calls[0][0].end, kSend + copied(100));
  script.ranks = {{send(0, 1, 100), receive(1)}, {send(1, 0, 100), receive(0)}};
  EXPECT_FALSE(simulate(machine, script).is_stuck);
}

TEST(Engine, LateReceiverCopies) {
  const Machine machine = plain_machine();
  Script script;
  script.ranks = {{send(0, 1, 100)}, {receive(0, 5000)}};
  EXPECT_EQ(simulate(machine, script).calls[1][0].end, 5000 + kReceive + copied(100) + 30 + 20);
}

TEST(Engine, LateSenderIsWaitedFor) {
  const Machine machine = plain_machine();
  Script script;
  script.ranks = {{send(0, 1, 100, 5000)}, {receive(0, 1000)}};
  EngineResult result;
  simulate(machine, script, &result);
  EXPECT_EQ(result.ranks[1].computed, 1000);
  EXPECT_EQ(result.ranks[1].waited, 4000);
  EXPECT_EQ(result.ranks[1].communicated,
            kSend + copied(100) + kL + stream(100) + kReceive + copied(100));
}

TEST(Engine, Ring) {
  const Machine machine = plain_machine();
  constexpr uint32_t kRanks = 7;
  Script script;
  for (uint32_t r = 0; r < kRanks; ++r) {
    const uint32_t next = (r + 1) % kRanks, before = (r + kRanks - 1) % kRanks;
    if (r == 0)
      script.ranks.push_back({send(r, next, 8), receive(before)});
    else
      script.ranks.push_back({receive(before), send(r, next, 8)});
  }
  const Time one = kSend + 1 + kL + stream(8) + kReceive + 1;
  EXPECT_EQ(simulate(machine, script).calls[0][1].end, kRanks * one);
}

TEST(Engine, FanInIsOneAtATime) {
  const Machine machine = plain_machine();
  constexpr uint32_t kRanks = 9;
  Script script;
  ScriptCall all;
  for (uint32_t r = 1; r < kRanks; ++r) {
    all.posts.push_back({false, r, 0, r, 0});
    all.waits.push_back(r);
  }
  script.ranks.push_back({all});
  for (uint32_t r = 1; r < kRanks; ++r) script.ranks.push_back({send(r, 0, 1000)});
  // The interface takes 500 ns for each, the processor 300.
  const Time first = kSend + copied(1000) + kL;
  EXPECT_EQ(simulate(machine, script).calls[0][0].end,
            first + (kRanks - 1) * stream(1000) + kReceive + copied(1000));
  for (ScriptEnd& end : script.ranks[0][0].posts) end.bytes = 0;
  for (uint32_t r = 1; r < kRanks; ++r) script.ranks[r][0].posts[0].bytes = 0;
  // The processor takes 200, the gap is 50.
  EXPECT_EQ(simulate(machine, script).calls[0][0].end, kSend + kL + (kRanks - 1) * kReceive);
}

TEST(Engine, GapBetweenSends) {
  const Machine machine = plain_machine();
  Script script;
  ScriptCall sends;
  testing::ScriptRank receives;
  for (uint32_t i = 0; i < 5; ++i) {
    sends.posts.push_back({true, 0, 1, i, 800});
    sends.waits.push_back(i);
    receives.push_back(receive(0));
  }
  script.ranks = {{sends}, receives};
  const ScriptTimes times = simulate(machine, script);
  EXPECT_EQ(times.calls[0][0].end, 5 * (kSend + 80));
  EXPECT_EQ(times.calls[1][4].end, kSend + 80 + kL + 5 * stream(800) + kReceive + 80);
}

// A receive that is posted, then the program computes: the answer waits for the next call.
TEST(Engine, OverlapIsAShareOfTheBytes) {
  constexpr uint64_t kBytes = 100000;
  const auto run = [&](const char* overlap, uint64_t computes) {
    const Machine machine = plain_machine(overlap);
    Script script;
    script.ranks = {{send(0, 1, kBytes)}, {post(false, 0, 0, 0, kOther), wait(kOther, computes)}};
    return simulate(machine, script).calls[1][1].end;
  };
  const Time asked = kSend + kL, cost = kReceive + copied(kBytes);
  const Time begins = std::max(asked + kL, kSend + copied(kBytes));
  EXPECT_EQ(run("", 500000), 500000 + 2 * kL + stream(kBytes) + cost);
  EXPECT_EQ(run("overlap = 1", 500000), 500000 + cost);
  EXPECT_EQ(run("overlap = 1", 20000), begins + kL + stream(kBytes) + cost);
  EXPECT_EQ(run("overlap = 0.25", 500000), 500000 + stream(kBytes) * 3 / 4 + cost);
  EXPECT_EQ(run("overlap = 0.25", 12000), std::max<Time>(12000, begins + kL + stream(kBytes) / 4) +
                                              stream(kBytes) * 3 / 4 + cost);
}

TEST(Engine, MessagesOfAChannelKeepTheirOrder) {
  const Machine machine = plain_machine();
  Script script;
  // A large one, which waits for its receive, then a small one.
  script.ranks = {{post(true, 0, 1, 5000, 2), send(0, 1, 0), wait(2, 0)},
                  {receive(0, 9000), receive(0)}};
  const ScriptTimes times = simulate(machine, script);
  ASSERT_FALSE(times.is_stuck);
  EXPECT_EQ(times.calls[1][0].end, 9000 + 2 * kL + stream(5000) + kReceive + copied(5000));
  EXPECT_EQ(times.calls[1][1].end, times.calls[1][0].end + kReceive + 30);
}

TEST(Engine, ADeadlockEndsAndIsNamed) {
  const Machine machine = plain_machine();
  Script script;
  script.ranks = {{receive(0), send(1, 1, 8)}, {receive(1, 77), send(0, 0, 8)}, {}};
  EngineResult result;
  EXPECT_TRUE(simulate(machine, script, &result).is_stuck);
  ASSERT_EQ(result.stuck.size(), 2U);
  EXPECT_EQ(result.stuck[1].rank, 1U);
  EXPECT_EQ(result.stuck[1].tag, 0U);
  EXPECT_EQ(result.stuck[1].since, 77);
}

TEST(Engine, NodesHaveSpeeds) {
  Machine machine = plain_machine();
  machine.node_kinds = {{1, 1, 4.0}};
  Script script;
  script.ranks = {{send(0, 1, 0, 1000)}, {receive(0, 1000)}};
  EXPECT_EQ(simulate(machine, script).calls[1][0].begin, 250);
}

// Where no message comes before an earlier one of its sender, matching by envelopes changes
// nothing.
TEST(Engine, RandomProgramsMatchByEnvelopesAsByChannels) {
  const Machine machine = plain_machine();
  int compared = 0;
  for (uint32_t seed = 0; seed < 200; ++seed) {
    RandomScript random(seed, 2 + seed % 5);
    for (ScriptRank& rank : random.script.ranks)
      for (ScriptCall& call : rank)
        for (ScriptEnd& end : call.posts) end.bytes %= 1000, end.is_synchronous = false;
    bool has_tie = false;
    (void)reference(machine, random.script, has_tie);
    if (has_tie) continue;
    ++compared;
    EngineResult result;
    const ScriptTimes wanted = simulate(machine, random.script);
    const ScriptTimes got = simulate(machine, random.script, &result, false, true);
    ASSERT_FALSE(got.is_stuck) << seed;
    EXPECT_EQ(got.calls, wanted.calls) << seed;
    EXPECT_EQ(result.changed, 0U) << seed;
  }
  EXPECT_GT(compared, 50);
}

TEST(Engine, RandomProgramsAreAsInTheReference) {
  const Machine machines[] = {plain_machine(),
                              plain_machine("overlap = 0.375"),
                              plain_machine("overlap = 1"),
                              plain_machine("", "crossing = 70\ncrossing_per_byte = 0.3"),
                              plain_machine("acknowledged_above = 63", "handshake = 300"),
                              plain_machine("acknowledged_above = 64\noverlap = 0.5")};
  int compared = 0;
  for (uint32_t seed = 0; seed < 1200; ++seed) {
    const Machine& machine = machines[seed % std::size(machines)];
    const RandomScript random(seed, 2 + seed % 5);
    bool has_tie = false;
    const ScriptTimes wanted = reference(machine, random.script, has_tie);
    ASSERT_FALSE(wanted.is_stuck) << seed;
    if (has_tie) continue;
    ++compared;
    const ScriptTimes got = simulate(machine, random.script);
    ASSERT_FALSE(got.is_stuck) << seed;
    for (size_t r = 0; r < got.calls.size(); ++r)
      for (size_t c = 0; c < got.calls[r].size(); ++c) {
        ASSERT_EQ(got.calls[r][c].begin, wanted.calls[r][c].begin)
            << "seed " << seed << " rank " << r << " call " << c;
        ASSERT_EQ(got.calls[r][c].end, wanted.calls[r][c].end)
            << "seed " << seed << " rank " << r << " call " << c;
      }
  }
  EXPECT_GT(compared, 300);
}

// Rank 0 sends for ever, and nobody receives.
class EndlessSends : public ActionSource {
 public:
  void fill(AgentId agent, Batch& batch) override {
    if (agent != 0) return;
    Action send;
    send.kind = ActionKind::kSend;
    send.peer = 1;
    send.amount = 8;
    batch.actions.assign(50, send);
  }
};

TEST(Engine, MessagesThatNobodyReceivesAreBounded) {
  for (const bool is_free : {false, true}) {
    Machine machine = plain_machine();
    for (Protocol& protocol : machine.distances)
      for (SizeRange& range : protocol.ranges)
        if (is_free) range = SizeRange();  // time stands still
    const Costs costs(machine, *machine.places_for(2));
    EndlessSends source;
    EngineOptions options;
    options.most_messages = 1000;
    Engine engine(costs, source, options);
    engine.add(0);
    engine.add(1);
    const EngineResult result = engine.run();
    EXPECT_TRUE(result.is_full);
    EXPECT_EQ(result.most_messages, 1001U);
  }
}

// Times that no number holds end the run, be they of processors, of interfaces or of both.
TEST(Engine, RunsWithoutAnEndInTimeStop) {
  for (const int what : {0, 1, 2}) {
    Machine machine = plain_machine();
    for (Protocol& protocol : machine.distances)
      for (SizeRange& range : protocol.ranges) {
        range = SizeRange();
        if (what != 1) range.send.value = 1e17;
        if (what != 0) range.gap.value = 1e17;
      }
    const Costs costs(machine, *machine.places_for(2));
    EndlessSends source;
    Engine engine(costs, source, {});
    engine.add(0);
    engine.add(1);
    const EngineResult result = engine.run();
    EXPECT_TRUE(result.is_late);
    EXPECT_LT(result.messages, 100U);
    EXPECT_GE(result.ranks[0].communicated, 0);
  }
}

}  // namespace
}  // namespace refrain::sim
