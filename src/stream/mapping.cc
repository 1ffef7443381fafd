#include "stream/mapping.h"

#include <cstddef>
#include <numeric>
#include <unordered_set>
#include <utility>

namespace refrain::stream {
namespace {

// SplitMix64: the standard's distributions may differ from one library to the next, and both sides
// must agree.
uint64_t next_random(uint64_t* state) {
  uint64_t z = (*state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// Sources in random order: the first ones cover every target once, the others choose freely.
std::vector<int> random_targets(int sources, int targets, uint64_t seed) {
  std::vector<int> order(static_cast<size_t>(sources)), chosen(order.size());
  std::iota(order.begin(), order.end(), 0);
  uint64_t state = seed;
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[next_random(&state) % i]);
  for (int i = 0; i < sources; ++i)
    chosen[static_cast<size_t>(order[static_cast<size_t>(i)])] =
        i < targets ? i : static_cast<int>(next_random(&state) % static_cast<uint64_t>(targets));
  return chosen;
}

}  // namespace

std::vector<int> targets_of(MapPolicy policy, int sources, int targets, uint64_t seed) {
  if (policy == MapPolicy::kRandom) return random_targets(sources, targets, seed);
  std::vector<int> chosen(static_cast<size_t>(sources));
  for (int i = 0; i < sources; ++i)
    chosen[static_cast<size_t>(i)] = policy == MapPolicy::kRoundRobin
                                         ? i % targets
                                         : static_cast<int>(int64_t{i} * targets / sources);
  return chosen;
}

std::vector<int> partners_of(const std::vector<int>& targets, bool is_source, int index) {
  std::vector<int> partners;
  if (is_source) {
    const int target = targets[static_cast<size_t>(index)];
    if (target >= 0) partners.push_back(target);
    return partners;
  }
  for (size_t source = 0; source < targets.size(); ++source)
    if (targets[source] == index) partners.push_back(static_cast<int>(source));
  return partners;
}

void add_partners(const std::vector<int>& ranks, std::vector<int>* map) {
  std::unordered_set<int> there(map->begin(), map->end());
  for (const int rank : ranks)
    if (there.insert(rank).second) map->push_back(rank);
}

}  // namespace refrain::stream
