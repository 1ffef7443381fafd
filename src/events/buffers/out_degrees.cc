#include "events/buffers/out_degrees.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "events/payload.h"
#include "mpi/call_ids.h"
#include "mpi/call_meaning.h"

namespace refrain::events {
namespace {

// More than any program names in one call: a damaged trace may say so in a few bytes.
constexpr uint64_t kMostEdges = uint64_t{1} << 24;

bool copies_topology(CallId call) {
  const CallId plain = mpi::plain_call(call);
  return plain == mpi::kMPI_Comm_dup || plain == mpi::kMPI_Comm_dup_with_info ||
         plain == mpi::kMPI_Comm_idup || plain == mpi::kMPI_Comm_idup_with_info;
}

// MPI_Graph_create: the edges of node i end at index[i]. A node is a rank of the new communicator.
int64_t graph_degree(const Signature& call, int64_t me) {
  const Value& index = argument(call, "index");
  if (me < 0) return -1;
  // Ranks beyond the graph have no communicator.
  if (!index.is_array() || static_cast<uint64_t>(me) >= index.size()) return -1;
  const int64_t end = index.at(static_cast<uint64_t>(me)).integer_or(-1);
  const int64_t begin = me == 0 ? 0 : index.at(static_cast<uint64_t>(me) - 1).integer_or(-1);
  return begin < 0 || end < begin ? -1 : end - begin;
}

DefinitionId made_by(const Signature& call, std::string_view parameter) {
  const Value* made = call.find(parameter);
  return made == nullptr ? kNoDefinition : made->at_exit().definition();
}

class DegreeFinder {
 public:
  DegreeFinder(RankReader& reader, GraphDegrees& graphs) : reader_(reader), graphs_(graphs) {}

  std::map<DefinitionId, int64_t> find() {
    const auto group = reader_.trace().group_of(reader_.rank());
    if (!group) return {};
    for (const Trace::Occurrence& seen : reader_.trace().occurrences(*group)) {
      const mpi::CallInfo* info = mpi::find_call(reader_.trace().call_of(seen.signature));
      if (info == nullptr) continue;
      if (info->group != mpi::CallGroup::kTopo && !copies_topology(info->id)) continue;
      const Signature& call = reader_.signature(seen.signature);
      if (!call.failed()) add(call);
    }
    add_copies();
    return std::move(out_);
  }

 private:
  void add(const Signature& call) {
    if (copies_topology(call.call)) {
      const DefinitionId made = made_by(call, "newcomm"), old = argument(call, "comm").definition();
      if (made != kNoDefinition) copies_.push_back({made, old});
      return;
    }
    switch (call.call) {
      case mpi::kMPI_Cart_create:
        return note(made_by(call, "comm_cart"), 2 * argument(call, "ndims").integer_or(0));
      case mpi::kMPI_Cart_sub:
        return note(made_by(call, "newcomm"),
                    static_cast<int64_t>(2 * sum_of_counts(argument(call, "remain_dims"))));
      case mpi::kMPI_Dist_graph_create_adjacent:
        return note(made_by(call, "comm_dist_graph"), argument(call, "outdegree").integer_or(-1));
      case mpi::kMPI_Graph_create: {
        const DefinitionId made = made_by(call, "comm_graph");
        return note(made, graph_degree(call, me_in(made)));
      }
      case mpi::kMPI_Dist_graph_create: {
        const DefinitionId made = made_by(call, "comm_dist_graph");
        if (made != kNoDefinition) note(made, graphs_.of(made, me_in(made)));
      }
    }
  }

  // A copy of a copy may come before the first one.
  void add_copies() {
    bool has_grown = true;
    while (has_grown) {
      has_grown = false;
      for (Copy& copy : copies_) {
        const auto old = out_.find(copy.old);
        if (copy.is_noted || old == out_.end()) continue;
        note(copy.made, old->second);
        copy.is_noted = has_grown = true;
      }
    }
  }

  int64_t me_in(DefinitionId comm) const {
    const auto known = reader_.trace().communicator(comm, reader_.rank());
    return known ? known->me : -1;
  }

  void note(DefinitionId made, int64_t degree) {
    if (made == kNoDefinition) return;
    const auto [known, is_new] = out_.emplace(made, degree);
    if (!is_new && known->second != degree) known->second = -1;
  }

  struct Copy {
    DefinitionId made, old;
    bool is_noted = false;
  };
  RankReader& reader_;
  GraphDegrees& graphs_;
  std::map<DefinitionId, int64_t> out_;
  std::vector<Copy> copies_;
};

}  // namespace

GraphDegrees::Edges GraphDegrees::edges_of(const Signature& call) {
  const auto numbers = [&](std::string_view name) {
    std::vector<int64_t> out;
    const Value& list = argument(call, name);
    if (list.size() <= kMostEdges)
      list.for_each([&](const Value& v) { out.push_back(v.integer_or(0)); });
    return out;
  };
  return {numbers("sources"), numbers("degrees")};
}

void GraphDegrees::read() {
  is_read_ = true;
  for (Rank rank = 0; rank < trace_.rank_count(); ++rank) read(rank);
}

void GraphDegrees::read(Rank rank) {
  const auto group = trace_.group_of(rank);
  if (!group) return;
  RankReader reader(trace_, rank);
  std::map<DefinitionId, Edges> named;
  for (const Trace::Occurrence& seen : trace_.occurrences(*group)) {
    if (mpi::plain_call(trace_.call_of(seen.signature)) != mpi::kMPI_Dist_graph_create) continue;
    const Signature& call = reader.signature(seen.signature);
    const DefinitionId id = made_by(call, "comm_dist_graph");
    if (call.failed() || id == kNoDefinition) continue;
    Graph& graph = graphs_[id];
    const auto [known, is_new] = named.try_emplace(id, edges_of(call));
    if (!is_new) {
      graph.is_unclear = graph.is_unclear || known->second != edges_of(call);
      continue;
    }
    ++graph.callers;
    const Edges& edges = known->second;
    if (edges.sources.size() != edges.degrees.size()) graph.is_unclear = true;
    for (size_t i = 0; i < std::min(edges.sources.size(), edges.degrees.size()); ++i) {
      int64_t& degree = graph.degrees[edges.sources[i]];
      if (edges.degrees[i] < 0 || __builtin_add_overflow(degree, edges.degrees[i], &degree))
        graph.is_unclear = true;
    }
  }
}

int64_t GraphDegrees::of(DefinitionId graph, int64_t member) {
  if (!is_read_) read();
  const auto known = graphs_.find(graph);
  if (known == graphs_.end() || known->second.is_unclear || member < 0) return -1;
  // A rank that is not in the trace may have named edges.
  const auto comm = trace_.communicator(graph, 0);
  if (!comm || comm->size() != known->second.callers) return -1;
  const auto degree = known->second.degrees.find(member);
  return degree == known->second.degrees.end() ? 0 : degree->second;
}

std::map<DefinitionId, int64_t> out_degrees(RankReader& reader, GraphDegrees& graphs) {
  return DegreeFinder(reader, graphs).find();
}

}  // namespace refrain::events
