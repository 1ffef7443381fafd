#include "analysis/temporal.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "events/buffers/transfers.h"
#include "events/payload.h"
#include "refrain/calls.h"

namespace refrain::analysis {

namespace {

class TemporalFold {
 public:
  TemporalFold(const Trace& trace, size_t most_rows, size_t bins) : trace_(trace), graphs_(trace) {
    const auto most = static_cast<Rank>(std::max<size_t>(most_rows, 1));
    out_.ranks_a_row = std::max<Rank>(1, (trace.rank_count() + most - 1) / most);
    out_.rows = static_cast<size_t>((trace.rank_count() + out_.ranks_a_row - 1) / out_.ranks_a_row);
    out_.bins = std::max<size_t>(bins, 1);
  }

  TemporalMaps run() {
    find_span();
    for (Rank rank = 0; rank < trace_.rank_count(); ++rank) read(rank);
    return std::move(out_);
  }

 private:
  // Calls of a location are in the order of their ends: the first and the last one say how long it
  // is, but for a first call in which others lie.
  void find_span() {
    out_.begin_ns = UINT64_MAX;
    for_each_location([&](RankReader& reader, const Location& location) {
      Result<Cursor> calls = reader.cursor(location.thread);
      if (!calls.ok()) return;
      const auto see = [&](const Call* call) {
        if (call == nullptr || !call->has_time) return;
        out_.begin_ns = std::min(out_.begin_ns, call->begin_ns);
        out_.end_ns = std::max(out_.end_ns, call->end_ns);
      };
      see(calls->next());
      calls->seek(location.calls - 1);
      see(calls->next());
    });
    out_.begin_ns = std::min(out_.begin_ns, out_.end_ns);
    out_.end_ns = std::max(out_.end_ns, out_.begin_ns + 1);
  }

  template <class Visit>
  void for_each_location(const Visit& visit) {
    for (Rank rank = 0; rank < trace_.rank_count(); ++rank) {
      RankReader reader(trace_, rank, Times::kRead);
      for (const Location& location : trace_.locations(rank))
        if (location.calls > 0) visit(reader, location);
    }
  }

  void read(Rank rank) {
    RankReader reader(trace_, rank, Times::kRead);
    events::TransferReader transfers(reader, graphs_);
    std::vector<std::optional<uint64_t>> bytes(trace_.signature_count());
    for (const Location& location : trace_.locations(rank)) {
      Result<Cursor> calls = reader.cursor(location.thread);
      if (!calls.ok()) continue;
      while (const Call* call = calls->next()) {
        if (!call->has_time) continue;
        std::optional<uint64_t>& known = bytes[call->signature->id];
        if (!known) {
          known = 0;
          for (const events::Transfer& t : transfers.transfers(call->signature->id))
            known = events::add(*known, events::multiply(t.bytes, t.repeat));
        }
        add(static_cast<size_t>(rank / out_.ranks_a_row), *call, *known);
      }
    }
  }

  void add(size_t row, const Call& call, uint64_t bytes) {
    std::vector<TemporalCell>& all = out_.functions[trace_.call_of(call.signature->id)];
    if (all.empty()) all.resize(out_.rows * out_.bins);
    TemporalCell* const cells = &all[row * out_.bins];
    const double width =
        static_cast<double>(out_.end_ns - out_.begin_ns) / static_cast<double>(out_.bins);
    const double from = place(call.begin_ns, width);
    const double to = std::max(from, place(call.end_ns, width));
    const size_t first = std::min(static_cast<size_t>(from), out_.bins - 1);
    cells[first].calls = events::add(cells[first].calls, 1);
    cells[first].bytes = events::add(cells[first].bytes, bytes);
    const size_t last = std::min(static_cast<size_t>(to), out_.bins - 1);
    for (size_t bin = first; bin <= last; ++bin) {
      const auto at = static_cast<double>(bin);
      cells[bin].ns += width * std::max(0.0, std::min(to, at + 1) - std::max(from, at));
    }
  }

  // In bins from the begin on, in [0, bins].
  double place(uint64_t ns, double width) const {
    const uint64_t inside = std::clamp(ns, out_.begin_ns, out_.end_ns) - out_.begin_ns;
    return static_cast<double>(inside) / width;
  }

  const Trace& trace_;
  events::GraphDegrees graphs_;
  TemporalMaps out_;
};

}  // namespace

TemporalMaps temporal_maps(const Trace& trace, size_t most_rows, size_t bins) {
  if (!trace.has_times()) return {};
  return TemporalFold(trace, most_rows, bins).run();
}

}  // namespace refrain::analysis
