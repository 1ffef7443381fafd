// Requests of which some are waited for, meetings, locks, windows, files, agents in the background.
#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "sim/engine/engine.h"
#include "sim/engine/testing/script.h"

namespace refrain::sim {
namespace {

constexpr Time kL = 1000, kSend = 100, kReceive = 200;

Action action(ActionKind kind, uint32_t request = kNoRequest, uint32_t channel = 0,
              uint32_t peer = 0, uint64_t amount = 0) {
  Action out;
  out.kind = kind;
  out.request = request;
  out.channel = channel;
  out.peer = peer;
  out.amount = amount;
  return out;
}
Action compute(uint64_t ns) { return action(ActionKind::kCompute, kNoRequest, 0, 0, ns); }
Action enter(uint64_t tag = 0) {
  Action out = action(ActionKind::kEnter);
  out.tag = tag;
  return out;
}
Action leave() { return action(ActionKind::kLeave); }
Action wait(uint32_t request) { return action(ActionKind::kWait, request); }

// Agents with all their actions at once. Requests of waits are in `requests`.
class Lists : public ActionSource, public Observer {
 public:
  std::vector<std::vector<Action>> agents;
  std::vector<std::vector<uint32_t>> requests;
  std::map<AgentId, std::vector<Time>> ends;
  std::vector<AgentId> gone;

  void fill(AgentId agent, Batch& batch) override {
    if (agent >= agents.size()) return;
    batch.actions = std::move(agents[agent]);
    agents[agent].clear();
    if (agent < requests.size()) batch.requests = requests[agent];
  }
  void ended(AgentId agent) override { gone.push_back(agent); }
  void call(AgentId agent, uint64_t, Time, Time end) override { ends[agent].push_back(end); }

