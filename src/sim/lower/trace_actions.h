// TraceActions: the calls of a trace as actions for the engine.
//
// Every rank is read by cursors, some calls ahead of what the engine does; memory is linear in
// ranks, and in what is open on them. docs/simulate.md, "From calls to actions", has the rules.
// What has no rule is counted by function in not_lowered().
//
// Units: ns, bytes. Threads: one.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "events/by_rank/rank_events.h"
#include "events/channel.h"
#include "events/flat_map.h"
#include "refrain/trace.h"
#include "sim/engine/engine.h"
#include "sim/lower/collective_call.h"
#include "sim/lower/compute_times.h"

namespace refrain::sim {

class TraceActions : public ActionSource {
 public:
  // A pause between polls that is computation, not waiting.
  static constexpr uint64_t kLongestPollPause = 10'000;

  // All outlive it. The scope has all ranks of the trace.
  TraceActions(const Trace& trace, const Machine& machine, events::Scope& scope,
               events::DecodedRanks& decoded);
  ~TraceActions() override;

  // Computation is what `times` says, if that is not null, times the factor of the rank, if there
  // are any. Before begin(); both outlive the engine.
  void compute_by(const ComputeTimes* times, const std::vector<double>& factors) {
    times_ = times;
    factors_ = &factors;
  }
  // Receives from any source, or of any tag, take what comes first, instead of what they took when
  // the run was recorded. Before begin().
  void match_by_envelopes() { matches_here_ = true; }
  // An agent for each thread; before the engine runs. The engine outlives the use of this.
  void begin(Engine& engine);
  void fill(AgentId agent, Batch& batch) override;
  void ended(AgentId agent) override;

  // For simulations that leave out iterations (run/skip.h); trace_loops.cc. After begin().
  std::string follow_loops();
  struct LoopDifference {
    double by_rank_ns = 0, computed_ns = 0;
  };
  std::optional<LoopDifference> equal_units();
  void forget_loops();
  uint64_t iterations_left() const;
  uint64_t loop_calls(uint32_t rank) const;  // of an iteration
  // Each rank leaves out so many iterations when it comes to its next one.
  void skip(uint64_t iterations);
  bool is_skipping() const { return skipping_ > 0; }  // some ranks have not yet
  uint64_t skipped_calls() const { return skipped_calls_; }

  struct Place {
    Rank rank = 0;
    uint32_t thread = 0;
  };
  // Of an agent that begin() made.
  Place place(AgentId agent) const;

  // By function, or by what it is; also what the reading of the trace could not tell.
  std::map<std::string, uint64_t> not_lowered() const;
  // Any thread may ask.
  uint64_t calls() const { return calls_.load(std::memory_order_relaxed); }
  static bool has_threads(const Trace& trace);  // several of a rank
  // Whether what an agent does depends on no other one, and begin() knows all agents: no rank has
  // several threads, and no collective goes on beside other calls.
  static bool are_independent(const Trace& trace);
  // Where the times between calls are from: exact, bins, segments, gaps or statistics.
  std::string compute_from() const;

 private:
  // Actions at a time. A rank's tables are far from those of the next one, so they are gone through
  // seldom; 20 KiB a rank.
  static constexpr size_t kBatch = 512;

  struct RankState;
  struct Posts {  // in a slot: how many, and of the last one the thread and the request
    uint64_t uses = 0;
    uint32_t thread = 0;
    uint64_t request = 0;
  };
  struct Running {  // a collective
    const PreparedCollective* what = nullptr;
    const events::Op* op = nullptr;
    int64_t tag = 0;
    uint32_t step = 0;
  };
  struct AgentState {
    RankState* rank = nullptr;
    uint32_t thread = 0;
    bool is_background = false, has_ended = false, is_polling = false, is_first = true;
    bool has_called = false;
    // Where ranks have several threads: slots whose posts say that it may begin, and that it ended.
    uint32_t start = kNoRequest, end = kNoRequest;
    Running running;
    std::vector<uint32_t> free;  // slots
  };

