// Routes: the links that a message takes from one node of a topology to another.
//
// Every connection is two links, one for each direction. Crossbar: the node's link out and the
// other node's link in. Fat tree: an extended generalised fat tree (S. Öhring et al., IPPS 1995),
// up to the first common level and down again; the destination's number modulo the parents chooses
// the way up. Torus: dimension by dimension, the shorter way around; where both are as long,
// upwards, but from the middle to the first one downwards, as SimGrid goes. Dragonfly (J. Kim et
// al., ISCA 2008): at most one link within the first group, one between groups, one within the
// second group. docs/simulate.md has the numbers of links.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/machine/machine.h"
#include "sim/network/fair_network.h"

namespace refrain::sim {

class Routes {
 public:
  // Adds the links of the topology, with as many nodes as a crossbar without a number needs.
  Routes(const Topology& topology, uint64_t nodes, FairNetwork& network);

  // Appends; nothing within a node.
  void route(uint32_t from, uint32_t to, std::vector<uint32_t>& out) const;
  // Links from node to node.
  uint32_t hops(uint32_t from, uint32_t to) const;
  // ... from a node to the nearest one: two, of a torus one more than its links of nodes.
  uint32_t least_hops() const;
  // "node 3 out", "level 1 switch 2 up 0", ...
  std::string link_name(uint32_t link) const;

 private:
  void add_node_links(FairNetwork& network, double bandwidth);
  void add_fat_tree(FairNetwork& network);
  void add_torus(FairNetwork& network);
  void add_dragonfly(FairNetwork& network);
  void tree_route(uint64_t from, uint64_t to, std::vector<uint32_t>& out) const;
  void torus_route(uint64_t from, uint64_t to, std::vector<uint32_t>& out) const;
  void dragonfly_route(uint64_t from, uint64_t to, std::vector<uint32_t>& out) const;

  const Topology topology_;
  uint64_t nodes_ = 0;
  uint32_t first_ = 0;  // of the links that were added
  bool has_node_links_ = false;
  std::vector<uint64_t> level_first_;  // fat tree: first link of each level
  uint64_t inner_ = 0, local_ = 0;     // first links that are not of nodes; of groups
};

}  // namespace refrain::sim
