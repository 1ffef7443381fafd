// follow(): a number of a run as a function of how many ranks it has.
//
// A rule is a + b g(N), where g is N, a root of N (the side of a grid), log2 N, one of these turned
// over, or a sum of powers of a root with signs (N - side: the last row begins there). The first
// two runs give a and b, the third has to agree to the last bit, and the run that is asked for has
// to get a whole number. Of rules that agree, the simplest is taken: the first of rules(). What
// three runs have in common is a number that does not change, which is the simplest of all.
//
// The idea of extending what small runs do to large ones: X. Wu, F. Mueller, "ScalaExtrap", PPoPP
// 2011. Threads: any.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/runs.h"

namespace refrain::sim {

struct Sizes {
  std::array<uint64_t, 3> runs{};  // ranks, ascending
  uint64_t wanted = 0;
};

using Three = std::array<int64_t, 3>;

// nullopt: no rule gives these three, or the rule that does gives no whole number.
std::optional<int64_t> follow(const Sizes& sizes, const Three& values);

// Lists whose structure (runs, loops of runs) is the same, number by number.
std::optional<base::RunList> follow(const Sizes& sizes,
                                    const std::array<const base::RunList*, 3>& lists);

// A measured time: c N^e, fitted to the logarithms; their mean where one is 0.
double follow_time(const Sizes& sizes, const std::array<double, 3>& times);

}  // namespace refrain::sim
