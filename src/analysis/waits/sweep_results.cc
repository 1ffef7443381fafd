// What the forward sweep leaves: totals, and the factors that efficiencies are made of. The
// recorder's own work is no part of them.

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/waits/sweep.h"
#include "format/places.h"
#include "reader/internal.h"

namespace refrain::analysis::waits {

// The recorder notes pieces of work of its own that took long (growing tables, writing blocks)
// behind the call after which they were done. They lie between the calls, where the program's work
// is, and must not be taken for it.
void Sweep::find_own_work(LocationState& l, uint32_t thread) {
  const format::OwnWork* const work = reader::own_work_of(trace_, l.rank, thread);
  if (work == nullptr) return;
  l.piece = work->pieces.data();
  l.pieces_end = l.piece + work->pieces.size();
}

// Of the `gap` before the call that begins.
uint64_t Sweep::own_work_before(uint32_t location, uint64_t gap) {
  LocationState& l = locations_[location];
  // No more than the gap: repaired times may have shortened it.
  const uint64_t own = std::min(std::exchange(l.own_ns, 0), gap);
  if (own == 0) return 0;
  if (online_.keeps_log) log_.own_work[location].push_back({l.end_of_last, l.end_of_last + own});
  if (l.start_ns == l.end_of_last) l.start_ns += own;  // behind MPI_Init
  return own;
}

uint64_t Sweep::start_ns() const {
  uint64_t start = UINT64_MAX;
  for (const LocationState& l : locations_)
    if (l.has_begun) start = std::min(start, l.start_ns);
  return start;
}

uint64_t Sweep::finish_ns() const {
  uint64_t finish = 0;
  for (const LocationState& l : locations_)
    if (l.has_begun) finish = std::max(finish, l.finish_ns);
  return finish;
}

// What useful time is divided by for its mean, which is that of a whole run: a rank counts once, or
// as many times as its threads live together. A thread of a moment must not count as one that did
// nothing in the rest of the run.
double Sweep::lives_of_all(uint64_t runtime_ns) const {
  std::vector<uint64_t> lived(ranks_.size());
  for (const LocationState& l : locations_)
    if (l.has_begun && l.finish_ns > l.start_ns)
      lived[static_cast<size_t>(l.rank)] += options_.window.part(l.start_ns, l.finish_ns);
  double out = 0;
  for (size_t r = 0; r < lived.size(); ++r) {
    if (is_here_[r] == 0) continue;
    const double lives =
        runtime_ns == 0 ? 1 : static_cast<double>(lived[r]) / static_cast<double>(runtime_ns);
    out += std::max(lives, 1.0);
  }
  return out;
}

// The part in the window. Of small work nobody knows when it was: it lies evenly between the calls.
void Sweep::cut_own_work(const std::vector<uint64_t>& gaps, const std::vector<uint64_t>& small,
                         std::vector<RankTime>& ranks) const {
  for (size_t r = 0; r < ranks.size(); ++r) ranks[r].recorder_ns = 0;
  for (size_t i = 0; i < locations_.size(); ++i) {
    const LocationState& l = locations_[i];
    const auto rank = static_cast<size_t>(l.rank);
    uint64_t& ns = ranks[rank].recorder_ns;
    if (i < log_.own_work.size())
      for (const OwnSpan& span : log_.own_work[i]) ns += options_.window.part(span.begin, span.end);
    if (gaps[rank] > 0)
      ns += static_cast<uint64_t>(static_cast<double>(small[rank]) * static_cast<double>(l.useful) /
                                  static_cast<double>(gaps[rank]));
  }
}

// Ops of one place are one row.
std::vector<Severity> Sweep::severities() const {
  std::map<std::tuple<Pattern, PlaceId, Rank>, Total> totals;
  for (size_t r = 0; r < ranks_.size(); ++r) {
    // Totals are with the ops, since a call adds to them each time that it waits: a map would be
    // asked for each wait. Here they are put together once.
    if (ranks_[r].decoder == nullptr) continue;
    for (const auto& op : ranks_[r].decoder->ops()) {
      const OpState* const state = ranks_[r].states.find(*op);
      if (state == nullptr) continue;
      for (const Total& part : state->totals) {
        Total& total = totals[{part.pattern, op->place, static_cast<Rank>(r)}];
        total.ns += part.ns;
        total.count += part.count;
      }
    }
  }
  std::vector<Severity> out;
  for (const auto& [key, total] : totals) {
    const auto& [pattern, place, rank] = key;
    const auto& where = places_.place(place);
    out.push_back({pattern, where.path, where.call, rank, total.ns, total.count});
  }
  return out;
}

namespace {

// Threads that compute while the other threads of their rank are in MPI may be useful for a larger
// part of their lives than any of them is of the run. Then none is more loaded than the mean, and
// the shares stay what they are: parts of 1 whose product is the parallel efficiency.
void limit_mean(Efficiency& e) {
  e.useful_max_ns = std::max(e.useful_max_ns, e.useful_mean_ns);
  e.ideal_ns = std::max(e.ideal_ns, static_cast<uint64_t>(std::ceil(e.useful_max_ns)));
}

}  // namespace

void Sweep::fill(WaitStates& out) const {
  out.severities = severities();
  std::stable_sort(out.severities.begin(), out.severities.end(), [](const auto& a, const auto& b) {
    return a.pattern != b.pattern ? a.pattern < b.pattern : a.ns > b.ns;
  });
  out.ranks = rank_times_;
  Efficiency& e = out.efficiency;
  const uint64_t start = start_ns(), finish = finish_ns();
  e.runtime_ns = finish > start ? options_.window.part(start, finish) : 0;
  const double lives = lives_of_all(e.runtime_ns);
  uint64_t useful_max = 0;
  // The efficiencies are those of the POP Centre of Excellence (docs/waits.md): their ideal runtime
  // is that of the rank that is last in a run on a network that takes no time.
  uint64_t ideal_from = 0, ideal_to = 0;
  std::vector<uint64_t> gaps(ranks_.size());  // useful time, the recorder's small work included
  for (const LocationState& l : locations_) gaps[static_cast<size_t>(l.rank)] += l.gaps;
  std::vector<uint64_t> small = format::small_own_work(reader::data_of(trace_));
  small.resize(ranks_.size());
  for (const LocationState& l : locations_) {
    if (!l.has_begun) continue;
    const auto rank = static_cast<size_t>(l.rank);
    out.ranks[rank].total_ns += l.total;
    uint64_t useful = l.useful;
    if (small[rank] > 0 && gaps[rank] > 0) {
      const double rest = 1 - static_cast<double>(small[rank]) / static_cast<double>(gaps[rank]);
      useful = static_cast<uint64_t>(std::max(rest, 0.0) * static_cast<double>(useful));
    }
    ideal_from = std::max(ideal_from, l.ideal_from);
    // Behind MPI_Finalize nothing counts, also where the window goes on.
    ideal_to = std::max(ideal_to, std::min(l.ideal_to, l.ideal_finish));
    useful_max = std::max(useful_max, useful);
    e.useful_mean_ns += static_cast<double>(useful) / lives;
    out.ranks[rank].useful_ns += useful;
  }
  for (const RankTime& time : out.ranks) out.total_ns += static_cast<double>(time.total_ns);
  e.useful_max_ns = static_cast<double>(useful_max);
  e.ideal_ns = ideal_to > ideal_from ? ideal_to - ideal_from : 0;
  if (locations_.size() > ranks_here_) limit_mean(e);
  // Of the whole run the recorder has counted its work itself, the small pieces included; of a
  // window it has to be cut out of what is known of each piece.
  const auto& totals = reader::data_of(trace_).totals;
  for (size_t r = 0; r < std::min(totals.size(), out.ranks.size()); ++r)
    out.ranks[r].recorder_ns = totals[r].own_ns;
  if (!options_.window.is_all()) cut_own_work(gaps, small, out.ranks);
  for (const RankTime& time : out.ranks) out.recorder.work_ns += time.recorder_ns;
  out.counts = counts_;
  out.counts.unmatched_sends = messages_.only_sent();
  out.counts.unmatched_receives = messages_.only_received();
  out.counts.incomplete_collectives = instances_.incomplete();
  out.counts.dropped = dropped();
  out.counts.open_messages_most = messages_.most_live();
}

// Apart from fill(), because the critical path says how much of the runtime was the recorder's.
void set_efficiencies(WaitStates& out) {
  Efficiency& e = out.efficiency;
  // Without the recorder's work another path may be the longest one: the run is never shorter than
  // on the ideal network, whose run has none of that work.
  const uint64_t least = std::min(e.runtime_ns, e.ideal_ns);
  e.runtime_ns -= std::min(e.runtime_ns, out.recorder.runtime_ns);
  e.runtime_ns = std::max(e.runtime_ns, least);
  if (e.runtime_ns == 0 || e.ideal_ns == 0 || e.useful_max_ns <= 0) return;
  const auto runtime = static_cast<double>(e.runtime_ns);
  e.load_balance = e.useful_mean_ns / e.useful_max_ns;
  e.serialisation = e.useful_max_ns / static_cast<double>(e.ideal_ns);
  e.transfer = static_cast<double>(e.ideal_ns) / runtime;
  e.communication = e.useful_max_ns / runtime;
  e.parallel = e.useful_mean_ns / runtime;
}

}  // namespace refrain::analysis::waits
