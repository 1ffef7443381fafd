// Iterations of the main loop that are left out, and what computation in it is until then.
#include <algorithm>
#include <cmath>

#include "events/by_rank/call_order.h"
#include "mpi/call_meaning.h"
#include "reader/internal.h"
#include "sim/lower/trace_state.h"

namespace refrain::sim {
namespace {

constexpr uint64_t kMostUnitsInAll = uint64_t{1} << 25;

}  // namespace

// Empty: iterations may be left out. Else why not.
std::string TraceActions::follow_loops() {
  uint64_t calls = 0;
  for (const auto& rank : ranks_) {
    const std::vector<Location> locations = trace_.locations(rank->rank);
    const auto group = trace_.group_of(rank->rank);
    if (locations.size() != 1 || !group) return "ranks have several threads";
    const auto& data = reader::data_of(trace_);
    rank->loop = main_loop(data.grammars[locations[0].grammar]);
    if (rank->loop.calls == 0)
      return "rank " + std::to_string(rank->rank) + " has no loop that repeats exactly";
    calls += rank->loop.calls;
    for (const Trace::Occurrence& seen : trace_.occurrences(*group)) {
      const mpi::CallMeaning& meaning = mpi::meaning_of(trace_.call_of(seen.signature));
      if (!meaning.does_any(mpi::kDoesReceive | mpi::kDoesStart)) continue;
      const events::Op& op =
          rank->events->decoder().op(rank->events->reader().signature(seen.signature));
      if (op.receives() && op.makes_request && op.receive.peer != events::kNobody &&
          !op.receive.is_known())
        return "receives from any source are open across calls";
    }
  }
  const bool has_units = has_times_ || times_ != nullptr;
  if (has_units && calls > kMostUnitsInAll) return "iterations have too many calls";
  follows_ = true;
  return "";
}

// By how much computation that is the same in each iteration differs from what it was, in ns: the
// sum over iterations of the most that a rank's units differ, and the most that a rank computes in
// all. Nothing: times are missing.
std::optional<TraceActions::LoopDifference> TraceActions::equal_units() {
  LoopDifference out;
  std::vector<double> most;
  for (const auto& rank : ranks_) {
    const MainLoop& loop = rank->loop;
    const Location location = trace_.locations(rank->rank)[0];
    const double factor =
        factors_ == nullptr || factors_->empty() ? 1 : (*factors_)[static_cast<size_t>(rank->rank)];
    const auto count = static_cast<double>(loop.count), calls = static_cast<double>(loop.calls);
    if (!has_times_ && times_ == nullptr) {
      // Means of signatures. Those of ranks are rounded here, and elsewhere cut to whole ns.
      const double gap = has_gaps_ ? 0 : events::pace_of(trace_, rank->rank).gap_ns;
      rank->loop_gap_ns = static_cast<uint64_t>(std::llround(gap));
      rank->loop_factor = events::pace_of(trace_, rank->rank).factor;
      out.computed_ns = std::max(out.computed_ns, count * calls * gap);
      if (gap > 0) out.by_rank_ns = std::max(out.by_rank_ns, 2 * count * calls);
      continue;
    }
    rank->units = mean_units(trace_, location, loop, times_, factor, [&](const Signature& call) {
      // An op keeps its signature: that of the rank's own reader, which stays.
      const events::Op& op = rank->events->decoder().op(rank->events->reader().signature(call.id));
      return op.action == events::Action::kNothing && !op.is_poll;
    });
    if (!rank->units.is_known) return std::nullopt;
    double computed = 0;
    for (const uint32_t gap : rank->units.gap_ns) computed += gap;
    out.computed_ns = std::max(out.computed_ns, count * computed);
    most.resize(std::max(most.size(), rank->units.differs_ns.size()));
    for (size_t i = 0; i < rank->units.differs_ns.size(); ++i)
      most[i] = std::max(most[i], rank->units.differs_ns[i]);
    rank->units.differs_ns = {};
  }
  for (const double one : most) out.by_rank_ns += one;
  return out;
}

void TraceActions::forget_loops() {
  follows_ = false;
  for (const auto& rank : ranks_) rank->units = {};
}

// Of a call in the loop of a rank: what is computed before it, and in it, the same each time.
uint64_t TraceActions::loop_gap(const RankState& rank, const events::Event& event,
                                uint64_t ns) const {
  if (!rank.loop.has(event.seq)) return ns;
  if (rank.units.is_known) return rank.units.gap_ns[rank.loop.place(event.seq)];
  if (has_gaps_) return ns;
  const double factor =
      factors_ == nullptr || factors_->empty() ? 1 : (*factors_)[static_cast<size_t>(rank.rank)];
  return static_cast<uint64_t>(rounded(static_cast<double>(rank.loop_gap_ns) * factor));
}

uint64_t TraceActions::loop_own(const RankState& rank, const events::Event& event,
                                uint64_t ns) const {
  if (!rank.loop.has(event.seq)) return ns;
  if (rank.units.is_known) return rank.units.own_ns[rank.loop.place(event.seq)];
  const Durations all = trace_.durations(event.call->id);
  const double mean = all.count == 0 ? 0 : all.sum_ns / static_cast<double>(all.count);
  return static_cast<uint64_t>(rounded(mean * rank.loop_factor));
}

// Iterations that all ranks could leave out; one stays, so that what follows the loop follows it.
uint64_t TraceActions::iterations_left() const {
  uint64_t out = UINT64_MAX;
  for (const auto& rank : ranks_) {
    const MainLoop& loop = rank->loop;
    const uint64_t next = rank->events->next_seq();
    if (next == UINT64_MAX || next < loop.first) return 0;
    const uint64_t at = (next - loop.first + loop.calls - 1) / loop.calls;
    out = std::min(out, at + 1 < loop.count ? loop.count - at - 1 : 0);
  }
  return out;
}

uint64_t TraceActions::loop_calls(uint32_t rank) const { return ranks_[rank]->loop.calls; }

void TraceActions::skip(uint64_t iterations) {
  for (const auto& rank : ranks_) {
    rank->skip_calls = iterations * rank->loop.calls;
    skipped_calls_ += rank->skip_calls;
  }
  skipping_ = ranks_.size();
}

// Before the next call of the rank is read.
void TraceActions::skip_here(RankState& rank) {
  if (!rank.loop.begins(rank.events->next_seq())) return;
  if (!rank.events->skip(rank.skip_calls)) return;
  rank.skip_calls = 0;
  --skipping_;
}

}  // namespace refrain::sim
