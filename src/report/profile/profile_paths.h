// The profile as a tree of call paths, from main down to the MPI call.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "report/profile/profile_rows.h"

namespace refrain::report {

// A call site, or at the leaves an MPI function called from the site above it. Totals include
// everything below.
struct PathNode {
  std::string call;  // leaves only
  std::string site, function, file;
  bool module_changed = false;
  analysis::CallTotals totals;
  size_t paths = 0;        // that end here or below
  bool shown = true;       // false within path_tree() only: none of them is among the first
  bool is_others = false;  // stands for `paths` that are left out; no children
  std::vector<std::unique_ptr<PathNode>> children;  // by time, the longest first
};

// The `top` paths that take the most time (0: all) and what leads to them, below a root without a
// name. The others are in the totals above them, and a node of their own at the end of each list of
// children that lacks some. `left_out`: how many paths are only there.
PathNode path_tree(const ProfileView& view, size_t top, size_t* left_out);

// The sites of a path, outermost first, as "main heat.c:120".
std::vector<ProfileRow> path_sites(const ProfileView& view, DefinitionId path);
std::string path_label(const ProfileRow& site);

}  // namespace refrain::report
