#include "sim/engine/testing/script.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

namespace refrain::sim::testing {

Machine plain_machine(const std::string& more, const std::string& of_range) {
  const auto machine = parse_machine(R"(version = 1
[distance.switch]
eager_limit = 1000
unexpected_copy = 30
unexpected_copy_per_byte = 0.2
)" + more + R"(
[[distance.switch.range]]
L = 1000
o_send = 100
o_recv = 200
g = 50
G = 0.5
cpu_per_byte = 0.1
)" + of_range,
                                     "plain");
  if (!machine.ok()) ADD_FAILURE() << machine.error().to_string();
  return *machine;
}

namespace {

class ScriptSource : public ActionSource, public Observer {
 public:
  ScriptSource(const Script& script, ScriptTimes& times, bool by_envelopes)
      : script_(script), times_(times), by_envelopes_(by_envelopes) {
    at_.resize(script.ranks.size());
    times.calls.resize(script.ranks.size());
  }

  void fill(AgentId agent, Batch& batch) override {
    const ScriptRank& rank = script_.ranks[agent];
    if (at_[agent] == rank.size()) return;
    const ScriptCall& call = rank[at_[agent]++];
    const auto add = [&](ActionKind kind) -> Action& {
      batch.actions.emplace_back();
      batch.actions.back().kind = kind;
      return batch.actions.back();
    };
    add(ActionKind::kCompute).amount = call.computes;
    add(ActionKind::kEnter).tag = at_[agent] - 1;
    for (const ScriptEnd& end : call.posts) {
      Action& action = add(end.sends ? ActionKind::kSend : ActionKind::kReceive);
      action.channel = end.channel;
      action.peer = end.peer;
      action.request = end.request;
      action.amount = end.bytes;
      action.is_synchronous = end.is_synchronous;
      if (!by_envelopes_) continue;
      action.is_matched_here = true;
      action.first = end.sends ? end.peer : agent;  // the receiver
      action.tag = end.channel;
      if (!end.sends) action.peer = kAnySender;
    }
    if (!call.waits.empty())
      add(ActionKind::kWaitAll).count = static_cast<uint32_t>(call.waits.size());
    batch.requests = call.waits;
    add(ActionKind::kLeave);
  }
  void call(AgentId agent, uint64_t, Time begin, Time end) override {
    times_.calls[agent].push_back({begin, end});
  }

 private:
  const Script& script_;
  ScriptTimes& times_;
  const bool by_envelopes_;
  std::vector<size_t> at_;
};

}  // namespace

ScriptTimes simulate(const Machine& machine, const Script& script, EngineResult* result,
                     bool has_contention, bool by_envelopes) {
  ScriptTimes times;
  const Costs costs(machine, *machine.places_for(script.ranks.size()));
  ScriptSource source(script, times, by_envelopes);
  EngineOptions options;
  options.has_contention = has_contention;
  Engine engine(costs, source, options);
  engine.observe(&source);
  for (uint32_t rank = 0; rank < script.ranks.size(); ++rank) engine.add(rank);
  EngineResult all = engine.run();
  times.is_stuck = !all.stuck.empty();
  for (const RankTimes& rank : all.ranks) {
    if (times.is_stuck) break;
    EXPECT_EQ(rank.computed + rank.waited + rank.communicated, rank.end - rank.begin);
  }
  if (result != nullptr) *result = std::move(all);
  return times;
}

}  // namespace refrain::sim::testing
