// The rates of FairNetwork.
//
// Rates are max-min fair if and only if each flow has its limit, or is on a full link on which no
// other flow has a larger share (Bertsekas and Gallager, section 6.5.2): its bottleneck. So when
// some links have changed, their flows get new rates, and all others keep theirs as long as their
// bottlenecks hold: what fails joins the flows that get new rates, until nothing does.
#include <algorithm>
#include <cmath>

#include "sim/network/fair_network.h"

namespace refrain::sim {
namespace {

// Shares that differ by less are equal: sums of fractions differ in their last digits.
constexpr double kEqual = 1e-9;
// So often others join; then all that are connected do.
constexpr int kMostRounds = 12;

bool is_less(double a, double b) { return a < b * (1 - kEqual); }

}  // namespace

void FairNetwork::join(uint32_t id) {
  Flow& flow = flows_[id];
  if (flow.mark == mark_) return;
  flow.mark = mark_;
  new_rate_[id] = flow.rate;
  flowing_.push_back(id);
}

void FairNetwork::join_connected() {
  for (size_t i = 0; i < flowing_.size(); ++i)
    for (const uint32_t link : flows_[flowing_[i]].route)
      for (const uint32_t id : links_[link].flows) join(id);
}

// The links of flows that get new rates, in a fixed order.
void FairNetwork::collect_links() {
  linked_.clear();
  ++link_mark_;
  for (const uint32_t id : flowing_)
    for (const uint32_t number : flows_[id].route) {
      if (links_[number].mark == link_mark_) continue;
      links_[number].mark = link_mark_;
      linked_.push_back(number);
    }
}

void FairNetwork::fix(uint32_t id, double rate, uint32_t bottleneck) {
  Flow& flow = flows_[id];
  flow.is_open = false;
  flow.bottleneck = bottleneck;
  new_rate_[id] = rate;
  for (const uint32_t number : flow.route) {
    Link& link = links_[number];
    link.left = std::max(0.0, link.left - rate);
    --link.open;
    link.weight -= flow.weight;
  }
}

// The flows have no rate yet; links have what others leave them.
void FairNetwork::open_all() {
  shares_.clear();
  for (const uint32_t number : linked_) {
    Link& link = links_[number];
    link.left = link.capacity;
    link.open = 0;
    link.weight = 0;
    for (const uint32_t id : link.flows) {
      if (flows_[id].mark == mark_)
        ++link.open, link.weight += flows_[id].weight;
      else
        link.left -= flows_[id].rate;
    }
    link.left = std::max(0.0, link.left);
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
        fix(id, flows_[id].most, kNoLink);
        --open;
        continue;  // the shares of its links have grown
      }
    }
    if (!has_link) break;
    for (const uint32_t id : links_[shares_.front().link].flows) {
      if (!flows_[id].is_open) continue;
      fix(id, least * flows_[id].weight, shares_.front().link);
      --open;
    }
  }
}

// Flows of a link whose rates do not hold beside the new ones: true where some joined.
bool FairNetwork::join_unfair(uint32_t number) {
  const Link& link = links_[number];
  double used = 0, most = 0, least_full = INFINITY;  // ... of new flows that this link holds back
  for (const uint32_t id : link.flows) {
    const Flow& flow = flows_[id];
    const bool is_new = flow.mark == mark_;
    const double rate = is_new ? new_rate_[id] : flow.rate, share = rate / flow.weight;
    used += rate;
    most = std::max(most, share);
    if (is_new && flow.bottleneck == number) least_full = std::min(least_full, share);
  }
  const bool is_full = !is_less(used, link.capacity);
  const size_t before = flowing_.size();
  for (const uint32_t id : link.flows) {
    const Flow& flow = flows_[id];
    if (flow.mark == mark_) continue;
    const double share = flow.rate / flow.weight;
    const bool is_free = flow.bottleneck == number && (!is_full || is_less(share, most));
    if (is_free || is_less(least_full, share)) join(id);
  }
  return flowing_.size() > before;
}

void FairNetwork::settle() {
  if (changed_.empty()) return;
  ++mark_;
  flowing_.clear();
  for (const uint32_t link : changed_) {
    links_[link].is_changed = false;
    for (const uint32_t id : links_[link].flows) join(id);
  }
  changed_.clear();
  bool is_fair = flowing_.empty();
  for (int round = 0; !is_fair; ++round) {
    if (round == kMostRounds) join_connected();
    collect_links();
    fill();
    is_fair = true;
    if (round == kMostRounds) break;
    for (const uint32_t link : linked_)
      if (join_unfair(link)) is_fair = false;
  }
  for (const uint32_t id : flowing_) set_rate(id, new_rate_[id]);
}

}  // namespace refrain::sim
