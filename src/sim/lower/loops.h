// The loop in which a run spends most of its calls, from the grammar of a thread, and what the
// thread computes in an iteration of it on average. For simulations that skip iterations.
//
// Idea: PHANTOM, section 7.3, simulates each iteration; that iterations repeat is what the grammar
// says. Units: ns. Threads: any.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "grammar/grammar.h"
#include "refrain/calls.h"
#include "refrain/trace.h"
#include "sim/lower/compute_times.h"

namespace refrain::sim {

struct MainLoop {
  uint64_t first = 0;  // number of the first call of the first iteration
  uint64_t calls = 0;  // of an iteration; 0: there is no loop
  uint64_t count = 0;  // iterations
  bool has(uint64_t seq) const { return seq >= first && seq - first < calls * count; }
  bool begins(uint64_t seq) const { return has(seq) && (seq - first) % calls == 0; }
  uint64_t place(uint64_t seq) const { return (seq - first) % calls; }
};

// The repetition with most calls among those that are in no other one. Fewer than kLeastIterations
// are none.
inline constexpr uint64_t kLeastIterations = 8;
MainLoop main_loop(const grammar::Grammar& grammar);

// Of the calls of an iteration.
struct LoopUnits {
  std::vector<uint32_t> gap_ns;  // computation before the call
  std::vector<uint32_t> own_ns;  // of the call, if it waits for nobody
  // Of each iteration: by how much its units differ from these, all together.
  std::vector<double> differs_ns;
  bool is_known = false;
};

inline constexpr uint64_t kMostUnits = uint64_t{1} << 20;       // of a rank
inline constexpr uint64_t kMostIterations = uint64_t{1} << 24;  // that can be compared

// Means of the units of a loop in a trace with times: reads all times of the loop twice.
// Computation is multiplied by `factor`. `is_local`: whether the time of such a call is
// computation, too. Not known where times are missing or a unit is above 4 s.
using IsLocal = std::function<bool(const Signature&)>;
LoopUnits mean_units(const Trace& trace, const Location& location, const MainLoop& loop,
                     const ComputeTimes* times, double factor, const IsLocal& is_local);

}  // namespace refrain::sim
