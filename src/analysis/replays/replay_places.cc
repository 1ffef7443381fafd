#include "analysis/replays/replay_places.h"

#include <vector>

namespace refrain::analysis {

bool PlaceComparison::same(DefinitionId original, DefinitionId again) {
  const uint64_t pair = uint64_t{original} << 32 | uint64_t{again};
  const auto [known, is_new] = known_.try_emplace(pair, true);
  if (is_new) known->second = compare(original, again);
  return known->second;
}

bool PlaceComparison::compare(DefinitionId original, DefinitionId again) const {
  const std::vector<DefinitionId> one = original_.call_path(original),
                                  other = again_.call_path(again);
  if (one.size() != other.size()) return false;
  for (size_t i = 0; i < one.size(); ++i) {
    const auto a = original_.site(one[i]), b = again_.site(other[i]);
    if (a.has_value() != b.has_value()) return false;
    if (a && (a->module != b->module || a->build_id != b->build_id || a->offset != b->offset))
      return false;
  }
  return true;
}

}  // namespace refrain::analysis
