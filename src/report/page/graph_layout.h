// Places for the nodes of a graph of ranks, by Graphviz (package libgraphviz-dev), so that ranks
// that exchange messages lie near each other.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace refrain::report {

struct GraphEdge {
  uint32_t from = 0, to = 0;  // nodes; direction does not matter
  double weight = 1;
};

struct Place {
  double x = 0, y = 0;
};

// Whether the build found Graphviz.
bool has_graphviz();

// neato for small graphs, sfdp for large ones; `engine` says which. Empty when Graphviz is not
// there, or fails. Not thread safe, as Graphviz is not.
std::vector<Place> graph_layout(uint32_t nodes, const std::vector<GraphEdge>& edges,
                                std::string& engine);

}  // namespace refrain::report
