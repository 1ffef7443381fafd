#include "analysis/reduce/retention.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace refrain::analysis::reduce {

namespace {

using waits::Pattern;
using waits::Severity;
using waits::WaitStates;
using Place = std::tuple<Pattern, DefinitionId, CallId>;

struct Times {
  uint64_t full_ns = 0, rebuilt_ns = 0;
};
struct Cell {
  Times all;
  std::map<Rank, Times> ranks;
};
using Cells = std::map<Place, Cell>;

Cells cells_of(const WaitStates& full, const WaitStates& rebuilt) {
  Cells cells;
  const auto add = [&](const WaitStates& waits, uint64_t Times::*ns) {
    for (const Severity& s : waits.severities) {
      Cell& cell = cells[{s.pattern, s.path, s.call}];
      cell.all.*ns += s.ns;
      cell.ranks[s.rank].*ns += s.ns;
    }
  };
  add(full, &Times::full_ns);
  add(rebuilt, &Times::rebuilt_ns);
  return cells;
}

double apart(const Times& t) {
  return std::fabs(static_cast<double>(t.full_ns) - static_cast<double>(t.rebuilt_ns));
}

// A rank that has about half of the longest wait may count as one of them or not.
bool same_ranks(const Cell& cell, const Times& longest, double tolerance) {
  const auto share = [](uint64_t ns, uint64_t of) {
    return of == 0 ? 0 : static_cast<double>(ns) / static_cast<double>(of);
  };
  return std::all_of(cell.ranks.begin(), cell.ranks.end(), [&](const auto& rank) {
    const double full = share(rank.second.full_ns, longest.full_ns);
    const double rebuilt = share(rank.second.rebuilt_ns, longest.rebuilt_ns);
    return (full >= 0.5) == (rebuilt >= 0.5) || std::fabs(full - rebuilt) <= tolerance;
  });
}

Trend trend_of(const Place& place, const Cell& cell, double least_ns, double tolerance) {
  Trend trend;
  std::tie(trend.pattern, trend.path, trend.call) = place;
  trend.full_ns = cell.all.full_ns;
  trend.rebuilt_ns = cell.all.rebuilt_ns;
  Times longest;
  double worst = -1;
  for (const auto& [rank, times] : cell.ranks) {
    longest.full_ns = std::max(longest.full_ns, times.full_ns);
    longest.rebuilt_ns = std::max(longest.rebuilt_ns, times.rebuilt_ns);
    if (apart(times) <= worst) continue;
    worst = apart(times);
    trend.worst_rank = rank;
    trend.worst_full_ns = times.full_ns;
    trend.worst_rebuilt_ns = times.rebuilt_ns;
  }
  trend.is_new = static_cast<double>(cell.all.full_ns) < least_ns / 2;
  // What is a trend in the rebuilt trace only because it is just over the limit is within tolerance
  // of what it was or it is not, as others.
  trend.same_severity = apart(cell.all) <= tolerance * static_cast<double>(cell.all.full_ns);
  trend.same_by_rank = worst <= 1.5 * tolerance * static_cast<double>(longest.full_ns);
  trend.same_ranks = same_ranks(cell, longest, tolerance);
  return trend;
}

const Place* longest_of(const Cells& cells, uint64_t Times::*ns) {
  const auto at = std::max_element(cells.begin(), cells.end(), [&](const auto& a, const auto& b) {
    return a.second.all.*ns < b.second.all.*ns;
  });
  return at == cells.end() ? nullptr : &at->first;
}

// The longest trend is as long as any in the rebuilt trace, or nearly so.
bool same_dominant(const Cells& cells, double least_ns, double tolerance) {
  const Place* full = longest_of(cells, &Times::full_ns);
  const Place* rebuilt = longest_of(cells, &Times::rebuilt_ns);
  if (full == nullptr || static_cast<double>(cells.at(*full).all.full_ns) < least_ns) return true;
  return static_cast<double>(cells.at(*full).all.rebuilt_ns) >=
         (1 - tolerance) * static_cast<double>(cells.at(*rebuilt).all.rebuilt_ns);
}

double score_of(const Cells& cells) {
  double full = 0, rebuilt = 0, differ = 0;
  for (const auto& [place, cell] : cells) {
    full += static_cast<double>(cell.all.full_ns);
    rebuilt += static_cast<double>(cell.all.rebuilt_ns);
    for (const auto& [rank, times] : cell.ranks) differ += apart(times);
  }
  const double more = std::max(full, rebuilt);
  return more > 0 ? std::max(0.0, 1 - differ / more) : 1;
}

std::string why_lost(const Retention& r) {
  if (r.negative > 0) return "calls out of order";
  if (!r.same_dominant) return "another wait is the longest";
  for (const Trend& t : r.trends) {
    if (t.kept()) continue;
    const std::string name(name_of(t.pattern));
    if (t.is_new) return name + ": not in the full trace";
    if (!t.same_severity) {
      if (t.rebuilt_ns == 0) return name + ": gone";
      return name + (t.rebuilt_ns > t.full_ns ? ": too long" : ": too short");
    }
    return name +
           (t.same_ranks ? ": rank " + std::to_string(t.worst_rank) + " differs" : ": other ranks");
  }
  return {};
}

}  // namespace

Retention compare_trends(const WaitStates& full, const WaitStates& rebuilt,
                         const RetentionOptions& options) {
  Retention out;
  const Cells cells = cells_of(full, rebuilt);
  const double least_ns = options.least_share * full.total_ns;
  for (const auto& [place, cell] : cells)
    if (static_cast<double>(std::max(cell.all.full_ns, cell.all.rebuilt_ns)) >= least_ns)
      out.trends.push_back(trend_of(place, cell, least_ns, options.tolerance));
  std::stable_sort(out.trends.begin(), out.trends.end(),
                   [](const Trend& a, const Trend& b) { return a.full_ns > b.full_ns; });
  out.same_dominant = same_dominant(cells, least_ns, options.tolerance);
  const auto backwards = [](const WaitStates& w) {
    return w.counts.negative_durations + w.counts.backward_times;
  };
  out.negative = backwards(rebuilt) - std::min(backwards(rebuilt), backwards(full));
  out.score = score_of(cells);
  out.lost = why_lost(out);
  return out;
}

}  // namespace refrain::analysis::reduce
