#include "sim/network/routes.h"

#include <algorithm>

namespace refrain::sim {

using Kind = Topology::Kind;

Routes::Routes(const Topology& topology, uint64_t nodes, FairNetwork& network)
    : topology_(topology) {
  const uint64_t known = nodes_of(topology);
  nodes_ = known == UINT64_MAX ? nodes : known;
  first_ = static_cast<uint32_t>(network.links());
  const double own = topology.node_bandwidth.value > 0 ? topology.node_bandwidth.value
                                                       : topology.link_bandwidth.value;
  has_node_links_ = topology.kind == Kind::kCrossbar || topology.kind == Kind::kDragonfly ||
                    (topology.kind == Kind::kTorus && topology.node_bandwidth.value > 0);
  if (has_node_links_) add_node_links(network, own);
  inner_ = network.links();
  if (topology.kind == Kind::kFatTree) add_fat_tree(network);
  if (topology.kind == Kind::kTorus) add_torus(network);
  if (topology.kind == Kind::kDragonfly) add_dragonfly(network);
}

void Routes::add_node_links(FairNetwork& network, double bandwidth) {
  for (uint64_t i = 0; i < 2 * nodes_; ++i) network.add_link(bandwidth);
}

// Level l has (nodes / M) W elements, with M the product of the first l `down` and W of `up`.
void Routes::add_fat_tree(FairNetwork& network) {
  uint64_t below = 1, above = 1;
  for (size_t level = 0; level < topology_.down.size(); ++level) {
    level_first_.push_back(network.links());
    const uint64_t elements = nodes_ / below * above;
    const uint64_t links = elements * topology_.up[level] * topology_.parallel[level];
    const bool is_node = level == 0 && topology_.node_bandwidth.value > 0;
    for (uint64_t i = 0; i < 2 * links; ++i)
      network.add_link(is_node ? topology_.node_bandwidth.value : topology_.link_bandwidth.value);
    below *= topology_.down[level];
    above *= topology_.up[level];
  }
}

void Routes::tree_route(uint64_t from, uint64_t to, std::vector<uint32_t>& out) const {
  size_t top = 0;
  for (uint64_t a = from, b = to; a != b; ++top) a /= topology_.down[top], b /= topology_.down[top];
  std::vector<uint32_t> down;
  uint64_t below = 1, width = 1, switch_digits = 0, ports = to;
  for (size_t level = 0; level < top; ++level) {
    const uint64_t parents = topology_.up[level], parallel = topology_.parallel[level];
    const uint64_t port = ports % (parents * parallel);
    const uint64_t parent = port % parents, cable = port / parents;
    const auto link = [&](uint64_t node) {
      const uint64_t element = node / below * width + switch_digits;
      return level_first_[level] + 2 * ((element * parents + parent) * parallel + cable);
    };
    out.push_back(static_cast<uint32_t>(link(from)));
    down.push_back(static_cast<uint32_t>(link(to) + 1));
    switch_digits += parent * width;
    below *= topology_.down[level];
    width *= parents;
    ports /= parents;
  }
  out.insert(out.end(), down.rbegin(), down.rend());
}

// Two links for each node and dimension: to the next one, and to the one before.
void Routes::add_torus(FairNetwork& network) {
  const uint64_t links = 2 * nodes_ * topology_.down.size();
  for (uint64_t i = 0; i < links; ++i) network.add_link(topology_.link_bandwidth.value);
}

void Routes::torus_route(uint64_t from, uint64_t to, std::vector<uint32_t>& out) const {
  uint64_t at = from, stride = 1;
  for (size_t d = 0; d < topology_.down.size(); ++d) {
    const uint64_t size = topology_.down[d];
    const uint64_t a = at / stride % size, b = to / stride % size;
    const uint64_t upwards = (b + size - a) % size;
    const bool is_tie = 2 * upwards == size;
    const bool goes_up = is_tie ? a != size / 2 : upwards < size - upwards;
    for (uint64_t left = goes_up ? upwards : size - upwards; left > 0; --left) {
      const uint64_t mine = at / stride % size;
      out.push_back(
          static_cast<uint32_t>(inner_ + 2 * (at * topology_.down.size() + d) + (goes_up ? 0 : 1)));
      const uint64_t next = goes_up ? (mine + 1) % size : (mine + size - 1) % size;
      at = at - mine * stride + next * stride;
    }
    stride *= size;
  }
}

// Routers of a group are connected with each other, and groups with each other: the connection of
// groups a and b is at router (b - a - 1) mod routers of a, seen from a.
void Routes::add_dragonfly(FairNetwork& network) {
  const uint64_t groups = topology_.down[0], routers = topology_.down[1];
  for (uint64_t i = 0; i < groups * routers * routers; ++i)
    network.add_link(topology_.link_bandwidth.value);
  local_ = network.links();
  const double global = topology_.global_bandwidth.value > 0 ? topology_.global_bandwidth.value
                                                             : topology_.link_bandwidth.value;
  for (uint64_t i = 0; i < groups * groups; ++i) network.add_link(global);
}

void Routes::dragonfly_route(uint64_t from, uint64_t to, std::vector<uint32_t>& out) const {
  const uint64_t groups = topology_.down[0], routers = topology_.down[1];
  const uint64_t per_router = topology_.down[2];
  const uint64_t a = from / per_router, b = to / per_router;  // routers, over all groups
  const uint64_t group_a = a / routers, group_b = b / routers;
  const auto local = [&](uint64_t group, uint64_t x, uint64_t y) {
    if (x != y) out.push_back(static_cast<uint32_t>(inner_ + (group * routers + x) * routers + y));
  };
  if (group_a == group_b) return local(group_a, a % routers, b % routers);
  const uint64_t leaves = (group_b + groups - group_a - 1) % groups % routers;
  const uint64_t enters = (group_a + groups - group_b - 1) % groups % routers;
  local(group_a, a % routers, leaves);
  out.push_back(static_cast<uint32_t>(local_ + group_a * groups + group_b));
  local(group_b, enters, b % routers);
}

void Routes::route(uint32_t from, uint32_t to, std::vector<uint32_t>& out) const {
  if (from == to) return;
  if (has_node_links_) out.push_back(first_ + 2 * from);
  if (topology_.kind == Kind::kFatTree) tree_route(from, to, out);
  if (topology_.kind == Kind::kTorus) torus_route(from, to, out);
  if (topology_.kind == Kind::kDragonfly) dragonfly_route(from, to, out);
  if (has_node_links_) out.push_back(first_ + 2 * to + 1);
}

uint32_t Routes::hops(uint32_t from, uint32_t to) const {
  std::vector<uint32_t> links;
  route(from, to, links);
  return static_cast<uint32_t>(links.size());
}

uint32_t Routes::least_hops() const {
  if (topology_.kind != Kind::kTorus) return 2;
  return has_node_links_ ? 3 : 1;
}

std::string Routes::link_name(uint32_t link) const {
  const auto number = [](uint64_t n) { return std::to_string(n); };
  if (link < inner_)
    return "node " + number((link - first_) / 2) + ((link - first_) % 2 == 0 ? " out" : " in");
  uint64_t at = link - inner_;
  if (topology_.kind == Kind::kTorus) {
    const uint64_t dimensions = topology_.down.size();
    return "node " + number(at / 2 / dimensions) + " dimension " + number(at / 2 % dimensions) +
           (at % 2 == 0 ? " up" : " down");
  }
  if (topology_.kind == Kind::kDragonfly) {
    const uint64_t groups = topology_.down[0], routers = topology_.down[1];
    if (link >= local_)
      return "group " + number((link - local_) / groups) + " to " +
             number((link - local_) % groups);
    return "router " + number(at / routers) + " to " +
           number(at / routers / routers * routers + at % routers);
  }
  size_t level = level_first_.size();
  while (level > 1 && link < level_first_[level - 1]) --level;
  at = link - level_first_[level - 1];
  const uint64_t ports = topology_.up[level - 1] * topology_.parallel[level - 1];
  return (level == 1 ? "node " : "level " + number(level - 1) + " switch ") +
         number(at / 2 / ports) + (at % 2 == 0 ? " up " : " down ") + number(at / 2 % ports);
}

}  // namespace refrain::sim
