#include "analysis/rank_loads.h"

#include <algorithm>

#include "analysis/partners.h"
#include "analysis/rank_fold.h"
#include "events/payload.h"
#include "format/trace_data.h"
#include "reader/internal.h"

namespace refrain::analysis {

RankLoadFold::RankLoadFold(const Trace& trace) : trace_(trace), graphs_(trace) {
  std::vector<CallId>& functions = out_.functions;
  for (SignatureId id = 0; id < trace.signature_count(); ++id)
    functions.push_back(trace.call_of(id));
  std::sort(functions.begin(), functions.end());
  functions.erase(std::unique(functions.begin(), functions.end()), functions.end());
  for (SignatureId id = 0; id < trace.signature_count(); ++id)
    place_of_.push_back(static_cast<uint32_t>(
        std::lower_bound(functions.begin(), functions.end(), trace.call_of(id)) -
        functions.begin()));
  out_.loads.resize(functions.size(), std::vector<Load>(static_cast<size_t>(trace.rank_count())));
}

void RankLoadFold::add(RankReader& reader, const std::vector<Trace::Occurrence>& occurrences,
                       events::Decoder& ops) {
  const auto rank = static_cast<size_t>(reader.rank());
  events::TransferReader transfers(reader, graphs_);
  double sum_ns = 0;
  std::vector<uint32_t> places;
  for (const Trace::Occurrence& seen : occurrences) {
    if (seen.calls == 0) continue;
    const uint32_t place = place_of_[seen.signature];
    places.push_back(place);
    Load& load = out_.loads[place][rank];
    const Durations durations = trace_.durations(seen.signature);
    const double mean =
        durations.count == 0 ? 0 : durations.sum_ns / static_cast<double>(durations.count);
    const double ns = mean * static_cast<double>(seen.calls);
    load.calls = events::add(load.calls, seen.calls);
    load.time_ns += ns;
    sum_ns += ns;
    for (const events::Transfer& t : transfers.transfers(seen.signature))
      load.bytes = events::add(load.bytes,
                               events::multiply(t.bytes, events::multiply(t.repeat, seen.calls)));
    for_each_partner(reader, ops, reader.signature(seen.signature),
                     [&](Rank source, Rank dest, double share, bool) {
                       out_.pair_ns[{source, dest}] += ns * share;
                     });
  }
  const auto& totals = reader::data_of(trace_).totals;
  if (rank >= totals.size() || sum_ns <= 0 || totals[rank].in_mpi_ns == 0) return;
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  const double scale = static_cast<double>(totals[rank].in_mpi_ns) / sum_ns;
  for (const uint32_t place : places) out_.loads[place][rank].time_ns *= scale;
}

RankLoads rank_loads(const Trace& trace) {
  RankLoadFold fold(trace);
  fold_over_ranks(trace, fold);
  return fold.take();
}

RankLoads RankLoadFold::take() { return std::move(out_); }

}  // namespace refrain::analysis
