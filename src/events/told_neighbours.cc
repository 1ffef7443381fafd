#include "events/told_neighbours.h"

#include <algorithm>
#include <map>

#include "events/payload.h"
#include "mpi/call_ids.h"
#include "refrain/calls.h"

namespace refrain::events {
namespace {

std::vector<int> ints_of(const Value* list) {
  std::vector<int> out;
  if (list != nullptr)
    list->at_exit().for_each(
        [&](const Value& v) { out.push_back(static_cast<int>(v.integer_or(0))); });
  return out;
}

Neighbours answer_of(const Signature& call) {
  return {ints_of(call.find("sources")), ints_of(call.find("destinations"))};
}

// The last graph of a name, until the program asks for its neighbours.
struct Made {
  uint64_t seq = 0;
  SignatureId maker;
};

}  // namespace

ToldNeighbours::ToldNeighbours(const Trace& trace, Rank rank) {
  const auto group = trace.group_of(rank);
  if (!group) return;
  bool has_several = false;
  RankReader reader(trace, rank);
  for (const Trace::Occurrence& seen : trace.occurrences(*group)) {
    if (trace.call_of(seen.signature) != mpi::kMPI_Dist_graph_neighbors) continue;
    const Signature& call = reader.signature(seen.signature);
    if (call.failed()) continue;
    const auto [at, is_new] = by_graph_.try_emplace(argument(call, "comm").definition());
    note(at->second, is_new, answer_of(call));
    has_several = has_several || at->second.has_others;
  }
  if (has_several) walk(trace, rank);
}

void ToldNeighbours::note(Told& told, bool is_new, Neighbours said) {
  told.most = std::max({told.most, said.sources.size(), said.targets.size()});
  if (is_new)
    told.first = std::move(said);
  else if (told.first != said)
    told.has_others = true;
}

void ToldNeighbours::walk(const Trace& trace, Rank rank) {
  RankReader reader(trace, rank);
  for (const Location& location : trace.locations(rank)) {
    std::map<DefinitionId, Made> unasked;
    (void)reader.for_each_call(location.thread, [&](const Call& call) {
      const Signature& signature = *call.signature;
      if (signature.failed()) return true;
      if (signature.call == mpi::kMPI_Dist_graph_create) {
        const DefinitionId graph = argument(signature, "comm_dist_graph").at_exit().definition();
        unasked[graph] = {call.seq, signature.id};
      } else if (signature.call == mpi::kMPI_Dist_graph_neighbors) {
        const DefinitionId graph = argument(signature, "comm").definition();
        const auto made = unasked.find(graph);
        if (made == unasked.end()) return true;
        Neighbours said = answer_of(signature);
        const auto [at, is_new] = by_maker_.try_emplace({graph, made->second.maker});
        note(at->second, is_new, said);
        by_call_[{location.thread, made->second.seq}] = std::move(said);
        unasked.erase(made);
      }
      return true;
    });
  }
}

std::vector<DefinitionId> ToldNeighbours::graphs() const {
  std::vector<DefinitionId> out;
  for (const auto& [graph, told] : by_graph_) out.push_back(graph);
  return out;
}

const Neighbours* ToldNeighbours::of_all(DefinitionId graph) const {
  const auto at = by_graph_.find(graph);
  return at == by_graph_.end() || at->second.has_others ? nullptr : &at->second.first;
}

size_t ToldNeighbours::most(DefinitionId graph) const {
  const auto at = by_graph_.find(graph);
  return at == by_graph_.end() ? 0 : at->second.most;
}

const Neighbours* ToldNeighbours::of_call(DefinitionId graph, uint32_t thread, uint64_t seq) const {
  if (const Neighbours* const only = of_all(graph)) return only;
  const auto call = by_call_.find({thread, seq});
  return call == by_call_.end() ? nullptr : &call->second;
}

const Neighbours* ToldNeighbours::of_signature(DefinitionId graph, SignatureId maker) const {
  if (const Neighbours* const only = of_all(graph)) return only;
  const auto told = by_maker_.find({graph, maker});
  return told == by_maker_.end() || told->second.has_others ? nullptr : &told->second.first;
}

}  // namespace refrain::events
