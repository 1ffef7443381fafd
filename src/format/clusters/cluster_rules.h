// What the rules of docs/format.md say of clusters, of a trace whose other sections keep theirs.
#pragma once

#include <string>
#include <vector>

#include "format/trace_data.h"

namespace refrain::format {

struct ClusterFinding {
  int rule = 0;
  std::string text;
};

// Empty for a good trace. Takes time in proportion to the ranks and the size of the grammars.
std::vector<ClusterFinding> check_clusters(const TraceData& trace);

}  // namespace refrain::format
