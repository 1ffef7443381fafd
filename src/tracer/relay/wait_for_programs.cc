#include "tracer/relay/wait_for_programs.h"

#include <poll.h>

#include <algorithm>
#include <vector>

#include "options/environment.h"
#include "tracer/startup/launch.h"
#include "tracer/startup/launcher.h"

namespace refrain::tracer {

namespace {

constexpr int kLookMs = 5;             // at the board
constexpr int kLooksOfProcesses = 40;  // of the board for one at the processes, which takes longer
// So long all ranks may take to be started, and to become the program that they record.
constexpr int kStartMs = 2000;
// A program whose recorder has left it is in MPI_Init without a mark, and waits there for this
// rank.
constexpr int kMostMs = 60'000;

bool is_live(int pid) { return was_told(pid, options::variable_of(options::RecordOption::kLive)); }

}  // namespace

bool wait_for_programs() {
  bool were_all_there = false;
  for (int look = 0;; ++look) {
    const Arrivals now = who_has_come();
    if (now.launcher == 0 || now.programs > 0 || now.analysers == now.local) return true;
    if (look % kLooksOfProcesses == 0) {
      const std::vector<int> ranks = children_of(now.launcher);
      const bool has_started = look * kLookMs >= kStartMs;
      were_all_there = were_all_there || ranks.size() >= now.local;
      if (ranks.size() <= now.analysers && (were_all_there || has_started)) return false;
      const auto live = std::count_if(ranks.begin(), ranks.end(), is_live);
      if (look * kLookMs >= kMostMs) return true;
      if (has_started && static_cast<size_t>(live) + now.analysers < ranks.size()) return true;
    }
    poll(nullptr, 0, kLookMs);
  }
}

}  // namespace refrain::tracer
