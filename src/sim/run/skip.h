// Skipper: leaves iterations of a run's main loop out of a simulation, where all of it repeats.
//
// Computation in the loop becomes that of the mean iteration. When the whole state of the
// simulation (clocks, network interfaces, requests, messages on their way) is at the begin of an
// iteration of rank 0 what it was one or some iterations before, but for when that was, the
// iterations that follow would repeat it for ever: all ranks leave out the same number of them, and
// what one took is multiplied.
//
// Error: without contention and crossing messages, and with messages matched as recorded, times are
// sums and maxima of the computation, so that moving one unit by d moves no result by more than d.
// The bound is the sum, over the iterations of the loop, of the most that a rank's units differ
// from the mean ones. Otherwise one iteration of 64 is simulated all the same, and what they differ
// by is added.
//
// Threads: one.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "sim/engine/engine.h"
#include "sim/lower/trace_actions.h"

namespace refrain::sim {

class Skipper {
 public:
  // The first two outlive it; after TraceActions::begin(). `is_sampled`: there is contention, or
  // messages may cross.
  Skipper(TraceActions& actions, Engine& engine, uint32_t ranks, bool is_sampled);
  Skipper(const Skipper&) = delete;

  // Before the engine runs. `share`: of the computation of the rank that computes most, the error
  // that is allowed. Empty, or why nothing is left out.
  std::string prepare(double share);
  // Once it has run: what was left out.
  void add_to(EngineResult& result) const;

  // At most; of computation that was made equal, and of iterations that were not simulated.
  Time error_ns() const;

 private:
  static constexpr size_t kLongestPeriod = 8;  // in iterations
  static constexpr uint64_t kSampled = 64;     // iterations of which one is simulated

  struct State {
    uint64_t mark = 0, print = 0;
    Time at = 0;
    std::vector<RankTimes> times;
    std::vector<FairNetwork::Use> links;
  };
  void mark(Time now);
  bool is_watched();
  State look(Time now);
  void skip(const State& then, const State& now);

  TraceActions& actions_;
  Engine& engine_;
  const bool is_sampled_;
  const uint32_t ranks_;
  std::deque<State> states_;
  std::vector<uint64_t> behind_;
  uint64_t marks_ = 0, next_watch_ = 0, pause_ = 16;
  bool is_done_ = false;
  double bound_ns_ = 0, sampled_ns_ = 0;
  uint64_t last_skipped_ = 0;
  double last_iteration_ns_ = 0;
  // Of what was left out.
  Time ns_ = 0;
  std::vector<RankTimes> times_;
  std::vector<FairNetwork::Use> links_;
};

}  // namespace refrain::sim
