// The critical path: back from the end of the run, along a location until a call of it that waited,
// from the end of that wait on the location that was waited for, and so on to the begin. It has no
// waits on it, so its length is that of the run. C. Yang and B. Miller, ICDCS 1988; D. Boehme et
// al., IPDPS 2012.

#include <algorithm>
#include <map>
#include <tuple>

#include "analysis/waits/backward.h"

namespace refrain::analysis::waits {
namespace {

constexpr PlaceId kEdge = UINT32_MAX;

}  // namespace

void find_critical_path(Sweep& sweep, WaitStates& out) {
  WaitLog& log = sweep.log();
  NodeId at = kNoNode;
  uint64_t time = 0;
  for (const NodeId last : sweep.last_nodes()) {
    if (last == kNoNode) continue;
    const uint64_t end = log.nodes.get(last).end;
    if (at == kNoNode || end > time) at = last, time = end;
  }
  std::map<std::tuple<Rank, PlaceId, PlaceId>, uint64_t> parts;
  while (at != kNoNode) {
    const Node node = log.nodes.get(at);
    const Rank rank = sweep.location_names()[node.location].rank;
    const auto spend = [&](PlaceId from, PlaceId to, uint64_t since) {
      if (time <= since) return;
      parts[{rank, from, to}] += time - since;
      out.critical_ns += time - since;
      time = since;
    };
    NodeId causer = kNoNode;
    for (WaitId w = node.waits; w != kNoWait && causer == kNoNode;) {
      const Wait wait = log.waits.get(w);  // the last to end comes first
      // What a rank waited for cannot be later than that; a step is always back in the log.
      if (wait.end <= time && wait.causer != kNoNode) {
        spend(node.place, node.place, wait.end);
        causer = wait.causer;
      }
      w = wait.earlier;
    }
    if (causer != kNoNode) {
      at = causer;
      continue;
    }
    spend(node.place, node.place, node.begin);
    if (node.previous == kNoNode) break;
    const Node previous = log.nodes.get(node.previous);
    spend(previous.place, node.place, previous.end);
    at = node.previous;
  }
  for (const auto& [key, ns] : parts) {
    const auto& [rank, from, to] = key;
    CriticalPart part;
    part.rank = rank;
    const auto put = [&](PlaceId place, DefinitionId& path, CallId& call) {
      if (place == kEdge) return;
      path = sweep.places().place(place).path;
      call = sweep.places().place(place).call;
    };
    put(from, part.from_path, part.from_call);
    put(to, part.to_path, part.to_call);
    part.ns = ns;
    out.critical_path.push_back(part);
  }
  std::stable_sort(out.critical_path.begin(), out.critical_path.end(),
                   [](const CriticalPart& a, const CriticalPart& b) { return a.ns > b.ns; });
}

}  // namespace refrain::analysis::waits
