#include "report/page/rank_answers.h"

#include <algorithm>

#include "format/trace_data.h"
#include "reader/internal.h"
#include "report/page/call_details.h"

namespace refrain::report {
namespace {

std::vector<SignatureId> signatures_of(const Trace& trace, GroupId group) {
  const auto& all = reader::data_of(trace).groups[group].signatures;
  return {all.begin(), all.end()};
}

// The smallest ones, as many as there is room for.
std::vector<bool> kept_grammars(const Trace& trace, size_t most_symbols) {
  const auto& grammars = reader::data_of(trace).grammars;
  std::vector<size_t> order(grammars.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return grammars[a].symbols.size() < grammars[b].symbols.size();
  });
  std::vector<bool> out(grammars.size(), false);
  uint64_t used = 0;
  for (const size_t i : order) {
    used += grammars[i].symbols.size();
    out[i] = used <= most_symbols;
  }
  return out;
}

bool has_threads(const Trace& trace, Rank rank) { return trace.locations(rank).size() > 1; }

}  // namespace

void ask_ranks(const PageQuestion& page) {
  const auto& [trace, options, comms, paths, out] = page;
  out.details = nlohmann::ordered_json::array();
  out.kept_grammars = kept_grammars(trace, options.most_symbols);
  analysis::RankLoadFold loads(trace);
  events::Decoder::Places places;
  events::OpenEnds& ends = out.open_ends.emplace(trace.rank_count());
  size_t left = options.most_details, left_cost = options.most_details;
  for (GroupId g = 0; g < trace.group_count(); ++g) {
    const std::vector<SignatureId> signatures = signatures_of(trace, g);
    const std::vector<Trace::Occurrence> occurrences = trace.occurrences(g);
    GroupDetails details(trace, signatures);
    uint64_t detailed = 0;
    bool is_full = false;
    for (uint64_t i = 0; i < trace.group_size(g); ++i) {
      RankReader reader(trace, trace.group_rank(g, i));
      events::Decoder ops(reader, comms, places);
      loads.add(reader, occurrences, ops);
      for (const SignatureId id : signatures)
        ends.add(reader.rank(), analysis::op_of(ops, reader.signature(id)), ops);
      is_full = is_full || signatures.size() > left;
      if (is_full || has_threads(trace, reader.rank())) ends.add_rank(reader.rank());
      if (is_full) continue;
      details.add(reader, ops);
      left -= signatures.size();
      ++detailed;
      if (details.cost() > left_cost) is_full = true;
    }
    left_cost -= std::min(left_cost, details.cost());
    out.details.push_back(detailed > 0 ? details.to_json() : nlohmann::ordered_json::array());
    out.detailed_ranks.push_back(detailed);
  }
  out.loads = loads.take();
}

}  // namespace refrain::report