  EngineResult run(const Machine& machine, uint32_t ranks, uint32_t background_of = UINT32_MAX,
                   uint32_t second_thread_of = UINT32_MAX) {
    const Costs costs(machine, *machine.places_for(ranks));
    Engine engine(costs, *this, {});
    engine.observe(this);
    for (uint32_t rank = 0; rank < ranks; ++rank) engine.add(rank);
    if (background_of != UINT32_MAX) engine.add_background(background_of);
    if (second_thread_of != UINT32_MAX) engine.add(second_thread_of);
    EngineResult result = engine.run();
    EXPECT_TRUE(result.stuck.empty());
    return result;
  }
};

// The second thread of rank 0 waits from the begin for a receive that the first one posts late, in
// a slot that it uses for another one before that.
TEST(Shared, AThreadWaitsForTheRequestOfAnother) {
  Lists lists;
  Action posted = action(ActionKind::kPosted, 3), await = action(ActionKind::kAwait, 3);
  posted.tag = await.tag = 2;
  Action posted_before = posted;
  posted_before.tag = 1;
  lists.agents = {{enter(), action(ActionKind::kReceive, 3, 1), posted_before, wait(3), leave(),
                   compute(20000), enter(), action(ActionKind::kReceive, 3, 2), posted, leave()},
                  {enter(), action(ActionKind::kSend, 0, 1, 0, 0), leave(), compute(50000), enter(),
                   action(ActionKind::kSend, 1, 2, 0, 0), leave()},
                  {enter(), await, wait(3), leave()}};
  lists.run(testing::plain_machine(), 2, UINT32_MAX, 0);
  EXPECT_EQ(lists.ends[0][0], kSend + kL + kReceive);
  EXPECT_EQ(lists.ends[2][0], kSend + 50000 + kSend + kL + kReceive);
}

// The first thread of rank 0 starts the second one, and waits for its end: that is no time in MPI.
TEST(Shared, AThreadIsStartedAndWaitedFor) {
  Lists lists;
  Action start = action(ActionKind::kPosted, 1), end = action(ActionKind::kPosted, 2);
  Action started = action(ActionKind::kAwait, 1), ended = action(ActionKind::kAwait, 2);
  start.tag = end.tag = started.tag = ended.tag = 1;
  lists.agents = {{compute(1000), start, ended, enter(), leave()},
                  {},
                  {started, compute(500), enter(), leave(), end}};
  const EngineResult result = lists.run(testing::plain_machine(), 2, UINT32_MAX, 0);
  EXPECT_EQ(lists.ends[2][0], 1500);
  EXPECT_EQ(lists.ends[0][0], 1500);
  EXPECT_EQ(result.ranks[0].computed, 1500);
  EXPECT_EQ(result.ranks[0].waited + result.ranks[0].communicated, 0);
}

// Rank 1 sends late, rank 2 early: the first to come is taken under the name that was recorded.
TEST(Shared, WaitsomeTakesWhatIsFirst) {
  Lists lists;
  Action some = action(ActionKind::kWaitSome);
  some.amount = 1;
  some.count = 2;
  lists.requests = {{7, 8}};
  lists.agents = {{enter(), action(ActionKind::kReceive, 7, 1), action(ActionKind::kReceive, 8, 2),
                   some, leave(), enter(), wait(8), leave()},
                  {compute(50000), enter(), action(ActionKind::kSend, 0, 1, 0, 0), leave()},
                  {compute(9000), enter(), action(ActionKind::kSend, 0, 2, 0, 0), leave()}};
  lists.run(testing::plain_machine(), 3);
  EXPECT_EQ(lists.ends[0][0], 9000 + kSend + kL + kReceive);
  EXPECT_EQ(lists.ends[0][1], 50000 + kSend + kL + kReceive);
}

// What is not first keeps what completes it: an agent in the background, two parts, a put, or an
// access to a file, which the wait that was recorded for the first one gets.
TEST(Shared, WaitsomeLeavesWhatIsUnderWay) {
  Machine machine = testing::plain_machine();
  machine.files.bandwidth = 1e9;
  Action some = action(ActionKind::kWaitSome), begin = action(ActionKind::kBegin, 7);
  some.amount = 1;
  some.count = 2;
  begin.peer = 3;
  const Time late = 50000 + kSend + kL + kReceive;
  const std::vector<std::pair<std::vector<Action>, Time>> cases = {
      {{begin}, late},
      {{action(ActionKind::kReceive, 7, 1), action(ActionKind::kReceive, 7, 3)}, late},
      {{action(ActionKind::kPut, 7, 0, 1, 100000)}, kSend + 10000 + kL + 50000 + kL},
      {{action(ActionKind::kAccess, 7, 0, 0, 80000)}, 80000}};
  for (const auto& [posts, ends] : cases) {
    Lists lists;
    std::vector<Action> first = {enter()};
    first.insert(first.end(), posts.begin(), posts.end());
    for (const Action& one : {action(ActionKind::kReceive, 8, 2), some, leave(), enter(), wait(8),
                              leave(), enter(), wait(7), leave()})
      first.push_back(one);
    lists.requests = {{7, 8}};
    lists.agents = {first,
                    {compute(50000), enter(), action(ActionKind::kSend, 0, 1, 0, 0), leave()},
                    {enter(), action(ActionKind::kSend, 0, 2, 0, 0),
                     action(ActionKind::kSend, 0, 3, 0, 0), leave()},
                    {action(ActionKind::kReceive, 9, 1), wait(9)}};
    lists.run(machine, 3, 0);
    ASSERT_EQ(lists.ends[0].size(), 3U);
    EXPECT_LT(lists.ends[0][0], 30000);
    EXPECT_NEAR(lists.ends[0][1], ends, 500);
    EXPECT_EQ(lists.ends[0][2], lists.ends[0][1]);
  }
}

TEST(Shared, AMeetingEndsForAllTogether) {
  Lists lists;
  Action meet = action(ActionKind::kMeet, kNoRequest, 0, 0, 33);
  meet.tag = 5;
  meet.count = 3;
  for (const uint64_t late : {uint64_t{0}, uint64_t{700}, uint64_t{300}})
    lists.agents.push_back({compute(late), enter(), meet, leave()});
  const EngineResult result = lists.run(testing::plain_machine(), 3);
  for (AgentId i = 0; i < 3; ++i) EXPECT_EQ(lists.ends[i][0], 733);
  EXPECT_EQ(result.ranks[0].waited, 700);
  EXPECT_EQ(result.ranks[2].waited, 400);
  EXPECT_EQ(result.ranks[1].waited, 0);
  for (const RankTimes& rank : result.ranks) EXPECT_EQ(rank.communicated, 33);
}

// Two ranks lock a window of rank 0 for themselves: the second waits until the first has unlocked.
TEST(Shared, LocksAreQueued) {
  Lists lists;
  const auto lock = [](bool locks, bool is_exclusive) {
    Action out = action(locks ? ActionKind::kLock : ActionKind::kUnlock, 3);
    out.tag = 77;
    out.is_exclusive = is_exclusive;
    return out;
  };
  for (const bool is_exclusive : {true, false}) {
    lists.ends.clear();
    lists.agents = {{}};
    for (const uint64_t late : {uint64_t{0}, uint64_t{10}})
      lists.agents.push_back({compute(late), enter(), lock(true, is_exclusive), wait(3), leave(),
                              compute(5000), enter(), lock(false, is_exclusive), leave()});
    lists.run(testing::plain_machine(), 3);
    const Time first = kSend + 2 * kL;
    EXPECT_EQ(lists.ends[1][0], first);
    // The first one's unlock is with the target 5000 + kSend + kL after it has got the lock.
    EXPECT_EQ(lists.ends[2][0], is_exclusive ? first + 5000 + kSend + kL + kL : 10 + first);
  }
}

TEST(Shared, PutsAndGets) {
  Lists lists;
  lists.agents = {{enter(), action(ActionKind::kPut, 1, 0, 1, 2000), leave(), enter(), wait(1),
                   leave(), enter(), action(ActionKind::kGet, 1, 0, 1, 2000), wait(1), leave()},
                  {}};
  lists.run(testing::plain_machine(), 2);
  const Time put = kSend + 200;
  EXPECT_EQ(lists.ends[0][0], put);
  EXPECT_EQ(lists.ends[0][1], put + kL + 1000 + kL);
  // Asked, then the data, then what the processor takes.
  EXPECT_EQ(lists.ends[0][2], lists.ends[0][1] + kSend + kL + kL + 1000 + kReceive + 200);
}

TEST(Shared, AccessesShareAFileServer) {
  Machine machine = testing::plain_machine();
  machine.files.bandwidth = 1e9;
  machine.files.latency_ns = 40;
  machine.files.servers = 2;
  Lists lists;
  for (const uint32_t file : {0U, 2U, 1U})
    lists.agents.push_back(
        {enter(), action(ActionKind::kAccess, 0, 0, file, 5000), wait(0), leave()});
  const EngineResult result = lists.run(machine, 3);
  EXPECT_EQ(lists.ends[0][0], 10040);  // files 0 and 2 are on one server
  EXPECT_EQ(lists.ends[1][0], 10040);
  EXPECT_EQ(lists.ends[2][0], 5040);
  ASSERT_EQ(result.links.size(), 2U);
  EXPECT_EQ(result.links[0].bytes, 10000);
}

// A background agent of rank 1 receives and sends on: only while rank 1 is in a call.
TEST(Shared, BackgroundGoesOnInsideOfCallsOnly) {
  const auto run = [&](const char* overlap, uint64_t computes) {
    Lists lists;
    Action begin = action(ActionKind::kBegin, 4);
    begin.peer = 2;
    lists.agents = {{enter(), action(ActionKind::kSend, 0, 0, 1, 0), leave(), enter(),
                     action(ActionKind::kReceive, 1, 1), wait(1), leave()},
                    {enter(), begin, leave(), compute(computes), enter(), wait(4), leave()},
                    {action(ActionKind::kReceive, 9, 0), wait(9),
                     action(ActionKind::kSend, 8, 1, 0, 0), wait(8)}};
    lists.run(testing::plain_machine(overlap), 2, 1);
    EXPECT_EQ(lists.gone, std::vector<AgentId>{2});
    return lists.ends[0][1];
  };
  const Time there = kSend + kL + kReceive;
  EXPECT_EQ(run("", 80000), 80000 + kSend + kL + kReceive);
  EXPECT_EQ(run("", 500), there + kSend + kL + kReceive);
  EXPECT_EQ(run("overlap = 1", 80000), there + kSend + kL + kReceive);
}

}  // namespace
}  // namespace refrain::sim
