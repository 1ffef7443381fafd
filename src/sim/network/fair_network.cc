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

void FairNetwork::set_rate(uint32_t id, double rate) {
  Flow& flow = flows_[id];
  // Sums of fractions differ in their last digits. A flow without bytes has no finite rate at
  // first.
  constexpr double kSame = 1e-12;
  if (flow.rate == rate || std::abs(rate - flow.rate) < kSame * flow.rate) return;
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

int64_t FairNetwork::next() {
  // What ends now has all its bytes, whatever the rates are from here on.
  if (first_end() > now_) settle();
  return first_end();
}

int64_t FairNetwork::first_end() {
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
