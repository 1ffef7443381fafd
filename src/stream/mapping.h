// Which processes of two partitions become partners. Pure functions of sizes and indices within the
// partitions: both sides compute the same, so that no message is needed (the online-coupling paper,
// section III-A, Figure 8).
#pragma once

#include <cstdint>
#include <vector>

namespace refrain::stream {

enum class MapPolicy { kRoundRobin = 0, kRandom = 1, kFixed = 2 };

// For each process of the larger partition (`sources` of them, at least as many as `targets`, at
// least 1) the process of the smaller one. Every target occurs.
std::vector<int> targets_of(MapPolicy policy, int sources, int targets, uint64_t seed);

// Partners of process `index`: one when it is a source, all that chose it when it is a target. A
// target of -1 is none.
std::vector<int> partners_of(const std::vector<int>& targets, bool is_source, int index);

// Adds ranks that are not yet there.
void add_partners(const std::vector<int>& ranks, std::vector<int>* map);

}  // namespace refrain::stream
