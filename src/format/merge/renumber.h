// A record in the numbers of the one that it is merged into: definitions, shapes and grammars that
// both have get one index.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/nested_runs.h"
#include "format/merge/merge.h"

namespace refrain::format {

// What the list says, by a map from old numbers to new ones; -1 for a number that the map lacks.
inline base::NestedRuns renumber(const base::NestedRuns& list, const std::vector<uint32_t>& map) {
  base::NestedRuns out;
  list.for_each_run([&](int64_t start, int64_t step, uint64_t count) {
    // Equal numbers stay a run; others are looked up one by one, and append() makes runs again.
    const auto first = static_cast<uint64_t>(start);
    if (step == 0) return out.append_run(first < map.size() ? map[first] : -1, 0, count);
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t v = first + static_cast<uint64_t>(step) * i;
      out.append(v < map.size() ? map[v] : -1);
    }
  });
  return out;
}

// What the list says in the numbers of the trace that it is merged into.
inline void renumber_list(SignatureList& all, const ShapeTable& shapes,
                          const std::vector<uint32_t>& shape_map,
                          const std::vector<uint32_t>& definitions, bool same_definitions) {
  const auto to = [&](int64_t v) {
    return static_cast<uint64_t>(v) < definitions.size() ? definitions[static_cast<size_t>(v)] : v;
  };
  for (size_t t = 0; t < all.size(); ++t) {
    const uint32_t shape = shape_map[all.shape(t)];
    all.set_shape(t, shape);
    if (same_definitions) continue;
    for (const uint32_t k : shapes.structure(shape).definition_slots) {
      if (!all.has_states() || all.is_all_settled()) {
        all.set_value(t, k, to(all.value(t, k)));
      } else if (SlotState s = all.state(t, k); s.alive != 0) {
        s.first = to(s.first);
        all.set_state(t, k, s);
      } else {
        all.set_values(t, k, renumber(all.take_values(t, k), definitions));
      }
    }
  }
}

}  // namespace refrain::format
