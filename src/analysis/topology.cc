#include "analysis/topology.h"

#include <map>
#include <utility>

#include "analysis/partners.h"
#include "analysis/rank_fold.h"
#include "events/buffers/transfers.h"
#include "events/payload.h"
#include "format/trace_data.h"
#include "reader/internal.h"

namespace refrain::analysis {
namespace {

class TopologyFold {
 public:
  explicit TopologyFold(const Trace& trace) : trace_(trace) {}

  void add(RankReader& reader, const std::vector<Trace::Occurrence>& occurrences,
           events::Decoder& ops) {
    const double scale = scale_of(static_cast<size_t>(reader.rank()), occurrences);
    events::TransferReader transfers(reader);
    for (const Trace::Occurrence& seen : occurrences) {
      if (seen.calls == 0) continue;
      Edges& edges = calls_[trace_.call_of(seen.signature)];
      bool has_sent = false;
      for (const events::Transfer& t : transfers.transfers(seen.signature)) {
        if (t.kind != events::TransferKind::kP2p || t.source < 0 || t.dest < 0) continue;
        has_sent = true;
        TopologyEdge& edge = edges[{t.source, t.dest}];
        const uint64_t messages = events::multiply(t.repeat, seen.calls);
        edge.hits = events::add(edge.hits, messages);
        edge.bytes = events::add(edge.bytes, events::multiply(t.bytes, messages));
      }
      const double ns = time_of(seen) * scale;
      for_each_partner(reader, ops, reader.signature(seen.signature),
                       [&](Rank source, Rank dest, double share, bool is_send) {
                         TopologyEdge& edge = edges[{source, dest}];
                         edge.time_ns += ns * share;
                         if (!is_send || !has_sent) edge.hits = events::add(edge.hits, seen.calls);
                       });
    }
  }

  std::vector<TopologyOfCall> take() const {
    std::vector<TopologyOfCall> out;
    for (const auto& [call, edges] : calls_) {
      if (edges.empty()) continue;
      TopologyOfCall of{call, {}};
      for (const auto& [ends, edge] : edges) {
        of.edges.push_back(edge);
        of.edges.back().source = ends.first;
        of.edges.back().dest = ends.second;
      }
      out.push_back(std::move(of));
    }
    return out;
  }

 private:
  using Edges = std::map<std::pair<Rank, Rank>, TopologyEdge>;

  double time_of(const Trace::Occurrence& seen) const {
    const Durations durations = trace_.durations(seen.signature);
    return durations.count == 0 ? 0
                                : durations.sum_ns / static_cast<double>(durations.count) *
                                      static_cast<double>(seen.calls);
  }

  double scale_of(size_t rank, const std::vector<Trace::Occurrence>& occurrences) const {
    const auto& totals = reader::data_of(trace_).totals;
    double sum_ns = 0;
    for (const Trace::Occurrence& seen : occurrences) sum_ns += time_of(seen);
    if (rank >= totals.size() || sum_ns <= 0 || totals[rank].in_mpi_ns == 0) return 1;
    return static_cast<double>(totals[rank].in_mpi_ns) / sum_ns;
  }

  const Trace& trace_;
  std::map<CallId, Edges> calls_;
};

}  // namespace

std::vector<TopologyOfCall> topology(const Trace& trace) {
  TopologyFold fold(trace);
  fold_over_ranks(trace, fold);
  return fold.take();
}

}  // namespace refrain::analysis
