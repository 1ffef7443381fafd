// Maps and topologies as JSON, for programs and for the page.
#pragma once

#include <string>
#include <vector>

#include "analysis/topology.h"
#include "online/maps.h"

namespace refrain::online {

// {"ranks", "ranks_a_cell": how many neighbouring ranks share a number, "kinds": [{"call", "hits",
//   "bytes", "time_ns", "source": [], "dest": [], "edge_hits": [], "edge_bytes": [],
//   "edge_time_ns": []}]}: columns, an edge a place. With more ranks than `most_cells`, ranks share
// numbers.
std::string topology_json(const std::vector<analysis::TopologyOfCall>& topology, Rank ranks,
                          Rank most_cells = 1 << 20);

// {"ranks", "ranks_a_row", "rows", "bins", "bin_ns", "functions": [{"call",
//   "density": {"calls": [], "bytes": [], "ns": []},    by row
//   "temporal": {the same}}]}                           by bin: all rows together
// Of the function `of`, if there is one of this name, `temporal` is by row, then bin; with
// `is_whole` of all functions.
std::string maps_json(const Maps& maps, const std::string& of, bool is_whole = false);

}  // namespace refrain::online
