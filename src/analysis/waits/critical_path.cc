// The critical path: back from the end of the run, along a location until a call of it that waited,
// from the end of that wait on the location that was waited for, and so on to the begin. It has no
// waits on it, so its length is that of the run, less the recorder's own work. C. Yang and B.
// Miller, ICDCS 1988; D. Boehme et al., IPDPS 2012.

#include <algorithm>
#include <map>
#include <utility>

#include "analysis/waits/backward.h"
#include "analysis/waits/paths.h"

namespace refrain::analysis::waits {
void find_critical_path(Sweep& sweep, WaitStates& out) {
  WaitLog& log = sweep.log();
  NodeId at = kNoNode;
  uint64_t time = 0;
  // The run ends with the call that ends last, on whichever location.
  for (const NodeId last : sweep.last_nodes()) {
    if (last == kNoNode) continue;
    const uint64_t end = log.nodes.get(last).end;
    if (at == kNoNode || end > time) at = last, time = end;
  }
  if (at == kNoNode) return;
  std::map<std::pair<Rank, Stretch>, uint64_t> parts;
  Path path(log);
  path.start(at, time);
  PathPart step;
  while (path.next(step)) {
    if (step.is_edge) continue;  // before the first call
    if (step.stretch.is_own) {
      const Window& window = sweep.window();
      const uint64_t start = sweep.start_ns();
      out.recorder.critical_ns += window.part(step.low, step.high);
      // The efficiencies begin behind MPI_Init, and so does what is taken off their runtime.
      if (step.high > start)
        out.recorder.runtime_ns += window.part(std::max(step.low, start), step.high);
      continue;
    }
    const Rank rank = sweep.location_names()[step.location].rank;
    const uint64_t ns = sweep.window().part(step.low, step.high);
    // Without a window parts of no length stay, since the path is listed as a whole.
    if (ns == 0 && !sweep.window().is_all()) continue;
    parts[{rank, step.stretch}] += ns;
    out.critical_ns += ns;
  }
  // Sorted by rank and stretch first, so that equal parts have the same order in each run.
  for (const auto& [key, ns] : parts) {
    const auto& [rank, stretch] = key;
    CriticalPart part;
    part.rank = rank;
    part.is_call = stretch.is_call;
    const auto put = [&](PlaceId place, DefinitionId& at_path, CallId& call) {
      if (place == kEdge) return;
      at_path = sweep.places().place(place).path;
      call = sweep.places().place(place).call;
    };
    put(stretch.from, part.from_path, part.from_call);
    put(stretch.to, part.to_path, part.to_call);
    part.ns = ns;
    out.critical_path.push_back(part);
  }
  std::stable_sort(out.critical_path.begin(), out.critical_path.end(),
                   [](const CriticalPart& a, const CriticalPart& b) { return a.ns > b.ns; });
}

}  // namespace refrain::analysis::waits
