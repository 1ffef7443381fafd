#include "sim/network/fair_network.h"

#include <algorithm>
#include <cmath>

namespace refrain::sim {

uint32_t FairNetwork::add_link(double bandwidth) {
  links_.emplace_back();
  links_.back().capacity = bandwidth * 1e-9;
  return static_cast<uint32_t>(links_.size() - 1);
}

void FairNetwork::note_change(uint32_t link) {
  if (links_[link].is_changed) return;
  links_[link].is_changed = true;
  changed_.push_back(link);
}

void FairNetwork::start(int64_t now, uint32_t name, uint64_t bytes, double most,
                        const std::vector<uint32_t>& route, double weight) {
  if (now > now_) settle(), now_ = now;
  uint32_t id = 0;
  if (free_.empty()) {
    id = static_cast<uint32_t>(flows_.size());
    flows_.emplace_back();
    new_rate_.push_back(0);
  } else {
    id = free_.back();
    free_.pop_back();
  }
  Flow& flow = flows_[id];
  flow.name = name;
  flow.bytes = bytes;
  flow.left = static_cast<double>(bytes);
  flow.rate = -1;
  flow.most = most;
  flow.weight = weight;
  flow.since = static_cast<double>(now_);
  flow.is_free = false;
  flow.route = route;
  for (const uint32_t link : route) {
    if (links_[link].flows.empty()) links_[link].busy_since = now_;
    links_[link].flows.push_back(id);
    note_change(link);
  }
  if (route.empty() || bytes == 0) set_rate(id, most > 0 ? most : INFINITY);
}

// Links and flows that are connected with a link, in a fixed order.
void FairNetwork::collect(uint32_t from) {
  linked_.assign(1, from);
  flowing_.clear();
  links_[from].mark = mark_;
  for (size_t i = 0; i < linked_.size(); ++i)
    for (const uint32_t id : links_[linked_[i]].flows) {
      if (flows_[id].mark == mark_) continue;
      flows_[id].mark = mark_;
      flowing_.push_back(id);
      for (const uint32_t link : flows_[id].route)
        if (links_[link].mark != mark_) links_[link].mark = mark_, linked_.push_back(link);
    }
}

void FairNetwork::fix(uint32_t id, double rate) {
  Flow& flow = flows_[id];
  flow.is_open = false;
  new_rate_[id] = rate;
  for (const uint32_t number : flow.route) {
    Link& link = links_[number];
    link.left = std::max(0.0, link.left - rate);
    --link.open;
    link.weight -= flow.weight;
  }
}

// All links are open, and their flows have no rate yet.
void FairNetwork::open_all() {
  shares_.clear();
  for (const uint32_t number : linked_) {
    Link& link = links_[number];
    link.left = link.capacity;
    link.open = static_cast<uint32_t>(link.flows.size());
    link.weight = 0;
    for (const uint32_t id : link.flows) link.weight += flows_[id].weight;
    if (link.open > 0)
      shares_.push_back({link.left / link.weight, static_cast<uint32_t>(shares_.size()), number});
  }
  std::make_heap(shares_.begin(), shares_.end());
  limited_.clear();
  for (const uint32_t id : flowing_) {
    flows_[id].is_open = true;
    if (flows_[id].most > 0) limited_.push_back(id);
  }
  std::sort(limited_.begin(), limited_.end(), [&](uint32_t a, uint32_t b) {
    const double one = flows_[a].most * flows_[b].weight, other = flows_[b].most * flows_[a].weight;
    return one != other ? one < other : a < b;
  });
}

// The link that is full first, on top of shares_. Flows that are fixed take less than their share,
// so shares grow: what shares_ has is at most what a link's flows get, and is looked at again only
// when it is the least. False: no link is open.
bool FairNetwork::find_narrowest() {
  while (!shares_.empty()) {
    const Link& link = links_[shares_.front().link];
    const double share = link.open == 0 ? 0 : link.left / link.weight;
    if (link.open > 0 && share <= shares_.front().share) return true;
    std::pop_heap(shares_.begin(), shares_.end());
    if (link.open == 0) {
      shares_.pop_back();
      continue;
    }
    shares_.back().share = share;
    std::push_heap(shares_.begin(), shares_.end());
  }
  return false;
}

// Progressive filling.
void FairNetwork::fill() {
  open_all();
  size_t open = flowing_.size(), next_limit = 0;
  while (open > 0) {
    const bool has_link = find_narrowest();
    const double least = has_link ? shares_.front().share : INFINITY;
    while (next_limit < limited_.size() && !flows_[limited_[next_limit]].is_open) ++next_limit;
    if (next_limit < limited_.size()) {
      const uint32_t id = limited_[next_limit];
      if (flows_[id].most <= least * flows_[id].weight) {
        fix(id, flows_[id].most);
        --open;
        continue;  // the shares of its links have grown
      }
    }
    if (!has_link) break;
    for (const uint32_t id : links_[shares_.front().link].flows) {
      if (!flows_[id].is_open) continue;
      fix(id, least * flows_[id].weight);
      --open;
    }
  }
  for (const uint32_t id : flowing_) set_rate(id, new_rate_[id]);
}

void FairNetwork::set_rate(uint32_t id, double rate) {
  Flow& flow = flows_[id];
  if (flow.rate == rate) return;
  const auto now = static_cast<double>(now_);
  if (flow.rate > 0 && std::isfinite(flow.rate))
    flow.left = std::max(0.0, flow.left - flow.rate * (now - flow.since));
  flow.since = now;
  flow.rate = rate;
  // An error of rounding must not make a flow one ns longer.
  const double lasts = flow.left / rate;
  const double end = std::ceil(now + lasts - 1e-6 * std::max(1.0, lasts * 1e-6));
  ends_.push(
      {std::max(now_, static_cast<int64_t>(std::min(end, 9e18))), ++order_, id, ++flow.version});
}

void FairNetwork::settle() {
  if (changed_.empty()) return;
  ++mark_;
  for (const uint32_t link : changed_) {
    links_[link].is_changed = false;
    if (links_[link].mark == mark_) continue;
    collect(link);
    fill();
  }
  changed_.clear();
}

int64_t FairNetwork::next() {
  settle();
  while (!ends_.empty()) {
    const End& end = ends_.top();
    if (!flows_[end.flow].is_free && flows_[end.flow].version == end.version) return end.time;
    ends_.pop();
  }
  return kNever;
}

uint32_t FairNetwork::end() {
  const End end = ends_.top();
  ends_.pop();
  now_ = std::max(now_, end.time);
  Flow& flow = flows_[end.flow];
  for (const uint32_t link : flow.route) {
    Link& of = links_[link];
    of.flows.erase(std::find(of.flows.begin(), of.flows.end(), end.flow));
    of.use.bytes += static_cast<double>(flow.bytes);
    if (of.flows.empty()) of.use.busy_ns += static_cast<double>(now_ - of.busy_since);
    note_change(link);
  }
  flow.is_free = true;
  ++flow.version;
  free_.push_back(end.flow);
  return flow.name;
}

}  // namespace refrain::sim
