// A plan of representatives, as `refrain similarity --plan` writes it: who stands for whom.
//
//   {"plan": 1, "ranks": P, "groups": [{"representative": R, "ranks": [...], "radius_ns": D}]}
//
// Errors: a plan of another number of ranks, or one that names ranks twice or not at all, is a
// usage error. Threads: any.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "refrain/ids.h"

namespace refrain::sim {

struct Plan {
  std::vector<Rank> representative;  // of each rank, maybe itself
  std::vector<double> radius_ns;     // of each rank's group: largest distance to the representative
};

// Each rank stands for itself.
Plan plan_of_all(Rank ranks);
base::Result<Plan> parse_plan(std::string_view text, const std::string& name, Rank ranks);
base::Result<Plan> read_plan(const std::string& path, Rank ranks);

}  // namespace refrain::sim
