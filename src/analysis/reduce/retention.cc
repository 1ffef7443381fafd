#include "analysis/reduce/retention.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "events/call_source.h"
#include "mpi/call_name.h"

namespace refrain::analysis::reduce {

namespace {

using waits::Pattern;
using waits::Severity;
using waits::WaitStates;
using Place = std::tuple<Measure, Pattern, DefinitionId, CallId>;

struct KeptTimes {
  uint64_t full_ns = 0, rebuilt_ns = 0;
};
struct Cell {
  KeptTimes all;
  std::map<Rank, KeptTimes> ranks;
};
using Cells = std::map<Place, Cell>;

Cells cells_of(const Diagnosis& full, const Diagnosis& rebuilt) {
  Cells cells;
  const auto add = [&](const Diagnosis& diagnosis, uint64_t KeptTimes::*ns) {
    const auto add_ns = [&](const Place& place, Rank rank, uint64_t more) {
      Cell& cell = cells[place];
      cell.all.*ns += more;
      cell.ranks[rank].*ns += more;
    };
    for (const Severity& s : diagnosis.waits.severities)
      add_ns({Measure::kWait, s.pattern, s.path, s.call}, s.rank, s.ns);
    for (const Activity& a : diagnosis.activities)
      add_ns({a.measure, Pattern::kAll, a.path, a.call}, a.rank, a.ns);
  };
  add(full, &KeptTimes::full_ns);
  add(rebuilt, &KeptTimes::rebuilt_ns);
  return cells;
}

double apart(const KeptTimes& t) {
  return std::fabs(static_cast<double>(t.full_ns) - static_cast<double>(t.rebuilt_ns));
}

// A rank that has about half of the longest wait may count as one of them or not.
bool same_ranks(const Cell& cell, const KeptTimes& longest, double tolerance) {
  const auto share = [](uint64_t ns, uint64_t of) {
    return of == 0 ? 0 : static_cast<double>(ns) / static_cast<double>(of);
  };
  return std::all_of(cell.ranks.begin(), cell.ranks.end(), [&](const auto& rank) {
    const double full = share(rank.second.full_ns, longest.full_ns);
    const double rebuilt = share(rank.second.rebuilt_ns, longest.rebuilt_ns);
    return (full >= 0.5) == (rebuilt >= 0.5) || std::fabs(full - rebuilt) <= tolerance;
  });
}

// Where ranks differ by more than the tolerance, how much they differ is the same within a half,
// and each is where it was between the one that has least and the one that has most, within a
// quarter (at the default tolerance). Means over ranks, and ranks that have changed places, have
// the right sum, and may be within the tolerance of each rank's time.
bool same_disparity(const Cell& cell, double tolerance) {
  struct Range {
    double least = 0, length = 0;
    double place_of(uint64_t ns) const { return (static_cast<double>(ns) - least) / length; }
  };
  const auto range = [&](uint64_t KeptTimes::*ns) {
    const auto [least, most] = std::minmax_element(
        cell.ranks.begin(), cell.ranks.end(),
        [&](const auto& a, const auto& b) { return a.second.*ns < b.second.*ns; });
    const auto from = static_cast<double>(least->second.*ns);
    return Range{from, static_cast<double>(most->second.*ns) - from};
  };
  const Range full = range(&KeptTimes::full_ns), rebuilt = range(&KeptTimes::rebuilt_ns);
  if (full.length <= tolerance * (full.least + full.length)) return true;
  if (rebuilt.length <= 0 || std::fabs(rebuilt.length - full.length) > 5 * tolerance * full.length)
    return false;
  return std::all_of(cell.ranks.begin(), cell.ranks.end(), [&](const auto& rank) {
    return std::fabs(rebuilt.place_of(rank.second.rebuilt_ns) -
                     full.place_of(rank.second.full_ns)) <= 2.5 * tolerance;
  });
}

Trend trend_of(const Place& place, const Cell& cell, double least_ns, double tolerance) {
  Trend trend;
  std::tie(trend.measure, trend.pattern, trend.path, trend.call) = place;
  trend.full_ns = cell.all.full_ns;
  trend.rebuilt_ns = cell.all.rebuilt_ns;
  KeptTimes longest;
  double worst = -1;
  for (const auto& [rank, times] : cell.ranks) {
    trend.ranks.push_back({rank, times.full_ns, times.rebuilt_ns});
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
  trend.same_disparity = trend.measure != Measure::kComputation || same_disparity(cell, tolerance);
  return trend;
}

const Place* longest_of(const Cells& cells, Measure measure, uint64_t KeptTimes::*ns) {
  const Place* longest = nullptr;
  for (const auto& [place, cell] : cells)
    if (std::get<Measure>(place) == measure &&
        (longest == nullptr || cell.all.*ns > cells.at(*longest).all.*ns))
      longest = &place;
  return longest;
}

// The longest trend is as long as any in the rebuilt trace, or nearly so.
bool same_dominant(const Cells& cells, Measure measure, double least_ns, double tolerance) {
  const Place* full = longest_of(cells, measure, &KeptTimes::full_ns);
  const Place* rebuilt = longest_of(cells, measure, &KeptTimes::rebuilt_ns);
  if (full == nullptr || static_cast<double>(cells.at(*full).all.full_ns) < least_ns) return true;
  return static_cast<double>(cells.at(*full).all.rebuilt_ns) >=
         (1 - tolerance) * static_cast<double>(cells.at(*rebuilt).all.rebuilt_ns);
}

double score_of(const Cells& cells, bool of_waits) {
  double full = 0, rebuilt = 0, differ = 0;
  for (const auto& [place, cell] : cells) {
    if ((std::get<Measure>(place) == Measure::kWait) != of_waits) continue;
    full += static_cast<double>(cell.all.full_ns);
    rebuilt += static_cast<double>(cell.all.rebuilt_ns);
    for (const auto& [rank, times] : cell.ranks) differ += apart(times);
  }
  const double more = std::max(full, rebuilt);
  return more > 0 ? std::max(0.0, 1 - differ / more) : 1;
}

const char* other_is_longest(Measure measure) {
  switch (measure) {
    case Measure::kWait: return "another wait is the longest";
    case Measure::kMpi: return "other calls take longest";
    case Measure::kComputation: return "another computation is the longest";
  }
  return "";
}

std::string why_lost(const Trend& t) {
  const std::string name = trend_name(t);
  if (t.is_new) return name + ": not in the full trace";
  if (!t.same_severity) {
    if (t.rebuilt_ns == 0) return name + ": gone";
    return name + (t.rebuilt_ns > t.full_ns ? ": too long" : ": too short");
  }
  if (!t.same_ranks) return name + ": other ranks";
  if (!t.same_by_rank) return name + ": rank " + std::to_string(t.worst_rank) + " differs";
  return name + ": ranks differ otherwise";
}

}  // namespace

std::string trend_name(const Trend& trend) {
  if (trend.measure == Measure::kWait) return std::string(name_of(trend.pattern));
  return (trend.measure == Measure::kMpi ? "time in " : "computation before ") +
         mpi::call_name(trend.call);
}

Result<Diagnosis> diagnosis_of(const Trace& trace) {
  events::TraceCalls calls(trace);
  auto waits = waits::wait_states(trace, calls, {});
  if (!waits.ok()) return waits.error();
  auto of_ranks = activities(trace);
  if (!of_ranks.ok()) return of_ranks.error();
  return Diagnosis{std::move(*waits), std::move(*of_ranks)};
}

Retention compare_trends(const Diagnosis& full, const Diagnosis& rebuilt,
                         const RetentionOptions& options) {
  Retention out;
  const Cells cells = cells_of(full, rebuilt);
  const double least_ns = options.least_share * full.waits.total_ns;
  for (const auto& [place, cell] : cells)
    if (static_cast<double>(std::max(cell.all.full_ns, cell.all.rebuilt_ns)) >= least_ns)
      out.trends.push_back(trend_of(place, cell, least_ns, options.tolerance));
  std::stable_sort(out.trends.begin(), out.trends.end(), [](const Trend& a, const Trend& b) {
    return a.measure != b.measure ? a.measure < b.measure : a.full_ns > b.full_ns;
  });
  const auto backwards = [](const WaitStates& w) {
    return w.counts.negative_durations + w.counts.backward_times;
  };
  out.negative =
      backwards(rebuilt.waits) - std::min(backwards(rebuilt.waits), backwards(full.waits));
  out.score = score_of(cells, true);
  out.time_score = score_of(cells, false);
  if (out.negative > 0) out.lost = "calls out of order";
  // What people look at first, first.
  for (const Measure measure : {Measure::kWait, Measure::kComputation, Measure::kMpi}) {
    const bool same = same_dominant(cells, measure, least_ns, options.tolerance);
    out.same_dominant = out.same_dominant && same;
    if (out.lost.empty() && !same) out.lost = other_is_longest(measure);
    for (const Trend& t : out.trends)
      if (out.lost.empty() && t.measure == measure && !t.kept()) out.lost = why_lost(t);
  }
  return out;
}

}  // namespace refrain::analysis::reduce
