// Receives from any sender: what they take, when, and what of it is a change.
#include <gtest/gtest.h>

#include <utility>

#include "sim/engine/engine.h"
#include "sim/engine/testing/script.h"

namespace refrain::sim {
namespace {

constexpr uint32_t kQueue = 0;

class Actions : public ActionSource, public Observer {
 public:
  explicit Actions(std::vector<std::vector<Action>> ranks) : ranks_(std::move(ranks)) {
    ends.resize(ranks_.size());
  }
  void fill(AgentId agent, Batch& batch) override {
    batch.actions = std::exchange(ranks_[agent], {});
  }
  void call(AgentId agent, uint64_t, Time, Time end) override { ends[agent].push_back(end); }

  std::vector<std::vector<Time>> ends;  // of the calls of each rank

 private:
  std::vector<std::vector<Action>> ranks_;
};

Action make(ActionKind kind, uint64_t amount = 0) {
  Action out;
  out.kind = kind;
  out.amount = amount;
  return out;
}
// As a call of its own.
void put(std::vector<Action>& to, const Action& action) {
  to.push_back(make(ActionKind::kEnter));
  to.push_back(action);
  to.push_back(make(ActionKind::kWait));
  to.back().request = 0;
  to.push_back(make(ActionKind::kLeave));
}
void send(std::vector<Action>& from, uint32_t channel, uint64_t bytes, uint64_t tag) {
  Action action = make(ActionKind::kSend, bytes);
  action.channel = channel;
  action.request = 0;
  action.is_matched_here = true;
  action.first = kQueue;
  action.tag = tag;
  put(from, action);
}
void receive(std::vector<Action>& at, uint32_t channel, uint32_t sender, int64_t tag) {
  Action action = make(ActionKind::kReceive);
  action.channel = channel;
  action.request = 0;
  action.is_matched_here = true;
  action.first = kQueue;
  action.peer = sender;
  action.takes_any_tag = tag < 0;
  action.tag = static_cast<uint64_t>(tag);
  put(at, action);
}

struct Ran {
  EngineResult result;
  std::vector<std::vector<Time>> ends;
};
Ran run(std::vector<std::vector<Action>> ranks) {
  const Machine machine = testing::plain_machine();
  const Costs costs(machine, *machine.places_for(ranks.size()));
  Actions actions(ranks);
  Engine engine(costs, actions, {});
  engine.observe(&actions);
  for (uint32_t rank = 0; rank < ranks.size(); ++rank) engine.add(rank);
  Ran out;
  out.result = engine.run();
  out.ends = actions.ends;
  return out;
}

// plain_machine()
constexpr Time kL = 1000, kSend = 100, kReceive = 200;

TEST(Envelopes, AnySenderIsTheFirstToCome) {
  std::vector<std::vector<Action>> ranks(3);
  receive(ranks[0], 1, kAnySender, 7);  // took rank 1's message when it was recorded
  receive(ranks[0], 2, kAnySender, 7);
  ranks[1].push_back(make(ActionKind::kCompute, 50000));
  send(ranks[1], 1, 0, 7);
  send(ranks[2], 2, 0, 7);
  const Ran ran = run(ranks);
  EXPECT_TRUE(ran.result.stuck.empty());
  EXPECT_EQ(ran.result.changed, 2U);
  EXPECT_EQ(ran.ends[0], (std::vector<Time>{kSend + kL + kReceive, 50000 + kSend + kL + kReceive}));
}

TEST(Envelopes, ANamedSenderAndATagAreWaitedFor) {
  std::vector<std::vector<Action>> ranks(3);
  receive(ranks[0], 1, 1, -1);
  receive(ranks[0], 3, kAnySender, 9);
  receive(ranks[0], 2, kAnySender, -1);
  ranks[1].push_back(make(ActionKind::kCompute, 50000));
  send(ranks[1], 1, 0, 7);
  send(ranks[2], 2, 0, 8);
  send(ranks[2], 3, 0, 9);
  const Ran ran = run(ranks);
  EXPECT_TRUE(ran.result.stuck.empty());
  EXPECT_EQ(ran.result.changed, 0U);
  EXPECT_EQ(ran.ends[0][0], 50000 + kSend + kL + kReceive);
}

// The large message asks first and comes last.
TEST(Envelopes, MessagesOfOneSenderDoNotOvertake) {
  std::vector<std::vector<Action>> ranks(2);
  ranks[0].push_back(make(ActionKind::kCompute, 100000));
  receive(ranks[0], 1, kAnySender, -1);
  receive(ranks[0], 2, kAnySender, -1);
  // Both are on their way before the first is received.
  for (const auto& [channel, bytes] : {std::pair<uint32_t, uint64_t>{1, 10000}, {2, 10}}) {
    Action action = make(ActionKind::kSend, bytes);
    action.channel = channel;
    action.request = channel;
    action.is_matched_here = true;
    action.first = kQueue;
    ranks[1].push_back(make(ActionKind::kEnter));
    ranks[1].push_back(action);
    ranks[1].push_back(make(ActionKind::kLeave));
  }
  ranks[1].push_back(make(ActionKind::kEnter));
  ranks[1].push_back(make(ActionKind::kWait));
  ranks[1].back().request = 1;
  ranks[1].push_back(make(ActionKind::kLeave));
  const Ran ran = run(ranks);
  EXPECT_TRUE(ran.result.stuck.empty());
  EXPECT_EQ(ran.result.changed, 0U);
  EXPECT_GE(ran.ends[0][0], 100000 + kL + 5000);  // 10000 bytes at 0.5 ns
}

TEST(Envelopes, WhoWaitsForNobodyIsStuck) {
  std::vector<std::vector<Action>> ranks(2);
  receive(ranks[0], 1, kAnySender, 3);
  send(ranks[1], 1, 0, 4);
  const Ran ran = run(ranks);
  ASSERT_EQ(ran.result.stuck.size(), 1U);
  EXPECT_EQ(ran.result.stuck[0].rank, 0U);
}

}  // namespace
}  // namespace refrain::sim
