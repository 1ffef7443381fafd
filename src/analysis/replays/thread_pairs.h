// Which thread of a replay stands for which of the original.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "analysis/replays/replays.h"

namespace refrain::analysis {

// Compares two threads of one rank, the original's and the replay's. False: they differ.
using CompareThreads =
    std::function<bool(uint32_t thread, uint32_t again_thread, ReplayComparison& out)>;

// Threads have numbers by their first calls, which come in another order in another run. So each
// but the first may have any number that is left; those that have another one count as
// Allowed::kNumbers. False: there was a difference.
bool compare_threads(size_t threads, const CompareThreads& compare, ReplayComparison& out);

}  // namespace refrain::analysis