  // trace_actions.cc
  void begin_behind(RankState& rank, const events::Event& init);
  const events::Event* next_event(AgentState& agent);
  void compute(AgentState& agent, const events::Event& event, Batch& batch);
  void lower(AgentState& agent, const events::Event& event, Batch& batch);
  bool lower_steps(AgentState& agent, const events::Event& event, Batch& batch);
  void lower_waits(AgentState& agent, const events::Event& event, Batch& batch,
                   std::vector<uint32_t>& waits);
  uint32_t channel(const events::ChannelKey& key);
  uint32_t new_slot(AgentState& agent);
  uint32_t slot_of(AgentState& agent, const events::Step& step);
  void transfer(AgentState& agent, const events::Step& step, uint32_t slot, Batch& batch);
  // trace_threads.cc
  static Posts& posts_of(RankState& rank, uint32_t slot);
  static void posted(const AgentState& agent, uint32_t slot, Batch& batch);
  static void posted(uint32_t slot, uint64_t use, Batch& batch);
  static void await_post(uint32_t slot, uint64_t use, Batch& batch);
  static bool is_open_here(AgentState& agent, uint32_t slot);
  void lower_done(AgentState& agent, const events::Step& step, Batch& batch,
                  std::vector<uint32_t>& waits);
  void lower_posted(const AgentState& agent, const events::Event& event, Batch& batch);
  void find_starts(RankState& rank, size_t first_agent);
  static void start_threads(AgentState& agent, uint64_t before, Batch& batch);
  static bool is_after_finalize(RankState& rank, const events::Event& event);
  static void lower_end(AgentState& agent, Batch& batch);
  void await_others(const AgentState& agent, Batch& batch);
  // trace_actions.cc
  void wait_for(AgentState& agent, uint32_t slot, Batch& batch, bool is_free_then);
  // trace_loops.cc
  void skip_here(RankState& rank);
  uint64_t loop_gap(const RankState& rank, const events::Event& event, uint64_t ns) const;
  uint64_t loop_own(const RankState& rank, const events::Event& event, uint64_t ns) const;
  // trace_matching.cc
  struct Wildcards {
    bool source = false, tag = false;
  };
  void find_wildcards(RankState& rank);
  Wildcards wildcards_of(const Signature& call);
  const uint32_t* queue_of(events::CommKey comm, Rank dest) const;
  bool receives_unknown(const RankState& rank, const events::Step& step);
  void by_envelope(const RankState& rank, const events::Step& step, Action& action);
  static Action& add(Batch& batch, ActionKind kind);
  // trace_collectives.cc
  const PreparedCollective& prepared(RankState& rank, const events::Op& op, const Signature& call);
  bool begin_collective(AgentState& agent, const events::Event& event, Batch& batch);
  AgentId background(RankState& rank);
  void begin_background(AgentState& agent, const events::Step& step, Batch& batch);
  void begin_beside(RankState& rank, const Running& what, uint32_t slot, Batch& batch);
  const PreparedCollective* prepared_neighbours(RankState& rank, const events::Op& op,
                                                const Signature& call);
  static Running next_exchange(RankState& rank, const PreparedCollective& what,
                               const events::Op& op);
  bool lower_neighbours(AgentState& agent, const events::Event& event, Batch& batch);
  void lower_exchanges(AgentState& agent, const events::Op& op, Batch& batch,
                       std::vector<uint32_t>& waits);
  void begin_duplication(AgentState& agent, const events::Event& event, Batch& batch);
  void run_collective(AgentState& agent, Batch& batch);
  void meet(RankState& rank, const events::Op& op, uint64_t ns, Batch& batch);
  // trace_others.cc
  bool lower_window(AgentState& agent, const events::Event& event, Batch& batch);
  void lower_access(AgentState& agent, const events::Event& event, Batch& batch);
  void lower_lock(AgentState& agent, const events::Event& event, Batch& batch);
  void lower_epoch(AgentState& agent, const events::Event& event, Batch& batch);
  bool lower_file(AgentState& agent, const events::Event& event, Batch& batch);
  bool lower_other(AgentState& agent, const events::Event& event, Batch& batch);
  uint32_t window_slot(AgentState& agent, int64_t window);
  void count(const Signature& call) { ++not_lowered_[std::string(call.name)]; }

  const Trace& trace_;
  const Machine& machine_;
  events::Scope& scope_;
  const ComputeTimes* times_ = nullptr;
  const std::vector<double>* factors_ = nullptr;
  Engine* engine_ = nullptr;
  events::DecodedRanks& decoded_;
  std::vector<std::unique_ptr<RankState>> ranks_;
  std::vector<std::unique_ptr<AgentState>> agents_;
  events::FlatMap<events::ChannelKey, uint32_t, events::ChannelHash> channels_;
  uint32_t next_channel_ = 0;
  bool matches_here_ = false;
  bool follows_ = false;  // iterations may be left out
  size_t skipping_ = 0;   // ranks that will
  uint64_t skipped_calls_ = 0;
  std::map<std::pair<events::CommKey, Rank>, uint32_t> queues_;  // where receives have wildcards
  std::unordered_map<SignatureId, Wildcards> wildcards_;
  std::unique_ptr<Neighbours> neighbours_;  // nullptr: there is no such call
  uint64_t starts_lowered_ = 0;             // of requests that only this follows
  uint64_t unknown_lowered_ = 0;            // receives whose message only the simulation tells
  std::map<std::string, uint64_t> not_lowered_;
  std::atomic<uint64_t> calls_ = 0;  // one thread counts
  bool has_times_ = false, has_gaps_ = false;
};

}  // namespace refrain::sim
