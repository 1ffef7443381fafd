// Which loops of two locations are one loop of the run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/iterations/cutter.h"

namespace refrain::analysis::iterations {

// The part of the calls of two loops that both make; 0 where they are two loops: a third of their
// calls are not equal, or an iteration of one is no iteration of the other. It is one where they
// have about as many, or where a call that both make comes about as often in each. `iterations`: of
// the first loop, the most that a location has. `both`: how many calls both make.
double likeness(const LocalLoop& a, uint64_t iterations, const LocalLoop& b, size_t both);

// Loops by the calls that they make. An irregular program has thousands of loops, and a loop is
// like those only that make a call that it makes.
class LoopsByCall {
 public:
  // Each number once, ascending.
  void add(size_t loop, const LocalLoop& calls);
  // Loops that make a call that `loop` makes, ascending, and how many both make.
  std::vector<std::pair<size_t, size_t>> sharing(const LocalLoop& loop) const;

 private:
  std::unordered_map<uint64_t, std::vector<size_t>> loops_;  // by key of the call
};

}  // namespace refrain::analysis::iterations
